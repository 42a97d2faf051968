"""The stored messages of a conversation as model messages."""

from collections.abc import Iterator

import msgspec
import sqlalchemy as sa

from retinue.adapters.llm import ContentPart, ModelMessage, ToolCall
from retinue.chat.engine import prompts
from retinue.chat.engine.attached import Attachment, left_out, user_message
from retinue.chat.engine.fence import PromptFence
from retinue.chat.engine.history_entries import NOT_COMPACTED, Compacted, HistoryEntry, render
from retinue.chat.engine.parts import CalledTool, CallStatus
from retinue.chat.engine.tool_search import wrap_call
from retinue.chat.message_tree import MessageNode, load_messages, load_tree
from retinue.chat.models import Conversation, ConversationSummary, Message
from retinue.chat.turn.repeated_attachments import load_repeated
from retinue.chat.turn.request import Placement
from retinue.chat.turn.tool_images import choose_shown, without_images
from retinue.kit.context import Context
from retinue.kit.db.statements import record_statement

MAX_LOADED_MESSAGES = 1_000
"""Messages that a prompt repeats one by one; beyond that they are summarized, however short they are."""
_MAX_COPIED_MESSAGES = 1_000
# Nothing of the newest two turns is ever left out, so a conversation this short was never compacted.
_MAX_SHORT_POSITION = 4
_AWAITING_APPROVAL_NOTE = "(This waits for someone's approval and goes on by itself once it is decided.)"
_INTERRUPTED_NOTE = "(This call was interrupted.)"

_messages = Message.__table__
_NEWEST = record_statement(
    Message,
    sa.select(_messages)
    .where(
        _messages.c.conversation_id == sa.bindparam("conversation_id"),
        _messages.c.position > sa.bindparam("after"),
    )
    .order_by(_messages.c.position.desc())
    .limit(MAX_LOADED_MESSAGES + 1),
)
_NEWEST_BEFORE = record_statement(
    Message,
    sa.select(_messages)
    .where(
        _messages.c.conversation_id == sa.bindparam("conversation_id"),
        _messages.c.position > sa.bindparam("after"),
        _messages.c.position < sa.bindparam("position"),
    )
    .order_by(_messages.c.position.desc())
    .limit(MAX_LOADED_MESSAGES + 1),
)
_OLDEST_BETWEEN = record_statement(
    Message,
    sa.select(_messages)
    .where(
        _messages.c.conversation_id == sa.bindparam("conversation_id"),
        _messages.c.position > sa.bindparam("after"),
        _messages.c.position <= sa.bindparam("up_to"),
    )
    .order_by(_messages.c.position)
    .limit(sa.bindparam("row_limit", type_=sa.BigInteger())),
    heavy=True,
)


class ConversationHistory(msgspec.Struct, frozen=True):
    """The turns before this one.

    `messages` are the `entries` as they were; `compacted` says what is left out of them in a prompt. With
    `has_older`, there are more messages than are loaded. `documents` are those that the model may read
    further in. The entries of a caller who keeps the conversation are `is_resent`. `path` is set in a
    conversation with versions: all messages of its branch, also those that are not loaded.
    """

    entries: tuple[HistoryEntry, ...] = ()
    messages: tuple[ModelMessage, ...] = ()
    documents: tuple[Attachment, ...] = ()
    compacted: Compacted = NOT_COMPACTED
    has_older: bool = False
    is_resent: bool = False
    path: tuple[MessageNode, ...] | None = None


NO_HISTORY = ConversationHistory()


async def load_history(
    ctx: Context, conversation: Conversation, placement: Placement | None = None
) -> ConversationHistory:
    """Return the messages of a conversation that no summary stands for, as the model has seen them."""
    if placement is not None or conversation.is_branched:
        end = conversation.message_count if placement is None else placement.parent_position
        return await _load_path(ctx, conversation.id, end)
    compacted = await load_compacted(ctx, conversation)
    rows = await ctx.db.rows(_NEWEST, conversation_id=conversation.id, after=compacted.up_to)
    return await _to_history(ctx, rows, conversation.id, compacted)


async def _load_path(ctx: Context, conversation_id: str, end: int) -> ConversationHistory:
    """Return the messages of the branch that ends at a position."""
    path = (await load_tree(ctx, conversation_id)).path(end)
    compacted = await _find_compacted(ctx, conversation_id, path)
    kept = [node for node in path if node.position > compacted.up_to][-MAX_LOADED_MESSAGES - 1 :]
    rows = (await load_messages(ctx, kept))[::-1]
    history = await _to_history(ctx, rows, conversation_id, compacted)
    return msgspec.structs.replace(history, path=path)


async def _find_compacted(ctx: Context, conversation_id: str, path: tuple[MessageNode, ...]) -> Compacted:
    """Return what is left out of a branch: a summary counts for each that has its last message."""
    positions = {node.position for node in path}
    rows = await ctx.db.all(ConversationSummary, conversation_id=conversation_id)
    found = [row.compacted() for row in rows if row.lease_expires_at is None]
    return max(
        (one for one in found if one.reach in positions), key=lambda one: one.reach, default=NOT_COMPACTED
    )


async def load_newest_messages(ctx: Context, conversation: Conversation) -> list[Message]:
    """Return the messages of a conversation, oldest first; of a very long one the newest."""
    if conversation.is_branched:
        path = (await load_tree(ctx, conversation.id)).path(conversation.message_count)
        return await load_messages(ctx, path[-_MAX_COPIED_MESSAGES:])
    rows = await ctx.db.rows(_NEWEST, conversation_id=conversation.id, after=0)
    return rows[:_MAX_COPIED_MESSAGES][::-1]


