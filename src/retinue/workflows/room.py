"""Runs that found no place when they were started: they begin when another one ends, or a minute has room."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement, reading
from retinue.kit.errors import RateLimited
from retinue.kit.jobs.declare import NoPayload, Retry, job
from retinue.kit.limits import limits_for
from retinue.tenants.models import Tenant
from retinue.tenants.queries import own_tenant
from retinue.workflows.errors import TooManyExecutions
from retinue.workflows.models import RunStatus, WorkflowExecution, WorkflowVersion

_RETRY_AFTER_S = 5
_AT_ONCE = 100
# So far below the limit nobody has to wait for those who are being started at the same moment.
_FAR_BELOW = 50

_executions = WorkflowExecution.__table__
_some = sa.bindparam("most", type_=sa.BigInteger())


def _counting(*conditions: Any) -> Statement[Any]:
    found = sa.select(_executions.c.id).where(_executions.c.is_running == sa.true(), *conditions).limit(_some)
    return Statement(sa.select(sa.func.count()).select_from(found.subquery()))


_RUNNING = _counting()
_RUNNING_OF_ONE = _counting(_executions.c.workflow_id == sa.bindparam("workflow_id"))
_waiting = _executions.c.is_pending == sa.true()
_ANY_WAITING: Statement[Any] = Statement(sa.select(_executions.c.id).where(_waiting).limit(sa.literal(1)))
_TENANTS: Statement[Any] = Statement(sa.select(_executions.c.tenant_id).where(_waiting).distinct())
_WAITING: Statement[WorkflowExecution] = reading(
    WorkflowExecution,
    sa.select(_executions)
    .where(_waiting)
    .order_by(_executions.c.created_at, _executions.c.id)
    .limit(sa.literal(_AT_ONCE))
    .with_for_update(skip_locked=True),
)


class NextPlaces(msgspec.Struct):
    """The job needs to know nothing but its tenant."""


async def refusal(ctx: Context) -> RateLimited | None:
    """Why the plan allows no further run at this moment."""
    limits = ctx.principal.limits
    if limits is None:
        tenant = await own_tenant(ctx)
        limits = limits_for(tenant.plan, tenant.limits)
    most = limits.concurrent_executions
    if most is not None and await _is_full(ctx, most):
        return TooManyExecutions(
            limit=most,
            window="concurrent",
            retry_after=_RETRY_AFTER_S,
            reset=int(ctx.clock.time()) + _RETRY_AFTER_S,
            message="Too many workflows are running at this moment; try again in a few seconds.",
        )
    per_minute = limits.workflow_executions_per_minute
    if per_minute is None:
        return None
    decision = await ctx.instance.limiter.hit_window(f"workflows:{ctx.tenant_id}", per_minute, 60)
    return None if decision.allowed else decision.refusal()


async def _is_full(ctx: Context, most: int) -> bool:
    running = await ctx.db.scalar(_RUNNING, most=most)
    if running < most - _FAR_BELOW:
        return False
    await ctx.db.lock(Tenant, ctx.tenant_id)
    return bool(await ctx.db.scalar(_RUNNING, most=most) >= most)


async def is_workflow_full(ctx: Context, version: WorkflowVersion) -> bool:
    """Whether as many runs of it are under way as its own settings allow."""
    most = version.settings.get("max_concurrency")
    if not most:
        return False
    running = await ctx.db.scalar(_RUNNING_OF_ONE, workflow_id=version.workflow_id, most=most)
    return bool(running >= most)


async def make_room(ctx: Context) -> None:
    """A run gave its place back."""
    if await ctx.db.scalar(_ANY_WAITING) is not None:
        ctx.defer(begin_pending, NextPlaces(), dedupe_key="workflows:pending")


@job(queue="workflows", retry=Retry((0, 1, 5, 30)))
async def begin_pending(ctx: Context, _payload: NextPlaces) -> None:
    """The oldest first; those of a workflow that is full let others pass."""
    from retinue.workflows.starting import begin

    await ctx.unit_of_work.begin()
    for execution in await ctx.db.rows(_WAITING):
        if execution.status is not RunStatus.pending:
            continue
        version = await ctx.db.get(WorkflowVersion, execution.version_id)
        if version is None or await is_workflow_full(ctx, version):
            continue
        if await refusal(ctx) is not None:
            return
        await begin(ctx, execution)


@job(every_s=5, transactional=False)
async def look_for_room(ctx: Context, _payload: NoPayload) -> None:
    """For those whom no end of another run lets in: a minute has passed."""
    for (tenant_id,) in await ctx.system("executions of every tenant").rows(_TENANTS):
        async with ctx.unit() as unit:
            unit.act_in(tenant_id)
            unit.defer(begin_pending, NextPlaces(), dedupe_key="workflows:pending")
