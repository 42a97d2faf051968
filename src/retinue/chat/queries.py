from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import sqlalchemy as sa
from msgspec import UNSET

from retinue.agents.models import Agent
from retinue.chat.conversation_filters import CONDITIONS, EQUAL, IN_CHANNELS, OWN_CONDITIONS, parse_channels
from retinue.chat.log_schemas import LogList
from retinue.chat.message_tree import load_tree
from retinue.chat.models import (
    ChatChannel,
    ChatJob,
    ChatLog,
    Conversation,
    Message,
    PausedTurn,
    Speaker,
)
from retinue.chat.schemas import ConversationList, ConversationListed, ConversationsExportQuery
from retinue.chat.share_models import ConversationReader
from retinue.kit.clock import hour_of
from retinue.kit.context import Context
from retinue.kit.context.conversation_access import QuotedMessage
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import Listing, Page, Slice
from retinue.kit.principal import Principal
from retinue.kit.schema.validation import read_instant
from retinue.kit.timelines import Timeline
from retinue.users.models import User

_conversations, _messages, _agents = Conversation.__table__, Message.__table__, Agent.__table__
_readers, _users = ConversationReader.__table__, User.__table__
_paused = PausedTurn.__table__


def _list_conversations(conditions: Mapping[str, Any], *, heavy: bool = False) -> Listing[Conversation]:
    return Listing(
        Conversation,
        searches=("title",),
        sorts=("created_at", "last_message_at", "title", "message_count"),
        filters=EQUAL,
        from_={"from_": "last_message_at"},
        until={"to": "last_message_at"},
        matches=conditions,
        default_sort="-last_message_at",
        sort_prefixes={"last_message_at": "last_message_hour"},
        heavy=heavy,
    )


CONVERSATIONS = _list_conversations(OWN_CONDITIONS | IN_CHANNELS)
_CHOSEN_BY_REPLIES = _list_conversations(OWN_CONDITIONS | IN_CHANNELS | CONDITIONS, heavy=True)
MESSAGES = Listing(Message, sorts=("position",), default_sort="position")
LOGS = Listing(
    ChatLog,
    searches=("user_message", "assistant_message"),
    sorts=("created_at", "response_time_ms"),
    filters=("conversation_id", "channel", "status"),
    from_={"from_": "created_at"},
    until={"to": "created_at"},
    heavy=True,
)
_logs = ChatLog.__table__
_LOG_FILTERS = ("conversation_id", "channel", "status")
_BY_TIME = Timeline(
    ChatLog,
    "created_at",
    ("id",),
    {
        name: _logs.c[name] == sa.bindparam(name, type_=_logs.c[name].type)
        for name in ("agent_id", "user_id", *_LOG_FILTERS)
    },
)
JOBS = Listing(ChatJob, filters=("status",))

ALL_MESSAGES = record_statement(
    Message,
    sa.select(_messages)
    .where(_messages.c.conversation_id == sa.bindparam("conversation_id"))
    .order_by(_messages.c.position),
    heavy=True,
)
CONVERSATION_IN_USE = _conversations.c.channel != ChatChannel.playground.value
"""Leaves out conversations that only try an agent out: they say nothing about how it is used."""
TURN_IN_USE = ChatLog.__table__.c.channel != ChatChannel.playground.value
_ACTIVE = Statement(
    sa.select(sa.func.count())
    .select_from(_conversations)
    .where(
        _conversations.c.agent_id == sa.bindparam("agent_id"),
        _conversations.c.last_message_hour >= sa.bindparam("hour"),
        _conversations.c.last_message_at > sa.bindparam("since"),
        CONVERSATION_IN_USE,
    )
)


_OWN_CONVERSATION_IDS = Statement(
    sa.select(_conversations.c.id).where(
        in_list(_conversations.c.id, "ids"), _conversations.c.user_id == sa.bindparam("of_user")
    )
)


_LAST_MESSAGES = Statement(
    sa.select(
        _messages.c.role,
        _messages.c.content,
        _messages.c.created_at,
        _messages.c.position,
        _messages.c.parent_position,
    )
    .where(
        _messages.c.conversation_id == sa.bindparam("conversation_id"),
        _messages.c.created_at <= sa.bindparam("until"),
        # A reply that waits for an approval goes on afterwards, and then says more than before.
        sa.or_(
            _messages.c.role == sa.literal(Speaker.user.value),
            _messages.c.updated_at <= sa.bindparam("until"),
        ),
    )
    .order_by(_messages.c.position.desc())
    .limit(sa.bindparam("row_limit", type_=sa.BigInteger()))
)


_AGENT_NAMES = Statement(sa.select(_agents.c.id, _agents.c.name).where(in_list(_agents.c.id, "ids")))
_WAITING_IDS = Statement(
    sa.select(_paused.c.conversation_id).where(
        in_list(_paused.c.conversation_id, "ids"), _paused.c.is_decided == sa.false()
    )
)


def require_agent_of_version(query: ConversationList | ConversationsExportQuery) -> None:
    """Raise `Invalid` for a version without its agent: each agent numbers its own."""
    if query.version is not None and query.agent_id is None:
        raise Invalid({"agent_id": "is required with version"})


