"""Replies as server-sent events: live, or replayed from storage (ADR 11).

Events are numbered, and the `trail` of a reply records what they were (see `chat.trail`). A resumed stream
therefore has the same events under the same numbers.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator

from retinue.chat.attachments.preparation import RequestedFiles
from retinue.chat.engine.parts import (
    CalledTool,
    CallError,
    FinishReason,
    ReplyDetails,
    ReplyText,
    TextWithdrawn,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    TurnPart,
)
from retinue.chat.engine.sources import cited_sources
from retinue.chat.models import Message, MessageStatus
from retinue.chat.playground import Trial
from retinue.chat.replies.followers import is_followed_elsewhere
from retinue.chat.replies.live import TEXT_ONLY, WITH_SUB_AGENTS, WITH_TOOLS, Frame, LiveTurn, LiveTurns
from retinue.chat.trail import (
    ApprovalAwaited,
    CallFinished,
    CallStarted,
    TextAdded,
    TextDropped,
    TrailRecorder,
    TurnSuspended,
)
from retinue.chat.turn import suspension
from retinue.chat.turn.admission import AdmittedTurn, admit
from retinue.chat.turn.placement import RequestedPlace
from retinue.chat.turn.request import TurnRequest
from retinue.chat.turn.storage import PendingTurn, TurnResult
from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.http.replies import EventStream
from retinue.kit.http.sse import ServerSentEvent
from retinue.kit.json_types import JsonObject

_HIDDEN = WITH_SUB_AGENTS + 1


async def stream(
    ctx: Context,
    request: TurnRequest,
    *,
    level: int = WITH_TOOLS,
    files: RequestedFiles | None = None,
    trial: Trial | None = None,
    place: RequestedPlace | None = None,
) -> EventStream:
    """Store the message and stream its reply; a refusal is raised before the stream starts."""
    live = start_live_turn(ctx, await admit(ctx, request, files=files, trial=trial, place=place))
    return EventStream(lambda: live.follow(0, level))


def start_live_turn(ctx: Context, turn: AdmittedTurn) -> LiveTurn:
    """Start a turn in this process and return it for its followers."""
    detached, reply_id = ctx.detached(), turn.pending.reply_id

    async def run(live: LiveTurn) -> None:
        async with turn:
            await _TurnPublisher(live, turn).run(detached)

    live = LiveTurn(reply_id, lambda: is_followed_elsewhere(ctx.detached(), reply_id))
    ctx.state(LiveTurns).start(live, run)
    return live


class _TurnPublisher:
    """Publishes the parts of one turn as events."""

    __slots__ = ("_finished", "_has_started", "_live", "_turn")

    def __init__(self, live: LiveTurn, turn: AdmittedTurn) -> None:
        self._live = live
        self._turn = turn
        self._has_started = False
        self._finished: TurnFinished | None = None

    async def run(self, ctx: Context) -> None:
        try:
            await self._turn.answer(ctx, on_part=self._on_part, trail=TrailRecorder(), store=self._store)
        except asyncio.CancelledError:
            if not self._live.is_stopped:
                raise
        self._publish_start()
        assert self._finished is not None
        publish_stop(self._live, self._finished.text, self._finished.details)

    async def _store(self, ctx: Context, pending: PendingTurn, result: TurnResult) -> Message | None:
        self._finished = result.answered
        return await suspension.store_result_or_suspend(ctx, pending, result)

    def _publish_start(self) -> None:
        """Publish `message_start` with the first part; an error before it is a normal error response."""
        if not self._has_started:
            self._has_started = True
            conversation_id = self._turn.pending.conversation_id
            self._live.publish("message_start", _start_data(conversation_id, self._live.id), TEXT_ONLY)

    def _on_part(self, part: TurnPart) -> None:
        if isinstance(part, TurnFinished):
            return
        self._publish_start()
        publish_part(self._live, part)


def publish_part(
    live: LiveTurn, part: ReplyText | TextWithdrawn | ToolCallStarted | ToolCallFinished
) -> None:
    """Publish one part of a turn to its listeners."""
    if isinstance(part, ReplyText):
        live.publish_text(part.text)
    elif isinstance(part, TextWithdrawn):
        # Nothing unsays an event; `message_stop` has the output that counts.
        return
    elif isinstance(part, ToolCallStarted):
        live.publish(
            "tool_use",
            _tool_use_data(part.tool, part.input),
            _level_for(is_from_sub_agent=part.is_from_sub_agent),
        )
    else:
        live.publish(
            "tool_result", _tool_result_data(part.call), _level_for(is_from_sub_agent=part.is_from_sub_agent)
        )


def publish_stop(live: LiveTurn, text: str, details: ReplyDetails) -> None:
    for call in details.pending_approvals():
        live.publish("approval_required", _approval_data(call), WITH_TOOLS)
    plain = _plain_stop_data(live.id, text, details)
    live.publish("message_stop", _stop_data(live.id, details), TEXT_ONLY, plain=plain)


def publish_stored_end(live: LiveTurn, reply: Message) -> None:
    """Publish the end of a stored reply as a replay would."""
    assert reply.details is not None
    if _ends_with_stop(reply, reply.details):
        publish_stop(live, reply.content, reply.details)
    else:
        live.publish("error", _error_data(reply.details), TEXT_ONLY)


def frames_before_pause(reply: Message) -> Iterator[Frame]:
    """Yield the events of a suspended reply; its `message_stop` is hidden because the reply continues."""
    assert reply.details is not None
    events = list(_stored_events(reply, reply.details))
    for number, (name, data, min_level) in enumerate(events, 1):
        yield Frame(ServerSentEvent(name, data, number), _HIDDEN if number == len(events) else min_level)


async def replay_events(reply: Message, after: int, level: int) -> AsyncGenerator[ServerSentEvent, None]:
    """Yield the events of a stored reply after number `after`."""
    details = reply.details
    assert details is not None
    number = 0
    for number, (name, data, min_level) in enumerate(_stored_events(reply, details), 1):
        if number > after and min_level <= level:
            is_plain = name == "message_stop" and level == TEXT_ONLY
            shown = _plain_stop_data(reply.id, reply.content, details) if is_plain else data
            yield ServerSentEvent(name, shown, number)
    if not _ends_with_stop(reply, details):
        # Send the error as an event, even as the only one: the reply failed, not this request.
        yield ServerSentEvent("error", _error_data(details), number)


def _stored_events(reply: Message, details: ReplyDetails) -> Iterator[tuple[str, JsonObject, int]]:
    """Yield the name, data and level of each event of a stored reply, in the order of its trail."""
    finished = iter(details.tool_calls)
    unseen = list(details.tool_calls)
    yield "message_start", _start_data(reply.conversation_id, reply.id), TEXT_ONLY
    length = 0
    for step in reply.trail if reply.trail is not None else [TextAdded(len(reply.content))]:
        match step:
            case TextAdded():
                yield "content_delta", {"delta": reply.content[length : step.length]}, TEXT_ONLY
                length = step.length
            case TextDropped():
                yield "content_delta", {"delta": step.text}, TEXT_ONLY
            case CallStarted():
                yield _stored_call_start(step, unseen)
            case CallFinished():
                level = _level_for(is_from_sub_agent=step.is_from_sub_agent)
                yield "tool_result", _tool_result_data(next(finished)), level
            case ApprovalAwaited():
                yield _stored_approval(step, details)
            case TurnSuspended():
                # Hidden, because a client that resumes after it expects the rest.
                yield "message_stop", {}, _HIDDEN
    if _ends_with_stop(reply, details):
        yield "message_stop", _stop_data(reply.id, details), TEXT_ONLY


def _stored_call_start(step: CallStarted, unseen: list[CalledTool]) -> tuple[str, JsonObject, int]:
    """Return the `tool_use` event of a call, and remove the call from `unseen`."""
    # Take the first remaining call with this id: some providers reuse ids in every round.
    call = next((called for called in unseen if called.id == step.id), None)
    if call is None:
        # The turn ended before the tool did: keep the event's number, but hide it.
        return "tool_use", {}, _HIDDEN
    unseen.remove(call)
    level = _level_for(is_from_sub_agent=step.is_from_sub_agent)
    return "tool_use", _tool_use_data(call.tool, call.input), level


def _stored_approval(step: ApprovalAwaited, details: ReplyDetails) -> tuple[str, JsonObject, int]:
    requested = next((call for call in details.tool_calls if call.approval_id == step.approval_id), None)
    if requested is None:
        return "approval_required", {}, _HIDDEN
    return "approval_required", _approval_data(requested), WITH_TOOLS


def _ends_with_stop(reply: Message, details: ReplyDetails) -> bool:
    """Return whether the reply completed, was stopped by its listener, or waits for an approval."""
    waits_or_stopped = {FinishReason.cancelled, FinishReason.awaiting_approval}
    return reply.status is MessageStatus.completed or details.finish_reason in waits_or_stopped


def _error_data(details: ReplyDetails) -> JsonObject:
    error = details.error or CallError(RetinueError.code, "The reply was cut off.")
    return {"code": error.code, "message": error.message}


def _level_for(*, is_from_sub_agent: bool) -> int:
    return WITH_SUB_AGENTS if is_from_sub_agent else WITH_TOOLS


def _start_data(conversation_id: str, message_id: str) -> JsonObject:
    return {"conversation_id": conversation_id, "message_id": message_id}


def _tool_use_data(tool: str, input: JsonObject) -> JsonObject:
    return {"tool": tool, "input": input}


def _approval_data(call: CalledTool) -> JsonObject:
    return {"approval_id": call.approval_id, "tool": call.tool, "input": call.input}


def count_events(reply: Message) -> int:
    """Return the number of events of a stored reply, including hidden ones."""
    assert reply.details is not None
    return sum(1 for _ in _stored_events(reply, reply.details))


def _tool_result_data(call: CalledTool) -> JsonObject:
    output = call.output if call.error is None else {"error": call.error}
    return {"tool": call.tool, "output": output, "status": call.status}


def _stop_data(message_id: str, details: ReplyDetails) -> JsonObject:
    return {
        "usage": details.usage,
        "usage_by_model": details.usage_by_model,
        "estimated_cost_usd": details.estimated_cost_usd,
        "trace_id": details.trace_id,
        "message_id": message_id,
        "finish_reason": details.finish_reason,
        "sources": details.sources,
        "tool_calls": details.tool_calls,
        "warnings": details.warnings,
        "output": details.output,
        "compaction": details.compaction,
    }


def _plain_stop_data(message_id: str, text: str, details: ReplyDetails) -> JsonObject:
    """Return the stop event for visitors: no tool calls, costs, models and ids; only cited sources."""
    return {
        "usage": details.usage,
        "message_id": message_id,
        "finish_reason": details.finish_reason,
        "sources": [source.plain() for source in cited_sources(text, details.sources)],
        "warnings": details.plain_warnings(),
        "output": details.output,
    }
