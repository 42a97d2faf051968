"""Spans of the calls a model requests: tools, sub-agents, and the wait for an approval."""

import hashlib
from contextlib import AbstractContextManager, nullcontext

from retinue.adapters.llm import ToolCall
from retinue.agents.models import Agent
from retinue.chat.engine.call_outcomes import ToolCallOutcome
from retinue.chat.engine.suspended import CallDecision, PendingCall
from retinue.kit.context import Context
from retinue.kit.tracing import names
from retinue.kit.tracing.recorder import ActiveSpan, current_span, start_span

_MAX_NAME_LENGTH = 100
_NOTHING: AbstractContextManager[ActiveSpan | None] = nullcontext()


def start_call_span(call: ToolCall) -> AbstractContextManager[ActiveSpan | None]:
    name = call.name[:_MAX_NAME_LENGTH]
    span = start_span(f"execute_tool {name}", "tool")
    if span is None:
        return _NOTHING
    span.set({names.OPERATION: "execute_tool", names.TOOL_NAME: name, names.TOOL_CALL_ID: call.id})
    return span


def describe_call(span: ActiveSpan | None, outcome: ToolCallOutcome) -> None:
    called = outcome.called
    if span is None:
        return
    span.set({names.APPROVAL_ID: called.approval_id})
    if called.error is not None:
        span.fail(called.error.code, called.error.message)


def start_agent_span(agent: Agent) -> AbstractContextManager[ActiveSpan | None]:
    span = start_span(f"invoke_agent {agent.name}", "sub_agent")
    if span is None:
        return _NOTHING
    span.set({names.OPERATION: "invoke_agent", names.AGENT_ID: agent.id, names.AGENT_NAME: agent.name})
    return span


def record_approval(ctx: Context, pending: PendingCall, decided: CallDecision) -> None:
    """Record the wait for a decision: it began in an earlier part, so its id comes from the approval."""
    active = current_span()
    if active is None or not pending.requested_at:
        return
    span = active.part.add_finished(
        f"approval {pending.call.name[:_MAX_NAME_LENGTH]}",
        "approval",
        active.span.span_id,
        span_id=hashlib.blake2b(pending.approval_id.encode(), digest_size=8).hexdigest(),
        started_at=pending.requested_at,
        ended_at=ctx.clock.time(),
    )
    outcome = "timeout" if decided.is_late else decided.decision
    span.set({names.APPROVAL_ID: pending.approval_id, names.APPROVAL_OUTCOME: outcome})
