"""Start of the linked workflow, after the sender got its response: once per payload, or with an error."""

import msgspec

from retinue.incoming.job_kinds import TRIGGER_WORKFLOW, PayloadToTrigger
from retinue.incoming.models import LargePayload, ReceivedPayload, ReceivedStatus
from retinue.kit.context import Context
from retinue.kit.context.subscription_actions import WorkflowStart, WorkflowStarter
from retinue.kit.errors import RetinueError
from retinue.kit.events.dispatch import MAX_HOPS
from retinue.kit.logging import scrub_secrets

_MAX_ERROR_LENGTH = 500

_NO_WORKFLOWS = "This instance runs no workflows."
_NO_SUCH_WORKFLOW = "The workflow does not exist."
_TOO_MANY_HOPS = "The chain of triggers is too long. Check whether the workflow triggers itself."
_START_FAILED = "The workflow could not be started."


async def trigger_workflow(ctx: Context, payload: PayloadToTrigger) -> None:
    received = await ctx.db.lock(ReceivedPayload, payload.received_id)
    if received is None or not received.is_waiting:
        return
    ctx.quote(*(received.conversation_ids or ()))
    starter = await _find_starter(ctx, received.workflow_id or "")
    reason = _refusal_reason(ctx, starter)
    if starter is None or reason is not None:
        await _fail(ctx, received, reason or _NO_SUCH_WORKFLOW)
        return
    try:
        execution_id = await starter.start(ctx, await _start_request(ctx, received))
    except RetinueError as error:
        if error.status >= 500:
            raise
        # Undo what the starter stored, and record only the refusal.
        await ctx.rollback()
        async with ctx.unit() as unit:
            await _fail(unit, received, scrub_secrets(error.message)[:_MAX_ERROR_LENGTH])
        return
    await ctx.db.update(
        received, status=ReceivedStatus.triggered, is_waiting=False, workflow_execution_id=execution_id
    )


def _refusal_reason(ctx: Context, starter: WorkflowStarter | None) -> str | None:
    if not _starters(ctx):
        return _NO_WORKFLOWS
    if ctx.caller.hops >= MAX_HOPS:
        return _TOO_MANY_HOPS
    if starter is None:
        return _NO_SUCH_WORKFLOW
    return _START_FAILED if ctx.caller.attempt >= TRIGGER_WORKFLOW.max_attempts else None


async def _start_request(ctx: Context, received: ReceivedPayload) -> WorkflowStart:
    text = received.payload
    if text is None:
        large = await ctx.db.get(LargePayload, received.id)
        text = large.payload if large is not None else "null"
    return WorkflowStart(
        workflow_id=received.workflow_id or "",
        input=msgspec.json.decode(text),
        trigger="webhook",
        source_id=received.id,
    )


async def _fail(ctx: Context, received: ReceivedPayload, reason: str) -> None:
    await ctx.db.update(received, status=ReceivedStatus.failed, is_waiting=False, error=reason)


def _starters(ctx: Context) -> list[WorkflowStarter]:
    return list(ctx.instance.registry.all(WorkflowStarter))


async def _find_starter(ctx: Context, workflow_id: str) -> WorkflowStarter | None:
    for starter in _starters(ctx):
        if await starter.exists(ctx, workflow_id):
            return starter
    return None