async def load_history_before(ctx: Context, question: Message) -> ConversationHistory:
    """Return the messages before a question that is still to be answered."""
    compacted = NOT_COMPACTED
    if question.position > _MAX_SHORT_POSITION:
        conversation = await ctx.db.get(Conversation, question.conversation_id)
        if conversation is not None and conversation.is_branched:
            return await _load_path(ctx, conversation.id, _parent_of(question))
        compacted = NOT_COMPACTED if conversation is None else await load_compacted(ctx, conversation)
    rows = await ctx.db.rows(
        _NEWEST_BEFORE,
        conversation_id=question.conversation_id,
        after=compacted.up_to,
        position=question.position,
    )
    if any(row.parent_position is not None for row in (question, *rows)):
        return await _load_path(ctx, question.conversation_id, _parent_of(question))
    return await _to_history(ctx, rows, question.conversation_id, compacted)


def _parent_of(message: Message) -> int:
    return message.position - 1 if message.parent_position is None else message.parent_position


async def load_compacted(ctx: Context, conversation: Conversation) -> Compacted:
    """Return what is left out of a conversation; one that never was too long costs no query."""
    if conversation.summary_id is None:
        return NOT_COMPACTED
    row = await ctx.db.get(ConversationSummary, conversation.summary_id)
    return NOT_COMPACTED if row is None else row.compacted()


async def load_entries(
    ctx: Context, conversation_id: str, fence: PromptFence, after: int, up_to: int, limit: int
) -> list[HistoryEntry]:
    """Return the first messages after a position as they were, with lines in place of attachments."""
    rows = await ctx.db.rows(
        _OLDEST_BETWEEN, conversation_id=conversation_id, after=after, up_to=up_to, row_limit=limit
    )
    return [plain_entry(row, fence) for row in rows]


def plain_entry(message: Message, fence: PromptFence) -> HistoryEntry:
    """Return a message with lines in place of its attachments."""
    return _to_entry(message, fence, tuple(map(left_out, message.attachments or ())))


async def _to_history(
    ctx: Context, newest_first: list[Message], seed: str, compacted: Compacted
) -> ConversationHistory:
    fence = PromptFence.of_seed(ctx, seed)
    oldest_first = newest_first[:MAX_LOADED_MESSAGES][::-1]
    attached = await load_repeated(ctx, oldest_first, fence, compacted.attachments_up_to)
    shown = choose_shown(oldest_first)
    entries = tuple(
        _to_entry(message, fence, attached.parts.get(message.id, ()), shows_images=message.id in shown)
        for message in oldest_first
    )
    return ConversationHistory(
        entries,
        tuple(render(entries, NOT_COMPACTED, fence)),
        (*compacted.documents, *attached.documents),
        compacted,
        has_older=len(newest_first) > MAX_LOADED_MESSAGES,
    )


def _to_entry(
    message: Message, fence: PromptFence, attached: tuple[ContentPart, ...], *, shows_images: bool = False
) -> HistoryEntry:
    attachments = tuple(message.attachments or ())
    return HistoryEntry(
        id=message.id,
        position=message.position,
        messages=tuple(replay(message, fence, attached, shows_images=shows_images)),
        attachments=attachments,
        attachment_lines=tuple(map(left_out, attachments)),
        context_tokens=0 if message.details is None else message.details.context_tokens,
    )


def replay(
    message: Message,
    fence: PromptFence,
    attached: tuple[ContentPart, ...] = (),
    *,
    shows_images: bool = False,
) -> Iterator[ModelMessage]:
    """Yield the message, with the calls and their results where the model asked for them."""
    start = 0
    for calls in message.rounds or ():
        text = _paragraph(message.content, start, calls.text_length)
        made = [_find_call(message, id) for id in calls.call_ids]
        yield ModelMessage(role="assistant", content=text, tool_calls=tuple(map(_as_tool_call, made)))
        for call in made:
            is_error = call.status is not CallStatus.completed
            images = call.images if shows_images else without_images(call.images)
            yield prompts.tool_message(call.id, _result_of(call), fence, images, is_error=is_error)
        start = calls.text_length
    text = _paragraph(message.content, start, len(message.content))
    if attached:
        yield user_message(text, attached)
    elif text:
        yield ModelMessage(role=message.role.value, content=text)


def _paragraph(content: str, start: int, end: int) -> str:
    """Return the text of one round; those after the first begin with the paragraph break between them."""
    text = content[start:end]
    return text.removeprefix("\n\n") if start else text


def _find_call(message: Message, id: str) -> CalledTool:
    made = message.details.tool_calls if message.details is not None else ()
    interrupted = CalledTool(id=id, tool_id=None, tool="unknown", input={}, status=CallStatus.failed)
    # The last one: the steps of a sub-agent stand before the call that they belong to.
    return next((call for call in reversed(made) if call.id == id), interrupted)


def _as_tool_call(call: CalledTool) -> ToolCall:
    made = ToolCall(call.id, call.tool, call.input, raw_arguments="")
    return wrap_call(made) if call.found_by_search else made


def _result_of(call: CalledTool) -> object:
    if call.status is CallStatus.awaiting_approval:
        return _AWAITING_APPROVAL_NOTE
    if call.error is not None:
        return msgspec.to_builtins(call.error)
    return call.output if call.status is CallStatus.completed else _INTERRUPTED_NOTE