async def page_of_conversations(ctx: Context, query: ConversationList) -> Page[ConversationListed]:
    """Return one page of the conversations that the caller may see, with names of agents if asked for."""
    require_agent_of_version(query)
    if query.channels is not None:
        query = msgspec.structs.replace(query, channels=parse_channels(query.channels))
    is_by_replies = any(getattr(query, name) is not None for name in CONDITIONS)
    if query.shared_with is not None:
        if is_by_replies:
            raise Invalid(
                {"shared_with": "cannot be combined with rating, failed, needs_look, version or min_cost_usd"}
            )
        named = msgspec.structs.replace(query, shared_with=ctx.principal.id)
        page = await CONVERSATIONS.page(ctx.db, named)
    else:
        listing = _CHOSEN_BY_REPLIES if is_by_replies else CONVERSATIONS
        page = await listing.page(ctx.db, query, **own_rows_filter(ctx))
    names = await _find_agent_names(ctx, page, query)
    waiting = await _find_waiting_ids(ctx, page, query)
    return page.to_page(
        lambda one: ConversationListed.of(
            one,
            agent_name=names.get(one.agent_id, UNSET),
            is_waiting=UNSET if waiting is None else one.id in waiting,
        ),
    )


async def _find_agent_names(
    ctx: Context, page: Slice[Conversation], query: ConversationList
) -> dict[str, str]:
    if query.include != "agent_name" or not page.items or not ctx.principal.may("agents:read"):
        return {}
    ids = sorted({conversation.agent_id for conversation in page.items})
    return {row[0]: row[1] for row in await ctx.db.rows(_AGENT_NAMES, ids=list_parameter(ids))}


async def _find_waiting_ids(
    ctx: Context, page: Slice[Conversation], query: ConversationList
) -> set[str] | None:
    """Return the ids of the page's conversations whose reply waits for an approval, if they are asked for."""
    if query.include != "waiting":
        return None
    ids = [conversation.id for conversation in page.items]
    return {row[0] for row in await ctx.db.rows(_WAITING_IDS, ids=list_parameter(ids))} if ids else set()


async def page_of_logs(ctx: Context, agent_id: str, query: LogList) -> Slice[ChatLog]:
    """Return one page of the log: by milestones in order of time, by a scan if searched (ADR 23)."""
    if query.search or query.sort not in {None, "-created_at"}:
        return await LOGS.page(ctx.db, query, agent_id=agent_id, **own_rows_filter(ctx))
    filters = {name: getattr(query, name) for name in _LOG_FILTERS if getattr(query, name) is not None}
    bounds = {
        name: None if written is None else read_instant(shown, written.replace(" ", "+"))
        for name, shown, written in (("since", "from", query.from_), ("until", "to", query.to))
    }
    return await _BY_TIME.listed(
        ctx, query, {"agent_id": agent_id, **own_rows_filter(ctx), **filters}, **bounds
    )


def can_read_all_conversations(principal: Principal) -> bool:
    """Return whether the principal may read everyone's conversations, not only their own."""
    return principal.may("conversations:read") and principal.may("agents:write")


def sees_all_conversations(ctx: Context) -> bool:
    return can_read_all_conversations(ctx.principal)


async def find_own_conversation_ids(ctx: Context, ids: Sequence[str]) -> set[str]:
    """Return the ids that belong to the caller's own conversations."""
    if not ctx.principal.may("conversations:read"):
        return set()
    return {
        row[0]
        for row in await ctx.db.rows(_OWN_CONVERSATION_IDS, ids=list_parameter(ids), of_user=ctx.principal.id)
    }


def own_rows_filter(ctx: Context) -> JsonObject:
    """Return the filter that limits a list to the rows the caller may see."""
    return {} if sees_all_conversations(ctx) else {"user_id": ctx.principal.id}


async def load_last_messages(
    ctx: Context, conversation_id: str, until: str, count: int
) -> list[QuotedMessage]:
    """Return the last messages up to an instant, oldest first."""
    rows = await ctx.db.rows(_LAST_MESSAGES, conversation_id=conversation_id, until=until, row_limit=count)
    if any(row[4] is not None for row in rows):
        tree = await load_tree(ctx, conversation_id)
        path = {node.position for node in tree.path(rows[0][3])}
        rows = [row for row in rows if row[3] in path]
    return [QuotedMessage(*row[:3]) for row in reversed(rows)]


async def find_visible_conversation(ctx: Context, conversation_id: str) -> Conversation | None:
    conversation = await ctx.db.get(Conversation, conversation_id)
    return (
        conversation
        if conversation is not None
        and (sees_all_conversations(ctx) or conversation.user_id == ctx.principal.id)
        else None
    )


async def find_visible_job(ctx: Context, job_id: str) -> ChatJob | None:
    job = await ctx.db.get(ChatJob, job_id)
    return (
        job if job is not None and (sees_all_conversations(ctx) or job.user_id == ctx.principal.id) else None
    )


async def count_active(ctx: Context, agent_id: str, since: str) -> int:
    return int(await ctx.db.scalar(_ACTIVE, agent_id=agent_id, since=since, hour=hour_of(since)))
