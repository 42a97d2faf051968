"""The part of a trace that tells about a turn."""

from contextlib import AbstractContextManager

import msgspec

from retinue.chat.engine import Resumption, SuspendedTurn
from retinue.chat.engine.parts import ReplyDetails
from retinue.chat.turn.request import TurnRequest
from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.tracing import names
from retinue.kit.tracing.origin import TraceOrigin
from retinue.kit.tracing.parts import Spending, recording_part, store_part
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


async def store_turn_part(
    unit: Context,
    request: TurnRequest,
    conversation_id: str,
    reply_id: str,
    details: ReplyDetails,
    error: RetinueError | None = None,
) -> None:
    """Store the turn's part in the transaction that ends or suspends the turn."""
    part = current_part()
    # A turn that ends while it is suspended has no part of its own.
    if part is None or part.kind != "turn" or part.fields.get("conversation_id") != conversation_id:
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
