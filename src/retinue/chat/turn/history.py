"""The stored messages of a conversation as model messages."""

from collections.abc import Iterator

import msgspec
import sqlalchemy as sa

from retinue.adapters.llm import ModelMessage, ToolCall
from retinue.chat.engine import prompts
from retinue.chat.engine.fence import PromptFence
from retinue.chat.engine.parts import CalledTool, CallStatus, FinishReason
from retinue.chat.models import Message
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


async def load_history(ctx: Context, conversation_id: str) -> tuple[ModelMessage, ...]:
    """Return the newest messages of a conversation, oldest first, as the model has seen them."""
    rows = await ctx.db.rows(_HISTORY, conversation_id=conversation_id)
    return tuple(to_model_messages(rows, PromptFence.of_seed(ctx, conversation_id)))


async def load_history_before(ctx: Context, question: Message) -> tuple[ModelMessage, ...]:
    """Return the messages before a question that is still to be answered."""
    rows = await ctx.db.rows(
        _HISTORY_BEFORE, conversation_id=question.conversation_id, position=question.position
    )
    return tuple(to_model_messages(rows, PromptFence.of_seed(ctx, question.conversation_id)))


def to_model_messages(newest_first: list[Message], fence: PromptFence) -> list[ModelMessage]:
    """Convert stored messages; consecutive texts of one role are joined into one."""
    converted: list[ModelMessage] = []
    for message in _whole_blocks(newest_first)[::-1]:
        for replayed in replay(message, fence):
            if converted and _are_joined(converted[-1], replayed):
                text = f"{converted[-1].text()}\n\n{replayed.text()}"
                converted[-1] = msgspec.structs.replace(replayed, content=text)
            else:
                converted.append(replayed)
    return converted


def _are_joined(last: ModelMessage, next: ModelMessage) -> bool:
    return last.role == next.role != "tool" and not last.tool_calls


def _whole_blocks(newest_first: list[Message]) -> list[Message]:
    """Leave out an incomplete oldest block, so that the history begins alike for many turns."""
    if len(newest_first) < MAX_HISTORY_MESSAGES:
        return newest_first
    surplus = (_BLOCK_LENGTH - (newest_first[-1].position - 1)) % _BLOCK_LENGTH
    return newest_first[: len(newest_first) - surplus]


def replay(message: Message, fence: PromptFence) -> Iterator[ModelMessage]:
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
    if text:
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
    return ToolCall(call.id, call.tool, call.input, raw_arguments="")


def _result_of(call: CalledTool) -> object:
    if call.status is CallStatus.awaiting_approval:
        return _AWAITING_APPROVAL_NOTE
    if call.error is not None:
        return msgspec.to_builtins(call.error)
    return call.output if call.status is CallStatus.completed else _INTERRUPTED_NOTE
