"""What happens by itself: runs that take longer than they may are ended, and old ones go."""

from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.forgetting import AT_ONCE, forgetting
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import NoPayload, job
from retinue.workflows.held import HeldRun
from retinue.workflows.models import RunStatus, Workflow, WorkflowExecution, WorkflowVersion
from retinue.workflows.running import RUNNING

KEPT_DAYS = 90

_AT_ONCE = 200
_MOST_BATCHES = 200
_TIMEOUT = {"code": "timeout", "message": "The execution took longer than its workflow allows."}

_executions = WorkflowExecution.__table__
_OVERDUE: Statement[Any] = Statement(
    sa.select(_executions.c.tenant_id, _executions.c.id)
    .where(
        _executions.c.is_due == sa.true(),
        _executions.c.deadline_at < sa.bindparam("now", type_=sa.Double()),
    )
    .order_by(_executions.c.deadline_at)
    .limit(sa.literal(_AT_ONCE))
)
_workflows, _versions = Workflow.__table__, WorkflowVersion.__table__
_WORKFLOWS: Statement[Any] = Statement(sa.select(_workflows.c.tenant_id, _workflows.c.id))
# By the index of the lists: a run that ended long ago began long ago.
_OLD = forgetting(
    _executions,
    _executions.c.workflow_id == sa.bindparam("workflow_id"),
    _executions.c.created_at < sa.bindparam("before"),
    _executions.c.completed_at < sa.bindparam("before"),
)
_OLD_TRIALS = forgetting(
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


@job(every_s=3600, timeout_s=1800, transactional=False)
async def forget_old_executions(ctx: Context, _payload: NoPayload) -> None:
    """In short transactions, and not for ever: what is left is there in an hour as well."""
    before = ctx.clock.ahead(-KEPT_DAYS * 86_400)
    batches = 0
    for tenant_id, workflow_id in await ctx.system("workflows of every tenant").rows(_WORKFLOWS):
        for statement in (_OLD, _OLD_TRIALS):
            gone = AT_ONCE
            while gone == AT_ONCE and batches < _MOST_BATCHES:
                async with ctx.unit() as unit:
                    unit.act_in(tenant_id)
                    gone = await unit.db.execute(statement, workflow_id=workflow_id, before=before)
                batches += gone == AT_ONCE


@job(every_s=5, transactional=False)
async def end_overdue_executions(ctx: Context, _payload: NoPayload) -> None:
    overdue = await ctx.system("executions of every tenant").rows(_OVERDUE, now=ctx.clock.time())
    for tenant_id, execution_id in overdue:
        async with ctx.unit() as unit:
            unit.act_in(tenant_id)
            held = await HeldRun.take(unit, execution_id, RUNNING)
            if held is not None:
                await held.end(RunStatus.timeout, error=_TIMEOUT)
                await held.store()
