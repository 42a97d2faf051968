"""Runs that take longer than they may."""

from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import NoPayload, job
from retinue.workflows.held import HeldRun
from retinue.workflows.models import RunStatus, WorkflowExecution
from retinue.workflows.running import RUNNING

_AT_ONCE = 200
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
