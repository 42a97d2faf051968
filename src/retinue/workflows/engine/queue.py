"""Queued executions: they start round-robin between the roots that started them."""

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement, record_statement
from retinue.workflows.engine.admission import IS_QUEUED, find_limit_error, is_at_max_concurrency
from retinue.workflows.engine.start import start_queued_execution
from retinue.workflows.job_kinds import START_QUEUED, QueuedExecutions
from retinue.workflows.models import WorkflowExecution, WorkflowVersion

_BATCH_SIZE = 100

_executions = WorkflowExecution.__table__
_TENANTS_WITH_QUEUED = Statement(sa.select(_executions.c.tenant_id).where(IS_QUEUED).distinct())
# Round-robin between roots: the one whose latest start is longest ago comes first, with its oldest execution.
# A root that starts hundreds does not block the others.
_root = sa.func.coalesce(_executions.c.root_id, _executions.c.id)
_started = _executions.alias("begun")
_served_at = (
    sa.select(sa.func.max(_started.c.started_at))
    .where(_started.c.root_id == _root)
    .correlate(_executions)
    .scalar_subquery()
)
_oldest_first = (_executions.c.created_at, _executions.c.id)
_round_robin = (
    sa.select(
        _executions.c.id,
        _executions.c.workflow_id,
        _executions.c.version_id,
        _executions.c.created_at,
        sa.func.row_number().over(partition_by=_root, order_by=_oldest_first).label("turn"),
        sa.func.coalesce(_served_at, _executions.c.created_at).label("served_at"),
    )
    .where(IS_QUEUED, ~in_list(_executions.c.workflow_id, "full"))
    .subquery()
)
_NEXT_QUEUED = Statement(
    sa.select(_round_robin.c.id, _round_robin.c.workflow_id, _round_robin.c.version_id)
    .order_by(_round_robin.c.turn, _round_robin.c.served_at, _round_robin.c.created_at, _round_robin.c.id)
    .limit(sa.literal(_BATCH_SIZE))
)
_LOCK_QUEUED: Statement[WorkflowExecution] = record_statement(
    WorkflowExecution,
    sa.select(_executions)
    .where(_executions.c.id == sa.bindparam("execution_id"), IS_QUEUED)
    .with_for_update(skip_locked=True),
)


async def start_queued(ctx: Context, _payload: QueuedExecutions) -> None:
    """Start queued executions as far as the limits allow; those of a full workflow are passed over."""
    await ctx.unit_of_work.begin()
    full: set[str] = set()
    while await _start_batch(ctx, full):
        continue


async def _start_batch(ctx: Context, full: set[str]) -> bool:
    """Start a batch and return whether there may be more; `full` collects workflows at their limit."""
    full_before = len(full)
    for execution_id, workflow_id, version_id in await ctx.db.rows(
        _NEXT_QUEUED, full=list_parameter(sorted(full))
    ):
        version = await ctx.db.get(WorkflowVersion, version_id)
        if workflow_id in full or version is None:
            continue
        if await is_at_max_concurrency(ctx, version):
            full.add(workflow_id)
            continue
        execution = await ctx.db.first(_LOCK_QUEUED, execution_id=execution_id)
        if execution is None:
            continue
        if await find_limit_error(ctx) is not None:
            return False
        await start_queued_execution(ctx, execution)
    return len(full) > full_before


async def check_queue(ctx: Context) -> None:
    """Enqueue the start of executions that wait for the rate limit, which no ending execution triggers."""
    for (tenant_id,) in await ctx.system("executions of every tenant").rows(_TENANTS_WITH_QUEUED):
        async with ctx.unit() as unit:
            unit.bind_tenant(tenant_id)
            unit.defer(START_QUEUED, QueuedExecutions(), dedupe_key="workflows:pending")
