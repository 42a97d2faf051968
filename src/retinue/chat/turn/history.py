"""The stored messages of a conversation as model messages."""

from collections.abc import Iterator, Mapping

import msgspec
import sqlalchemy as sa

from retinue.adapters.llm import ContentPart, ModelMessage, TextContent, ToolCall
from retinue.chat.engine import prompts
from retinue.chat.engine.attached import Attachment, user_message
from retinue.chat.engine.fence import PromptFence
from retinue.chat.engine.parts import CalledTool, CallStatus, FinishReason
from retinue.chat.engine.tool_search import wrap_call
from retinue.chat.models import Message
from retinue.chat.turn.repeated_attachments import load_repeated
from retinue.kit.context import Context
from retinue.kit.db.statements import record_statement

MAX_HISTORY_MESSAGES = 60
_BLOCK_LENGTH = 20
_AWAITING_APPROVAL_NOTE = "(This waits for someone's approval and goes on by itself once it is decided.)"
_INTERRUPTED_NOTE = "(This call was interrupted.)"

_messages = Message.__table__
_HISTORY = record_statement(
    Message,
    sa.select(_messages)
    .where(_messages.c.conversation_id == sa.bindparam("conversation_id"))
    .order_by(_messages.c.position.desc())
    .limit(MAX_HISTORY_MESSAGES),
)


_HISTORY_BEFORE = record_statement(
    Message,
    sa.select(_messages)
    .where(
        _messages.c.conversation_id == sa.bindparam("conversation_id"),
        _messages.c.position < sa.bindparam("position"),
    )
    .order_by(_messages.c.position.desc())
    .limit(MAX_HISTORY_MESSAGES),
)


class ConversationHistory(msgspec.Struct, frozen=True):
    """What a turn knows of the turns before it; `documents` are those that the model may read further in."""

    messages: tuple[ModelMessage, ...] = ()
    documents: tuple[Attachment, ...] = ()


NO_HISTORY = ConversationHistory()


async def load_history(ctx: Context, conversation_id: str) -> ConversationHistory:
    """Return the newest messages of a conversation, oldest first, as the model has seen them."""
    rows = await ctx.db.rows(_HISTORY, conversation_id=conversation_id)
    return await _to_history(ctx, rows, conversation_id)


async def load_newest_messages(ctx: Context, conversation_id: str) -> list[Message]:
    """Return the messages that the next turn of a conversation would see, oldest first."""
    return _whole_blocks(await ctx.db.rows(_HISTORY, conversation_id=conversation_id))[::-1]


async def load_history_before(ctx: Context, question: Message) -> ConversationHistory:
    """Return the messages before a question that is still to be answered."""
    rows = await ctx.db.rows(
        _HISTORY_BEFORE, conversation_id=question.conversation_id, position=question.position
    )
    return await _to_history(ctx, rows, question.conversation_id)


async def _to_history(ctx: Context, newest_first: list[Message], seed: str) -> ConversationHistory:
    fence = PromptFence.of_seed(ctx, seed)
    oldest_first = _whole_blocks(newest_first)[::-1]
    attached = await load_repeated(ctx, oldest_first, fence)
    messages = to_model_messages(oldest_first, fence, attached.parts)
    return ConversationHistory(tuple(messages), attached.documents)


def to_model_messages(
    oldest_first: list[Message], fence: PromptFence, attached: Mapping[str, tuple[ContentPart, ...]]
) -> list[ModelMessage]:
    """Convert stored messages; consecutive texts of one role are joined into one."""
    converted: list[ModelMessage] = []
    for message in oldest_first:
        for replayed in replay(message, fence, attached.get(message.id, ())):
            if converted and _are_joined(converted[-1], replayed):
                content = _joined_content(converted[-1], replayed)
                converted[-1] = msgspec.structs.replace(replayed, content=content)
            else:
                converted.append(replayed)
    return converted


def _are_joined(last: ModelMessage, next: ModelMessage) -> bool:
    return last.role == next.role != "tool" and not last.tool_calls


def _joined_content(last: ModelMessage, next: ModelMessage) -> str | tuple[ContentPart, ...]:
    if isinstance(last.content, str) and isinstance(next.content, str):
        return f"{last.content}\n\n{next.content}"
    return (*_parts_of(last), *_parts_of(next))


def _parts_of(message: ModelMessage) -> tuple[ContentPart, ...]:
    return (TextContent(message.content),) if isinstance(message.content, str) else message.content


def _whole_blocks(newest_first: list[Message]) -> list[Message]:
    """Leave out an incomplete oldest block, so that the history begins alike for many turns."""
    if len(newest_first) < MAX_HISTORY_MESSAGES:
        return newest_first
    surplus = (_BLOCK_LENGTH - (newest_first[-1].position - 1)) % _BLOCK_LENGTH
    return newest_first[: len(newest_first) - surplus]


def replay(
    message: Message, fence: PromptFence, attached: tuple[ContentPart, ...] = ()
) -> Iterator[ModelMessage]:
    """Yield the message, with the calls and their results where the model asked for them."""
    start = 0
    for calls in message.rounds or ():
        text = _paragraph(message.content, start, calls.text_length)
        made = [_find_call(message, id) for id in calls.call_ids]
        yield ModelMessage(role="assistant", content=text, tool_calls=tuple(map(_as_tool_call, made)))
        for call in made:
            is_error = call.status is not CallStatus.completed
            yield prompts.tool_message(call.id, _result_of(call), fence, is_error=is_error)
        start = calls.text_length
    text = _paragraph(message.content, start, len(message.content))
    if _is_waiting(message) and not message.rounds:
        # Stored by an earlier release. Without the note the model would think that it was abandoned.
        text = f"{text}\n\n{_AWAITING_APPROVAL_NOTE}".strip()
    if attached:
        yield user_message(text, attached)
    elif text:
        yield ModelMessage(role=message.role.value, content=text)


def _is_waiting(message: Message) -> bool:
    details = message.details
    return details is not None and details.finish_reason is FinishReason.awaiting_approval


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
