"""The place of a turn among versions: an edit, a reply that is written again, or an older branch."""

from collections.abc import Sequence
from typing import Protocol

import msgspec
import sqlalchemy as sa

from retinue.chat.engine.task import EVERY_FUNCTION
from retinue.chat.errors import ConversationNotFound, MessageNotFound
from retinue.chat.message_tree import MessageNode, MessageTree, load_messages, load_tree
from retinue.chat.models import ChatLog, Message
from retinue.chat.turn.request import Placement, TurnRequest
from retinue.chat.turn.turn_conversation import find_own_conversation
from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid

_logs = ChatLog.__table__
_CALL_COUNTS = Statement(
    sa.select(_logs.c.message_id, _logs.c.tool_call_count).where(
        _logs.c.conversation_id == sa.bindparam("conversation_id"), in_list(_logs.c.message_id, "ids")
    )
)


class VersionFields(Protocol):
    """The fields of a request that say where its message stands."""

    conversation_id: str | None
    edit_of: str | None
    regenerate_of: str | None
    parent_id: str | None


class RequestedPlace(msgspec.Struct, frozen=True):
    """A message that this turn is another version of, or that it follows; `field` says which."""

    field: str
    message_id: str

    @classmethod
    def of(cls, body: VersionFields) -> "RequestedPlace | None":
        """Return the place that the body names, if any."""
        named = {"edit_of": body.edit_of, "regenerate_of": body.regenerate_of, "parent_id": body.parent_id}
        given = [(field, id) for field, id in named.items() if id is not None]
        if not given:
            return None
        if len(given) > 1:
            raise Invalid({given[1][0]: f"cannot be combined with {given[0][0]}"})
        if body.conversation_id is None:
            raise Invalid({given[0][0]: "needs a conversation_id"})
        return cls(*given[0])


async def place_turn(ctx: Context, request: TurnRequest, wanted: RequestedPlace) -> TurnRequest:
    """Return the turn with its place; one that is written again gets the text and files of its question."""
    conversation = await find_own_conversation(ctx, request.agent, request.conversation_id or "")
    if conversation is None:
        raise ConversationNotFound
    tree = await load_tree(ctx, conversation.id)
    node = tree.find(wanted.message_id)
    if node is None:
        raise MessageNotFound
    if wanted.field == "parent_id":
        if node.is_question:
            raise Invalid({"parent_id": "must be a reply"})
        return msgspec.structs.replace(request, placement=Placement(node.position))
    if wanted.field == "edit_of":
        return await _edit(ctx, request, tree, node)
    return await _repeat(ctx, request, tree, node)


async def _edit(ctx: Context, request: TurnRequest, tree: MessageTree, node: MessageNode) -> TurnRequest:
    if not node.is_question:
        raise Invalid({"edit_of": "must be a message of the user"})
    return msgspec.structs.replace(
        request, placement=Placement(node.parent), asks_before=await _executed(ctx, tree, node)
    )


async def _repeat(ctx: Context, request: TurnRequest, tree: MessageTree, node: MessageNode) -> TurnRequest:
    """Ask again; a question that was never answered may be named in place of its reply."""
    asked = node if node.is_question else tree.at(node.parent)
    question = await ctx.db.get(Message, asked.id) if asked is not None and asked.is_question else None
    if asked is None or question is None:
        raise Invalid({"regenerate_of": "must be a reply to a message"})
    if request.attachments:
        raise Invalid({"attachments": "cannot be combined with regenerate_of"})
    return msgspec.structs.replace(
        request,
        message=question.content,
        attachments=tuple(question.attachments or ()),
        placement=Placement(asked.parent, asked.original),
        asks_before=await _executed(ctx, tree, asked),
    )


async def _executed(ctx: Context, tree: MessageTree, question: MessageNode) -> tuple[str, ...]:
    """Return the functions that a turn of an earlier version of this question has run, or may have run."""
    replies = await load_messages(ctx, tree.replies_of_turn(question))
    executed = {
        call.tool
        for reply in replies
        if reply.details is not None
        for call in reply.details.tool_calls
        if call.execution_id is not None
    }
    if await _may_have_run_more(ctx, tree.unanswered_versions(question)):
        executed.add(EVERY_FUNCTION)
    return tuple(sorted(executed))


async def _may_have_run_more(ctx: Context, unanswered: Sequence[MessageNode]) -> bool:
    """Return whether one of these turns, which left no reply, has called a tool or may still do so.

    The log counts the calls of a turn that failed. One that was cut off by a crash, or that is still
    running, is in no log.
    """
    if not unanswered:
        return False
    questions = await load_messages(ctx, unanswered)
    expected = {question.reply_id for question in questions if question.reply_id is not None}
    conversation_id = questions[0].conversation_id if questions else ""
    rows = await ctx.db.rows(_CALL_COUNTS, conversation_id=conversation_id, ids=list_parameter(expected))
    calls = {row[0]: row[1] for row in rows}
    return any(calls.get(reply_id, 1) for reply_id in expected)
