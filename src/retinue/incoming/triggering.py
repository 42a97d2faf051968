"""Starting the linked workflow after the sender was answered: once for each payload, or said why not."""

import msgspec

from retinue.incoming.models import LargePayload, ReceivedPayload, ReceivedStatus
from retinue.kit.actions import WorkflowStart, WorkflowStarter
from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.events.dispatch import MOST_HOPS
from retinue.kit.jobs.declare import Retry, job
from retinue.kit.logging import scrub

# The last attempt starts nothing any more: it records that the others failed.
_ATTEMPTS = Retry((0, 5, 30, 300, 300))
_LONGEST_ERROR = 500

_NO_WORKFLOWS = "This instance runs no workflows."
_NO_SUCH_WORKFLOW = "The workflow does not exist."
_CIRCLE = "The chain of causes is too long; something starts itself."
_BROKEN = "The workflow could not be started."


class PayloadToTrigger(msgspec.Struct):
    received_id: str


@job(retry=_ATTEMPTS)
async def trigger_received(ctx: Context, payload: PayloadToTrigger) -> None:
    received = await ctx.db.lock(ReceivedPayload, payload.received_id)
    if received is None or not received.is_waiting:
        return
    starter = await _starter_of(ctx, received.workflow_id or "")
    reason = _why_not(ctx, starter)
    if starter is None or reason is not None:
        await _fail(ctx, received, reason or _NO_SUCH_WORKFLOW)
        return
    try:
        execution_id = await starter.start(ctx, await _start_of(ctx, received))
    except RetinueError as error:
        if error.status >= 500:
            raise
        # What the starter had stored by then goes; only that it refused is kept.
        await ctx.rollback()
        async with ctx.unit() as unit:
            await _fail(unit, received, scrub(error.message)[:_LONGEST_ERROR])
        return
    await ctx.db.update(
        received, status=ReceivedStatus.triggered, is_waiting=False, workflow_execution_id=execution_id
    )


def _why_not(ctx: Context, starter: WorkflowStarter | None) -> str | None:
    if not _starters(ctx):
        return _NO_WORKFLOWS
    if ctx.caller.hops >= MOST_HOPS:
        return _CIRCLE
    if starter is None:
        return _NO_SUCH_WORKFLOW
    return _BROKEN if ctx.caller.attempt >= len(_ATTEMPTS.delays) else None


async def _start_of(ctx: Context, received: ReceivedPayload) -> WorkflowStart:
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
    return [starter for manifest in ctx.instance.manifests for starter in manifest.workflow_starters]


async def _starter_of(ctx: Context, workflow_id: str) -> WorkflowStarter | None:
    """Whoever knows the workflow."""
    for starter in _starters(ctx):
        if await starter.exists(ctx, workflow_id):
            return starter
    return None
