"""The part of a trace that tells about a turn."""

from contextlib import AbstractContextManager

import msgspec

from retinue.chat.engine import Resumption, SuspendedTurn
from retinue.chat.engine.parts import ReplyDetails
from retinue.chat.models import ChatLog
from retinue.chat.traced_turns import turn_tokens
from retinue.chat.turn.request import TurnRequest
from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.tracing import names
from retinue.kit.tracing.origin import TraceOrigin, correlation_id_of
from retinue.kit.tracing.parts import Spending, is_kept, queue_part, recording_part, store_part
from retinue.kit.tracing.plain_turn import PlainTurn
from retinue.kit.tracing.recorder import PartRecorder, current_part, current_trace_parent


def recording_turn(
    ctx: Context, request: TurnRequest, conversation_id: str, resumed: Resumption | None
) -> AbstractContextManager[PartRecorder | None]:
    """Record the turn; one that waited for approvals continues its trace."""
    agent = request.agent
    origin = None
    if resumed is not None and isinstance(resumed.standing, SuspendedTurn) and ctx.caller.trace is not None:
        origin = TraceOrigin.of_parent(resumed.standing.trace_parent)
    recording = recording_part(
        ctx,
        f"invoke_agent {agent.name}",
        "turn",
        origin=origin,
        agent_id=agent.id,
        conversation_id=conversation_id,
        user_id=ctx.principal.owner_id or None,
    )
    if isinstance(recording, PartRecorder) and resumed is not None:
        recording.spent_before = _spending(resumed.details)
    return recording


def with_trace(paused: SuspendedTurn | None) -> SuspendedTurn | None:
    """Return the state of a suspended turn with the trace that its resumption continues."""
    if paused is None:
        return None
    return msgspec.structs.replace(paused, trace_parent=current_trace_parent())


async def store_logged_turn(
    unit: Context, request: TurnRequest, log: ChatLog, details: ReplyDetails, error: RetinueError | None
) -> None:
    """Store the log entry of a turn with its part of the trace: the entry tells about a plain turn itself."""
    part = _part_of(log.conversation_id)
    plain = None if part is None or error is not None else _plain_turn(part, log, details)
    if part is None or plain is None:
        await unit.db.insert_at_commit(log)
        await store_turn_part(unit, request, log.conversation_id, log.message_id, details, error)
        return
    is_traced = is_kept(unit, part)
    if is_traced:
        log.trace, log.trace_ns = plain, part.root.span.duration_ns
    await unit.db.insert_at_commit(log)
    if is_traced:
        await queue_part(unit, part, log.id)


def _part_of(conversation_id: str) -> PartRecorder | None:
    """Return the part of the turn that is ending; one that ends while it is suspended has none of its own."""
    part = current_part()
    if part is None or part.kind != "turn" or part.fields.get("conversation_id") != conversation_id:
        return None
    return part


def _plain_turn(part: PartRecorder, log: ChatLog, details: ReplyDetails) -> PlainTurn | None:
    # The cost is that of the only model.
    if details.error is not None or len(log.usage_by_model) != 1:
        return None
    if correlation_id_of(part.trace_id) != log.correlation_id:
        return None
    part.finish()
    return PlainTurn.of_part(
        part,
        model=log.model,
        tokens=turn_tokens(log),
        agent_version=details.agent_version,
        finish_reason=details.finish_reason,
    )


async def store_turn_part(
    unit: Context,
    request: TurnRequest,
    conversation_id: str,
    reply_id: str,
    details: ReplyDetails,
    error: RetinueError | None = None,
) -> None:
    """Store the turn's part in the transaction that ends or suspends the turn."""
    part = _part_of(conversation_id)
    if part is None:
        return
    root, usage = part.root, details.usage
    root.span.message_id = reply_id
    # The other attributes of the span stand in the columns of the row: see `kit.tracing.row_attributes`.
    root.set(
        {
            names.AGENT_VERSION: details.agent_version,
            names.CHANNEL: request.channel,
            names.FINISH_REASON: details.finish_reason,
            names.CACHE_WRITE_TOKENS: usage.cache_write_tokens or None,
            names.REASONING_TOKENS: usage.reasoning_tokens or None,
        }
    )
    if error is not None:
        root.fail(error.code, error.message)
    elif details.error is not None:
        root.fail(details.error.code, details.error.message)
    await store_part(unit, _spending(details).less(part.spent_before))


def _spending(details: ReplyDetails) -> Spending:
    usage = details.usage
    return Spending(
        usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, details.estimated_cost_usd
    )
