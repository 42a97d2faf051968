"""Admission: an execution starts if the limits allow it, else it waits until one ends or a minute passes."""

from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RateLimited
from retinue.kit.limits import limits_for
from retinue.tenants.models import Tenant
from retinue.tenants.queries import own_tenant
from retinue.workflows.errors import TooManyExecutions
from retinue.workflows.job_kinds import START_QUEUED, QueuedExecutions
from retinue.workflows.models import WorkflowExecution, WorkflowVersion

_RETRY_AFTER_SECONDS = 5
# Farther below the limit than this, a start takes no lock: fewer starts are ever concurrent.
_LOCK_MARGIN = 50

_executions = WorkflowExecution.__table__
_row_limit = sa.bindparam("most", type_=sa.BigInteger())


def _count_running(*conditions: Any) -> Statement[Any]:
    running = (
        sa.select(_executions.c.id)
        .where(_executions.c.is_running == sa.true(), *conditions)
        .limit(_row_limit)
    )
    return Statement(sa.select(sa.func.count()).select_from(running.subquery()))


_COUNT_RUNNING = _count_running()
_COUNT_RUNNING_OF_WORKFLOW = _count_running(_executions.c.workflow_id == sa.bindparam("workflow_id"))
IS_QUEUED = _executions.c.is_pending == sa.true()
_FIND_QUEUED = Statement(sa.select(_executions.c.id).where(IS_QUEUED).limit(sa.literal(1)))


async def find_limit_error(ctx: Context) -> RateLimited | None:
    """Return the error of the plan's limit that forbids another execution now, or None."""
    limits = ctx.principal.limits
    if limits is None:
        tenant = await own_tenant(ctx)
        limits = limits_for(tenant.plan, tenant.limits)
    max_running = limits.concurrent_executions
    if max_running is not None and await _is_at_limit(ctx, max_running):
        return TooManyExecutions(
            limit=max_running,
            window="concurrent",
            retry_after=_RETRY_AFTER_SECONDS,
            reset=int(ctx.clock.time()) + _RETRY_AFTER_SECONDS,
            message="Too many workflows are running. Try again in a few seconds.",
        )
    per_minute = limits.workflow_executions_per_minute
    if per_minute is None:
        return None
    decision = await ctx.instance.limiter.hit_window(f"workflows:{ctx.tenant_id}", per_minute, 60)
    return None if decision.allowed else decision.refusal()


async def _is_at_limit(ctx: Context, max_running: int) -> bool:
    running = await ctx.db.scalar(_COUNT_RUNNING, most=max_running)
    if running < max_running - _LOCK_MARGIN:
        return False
    await ctx.db.lock(Tenant, ctx.tenant_id)
    return bool(await ctx.db.scalar(_COUNT_RUNNING, most=max_running) >= max_running)


async def is_at_max_concurrency(ctx: Context, version: WorkflowVersion) -> bool:
    """Return whether the workflow's own `max_concurrency` is reached."""
    max_running = version.settings.get("max_concurrency")
    if not max_running:
        return False
    running = await ctx.db.scalar(
        _COUNT_RUNNING_OF_WORKFLOW, workflow_id=version.workflow_id, most=max_running
    )
    return bool(running >= max_running)


async def start_queued_executions(ctx: Context) -> None:
    """Enqueue the start of queued executions, if there are any: a slot has become free."""
    if await ctx.db.scalar(_FIND_QUEUED) is not None:
        ctx.defer(START_QUEUED, QueuedExecutions(), dedupe_key="workflows:pending")
