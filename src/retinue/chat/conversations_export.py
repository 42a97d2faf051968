"""Export of many conversations as JSON Lines, streamed."""

import functools
from collections.abc import AsyncIterator, Mapping
from itertools import groupby
from operator import attrgetter
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.chat.conversation_filters import CONDITIONS, EQUAL, OWN_CONDITIONS
from retinue.chat.events import ConversationsExported
from retinue.chat.message_list import show_path
from retinue.chat.message_tree import tree_of
from retinue.chat.models import Conversation, Message
from retinue.chat.queries import own_rows_filter, require_agent_of_version
from retinue.chat.schemas import ConversationOut, ConversationsExportQuery, MessageOut
from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.db.text_match import contains_text, contains_text_parameters
from retinue.kit.http.replies import ByteStream
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import query_instant
from retinue.kit.schema.base import Schema

_BATCH = 50

_conversations, _messages = Conversation.__table__, Message.__table__
_OTHERS: Mapping[str, Any] = {
    "archived": OWN_CONDITIONS["archived"],
    **CONDITIONS,
    "from_": _conversations.c.last_message_at >= sa.bindparam("from_", type_=sa.Text()),
    "to": _conversations.c.last_message_at <= sa.bindparam("to", type_=sa.Text()),
    "search": contains_text(_conversations.c.title, "search"),
}
_MESSAGES = record_statement(
    Message,
    sa.select(_messages)
    .where(in_list(_messages.c.conversation_id, "ids"))
    .order_by(_messages.c.conversation_id, _messages.c.position),
    heavy=True,
)


class ExportedConversation(Schema, kw_only=True):
    """A line of the export."""

    conversation: ConversationOut
    messages: list[MessageOut]


async def export_conversations(ctx: Context, query: ConversationsExportQuery) -> ByteStream:
    """Return the chosen conversations that the caller may see, oldest first; that it happened is audited."""
    require_agent_of_version(query)
    given = {name: getattr(query, name) for name in (*EQUAL, *_OTHERS)}
    chosen = {name: value for name, value in given.items() if value is not None}
    for bound in ("from_", "to"):
        if bound in chosen:
            chosen[bound] = query_instant(bound, chosen[bound])
    filters = {name: value for name, value in msgspec.to_builtins(query).items() if value is not None}
    ctx.emit(ConversationsExported(filters=filters))
    lines = _lines(ctx.detached(), chosen | own_rows_filter(ctx))
    filename = f"conversations-{ctx.now[:10]}.jsonl"
    return ByteStream(lambda: lines, "application/x-ndjson; charset=utf-8", filename)


async def _lines(ctx: Context, chosen: JsonObject) -> AsyncIterator[bytes]:
    statement = _batch(tuple(sorted(chosen)))
    parameters = {name: value for name, value in chosen.items() if name != "search"}
    if "search" in chosen:
        parameters |= contains_text_parameters("search", chosen["search"])
    after = ""
    while batch := await ctx.db.rows(statement, after=after, row_limit=_BATCH, **parameters):
        after = batch[-1].id
        rows = await ctx.db.rows(_MESSAGES, ids=list_parameter(one.id for one in batch))
        messages = {id: [*group] for id, group in groupby(rows, attrgetter("conversation_id"))}
        yield b"".join(_line(one, messages.get(one.id, [])) for one in batch)


def _line(conversation: Conversation, messages: list[Message]) -> bytes:
    shown = ExportedConversation(
        conversation=ConversationOut.of(conversation),
        messages=show_path(tree_of(messages), messages),
    )
    return msgspec.json.encode(shown) + b"\n"


@functools.cache
def _batch(names: tuple[str, ...]) -> Statement[Conversation]:
    columns = _conversations.c
    equal = {name: columns[name] == sa.bindparam(name, type_=columns[name].type) for name in EQUAL}
    conditions = [equal[name] if name in equal else _OTHERS[name] for name in names]
    return record_statement(
        Conversation,
        sa.select(_conversations)
        .where(_conversations.c.id > sa.bindparam("after", type_=sa.Text()), *conditions)
        .order_by(_conversations.c.id)
        .limit(sa.bindparam("row_limit", type_=sa.BigInteger())),
        heavy=True,
    )
