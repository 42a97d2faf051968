"""The jobs of workflows. The periodic ones here end overdue executions and delete old ones."""

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import implement, periodic
from retinue.kit.purge import PURGE_BATCH_ROWS, purge_all_tenants, purge_statement
from retinue.workflows.end_notifications import notify_end
from retinue.workflows.engine.execution import LockedExecution
from retinue.workflows.engine.queue import check_queue, start_queued
from retinue.workflows.engine.steps import MAX_CALL_SECONDS, abandon_node, run_call, run_step
from retinue.workflows.job_kinds import (
    ABANDON_NODE,
    FIRE_SCHEDULE,
    NOTIFY_END,
    RUN_CALL,
    RUN_STEP,
    START_BY_EVENT,
    START_QUEUED,
)
from retinue.workflows.models import (
    RunStatus,
    Workflow,
    WorkflowChain,
    WorkflowExecution,
    WorkflowSpending,
    WorkflowVersion,
)
from retinue.workflows.schedules import LATE_AFTER_SECONDS, fire_late_schedules, fire_schedule
from retinue.workflows.triggers import start_by_event

RETENTION_DAYS = 90

_OVERDUE_BATCH_SIZE = 200
_MAX_BATCHES = 200
_TIMEOUT_ERROR = {
    "code": "timeout",
    "message": "The execution exceeded the timeout of its workflow. Increase settings.timeout_ms.",
}

_executions = WorkflowExecution.__table__
_OVERDUE = Statement(
    sa.select(_executions.c.tenant_id, _executions.c.id)
    .where(
        _executions.c.is_due == sa.true(),
        _executions.c.deadline_at < sa.bindparam("now", type_=sa.Double()),
    )
    .order_by(_executions.c.deadline_at)
    .limit(sa.literal(_OVERDUE_BATCH_SIZE))
)
_workflows, _versions = Workflow.__table__, WorkflowVersion.__table__
_ALL_WORKFLOWS = Statement(sa.select(_workflows.c.tenant_id, _workflows.c.id))
# `created_at` uses the index of the lists; an execution that ended long ago also started long ago.
_OLD_EXECUTIONS = purge_statement(
    _executions,
    _executions.c.workflow_id == sa.bindparam("workflow_id"),
    _executions.c.created_at < sa.bindparam("before"),
    _executions.c.completed_at < sa.bindparam("before"),
)
_OLD_TRIALS = purge_statement(
    _versions,
    _versions.c.workflow_id == sa.bindparam("workflow_id"),
    _versions.c.is_draft == sa.true(),
    _versions.c.created_at < sa.bindparam("before"),
    ~sa.exists().where(
        _executions.c.tenant_id == _versions.c.tenant_id,
        _executions.c.workflow_id == _versions.c.workflow_id,
        _executions.c.version_id == _versions.c.id,
    ),
)
_chains = WorkflowChain.__table__
# Every start in the chain updates the row, so an active chain is never old.
_OLD_CHAINS = purge_statement(_chains, _chains.c.updated_at < sa.bindparam("before"))

_spendings = WorkflowSpending.__table__
_OLD_SPENDINGS = purge_statement(
    _spendings,
    _spendings.c.created_at < sa.bindparam("before"),
    ~sa.exists().where(
        _executions.c.tenant_id == _spendings.c.tenant_id, _executions.c.id == _spendings.c.execution_id
    ),
)


async def purge_executions(ctx: Context) -> None:
    """Delete old executions in short transactions, up to a limit; the next run continues."""
    before = ctx.clock.ahead(-RETENTION_DAYS * 86_400)
    batches = 0
    for tenant_id, workflow_id in await ctx.system("workflows of every tenant").rows(_ALL_WORKFLOWS):
        for statement in (_OLD_EXECUTIONS, _OLD_TRIALS):
            deleted_count = PURGE_BATCH_ROWS
            while deleted_count == PURGE_BATCH_ROWS and batches < _MAX_BATCHES:
                async with ctx.unit() as unit:
                    unit.bind_tenant(tenant_id)
                    deleted_count = await unit.db.execute(statement, workflow_id=workflow_id, before=before)
                batches += deleted_count == PURGE_BATCH_ROWS
    await purge_all_tenants(ctx, _OLD_CHAINS, before=before)
    await purge_all_tenants(ctx, _OLD_SPENDINGS, before=before)


async def end_overdue_executions(ctx: Context) -> None:
    overdue = await ctx.system("executions of every tenant").rows(_OVERDUE, now=ctx.clock.time())
    for tenant_id, execution_id in overdue:
        async with ctx.unit() as unit:
            unit.bind_tenant(tenant_id)
            locked = await LockedExecution.lock(unit, execution_id)
            if locked is not None:
                await locked.finish(RunStatus.timeout, error=_TIMEOUT_ERROR)
                await locked.store()


JOBS = (
    periodic(
        "workflows.purge_executions",
        purge_executions,
        every_s=3600,
        timeout_s=1800,
        transactional=False,
    ),
    periodic(
        "workflows.end_overdue",
        end_overdue_executions,
        every_s=5,
        transactional=False,
    ),
    implement(NOTIFY_END, notify_end),
    implement(START_BY_EVENT, start_by_event),
    implement(FIRE_SCHEDULE, fire_schedule),
    periodic(
        "workflows.fire_late_schedules",
        fire_late_schedules,
        every_s=LATE_AFTER_SECONDS,
        transactional=False,
    ),
    implement(START_QUEUED, start_queued),
    periodic("workflows.check_queue", check_queue, every_s=5, transactional=False),
    implement(RUN_STEP, run_step, at_once=50),
    implement(RUN_CALL, run_call, timeout_s=MAX_CALL_SECONDS + 60, transactional=False, at_once=100),
    implement(ABANDON_NODE, abandon_node),
)
