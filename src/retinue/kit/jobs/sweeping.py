"""Dead jobs are kept for a month, to be looked at; then they go."""

from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import NoPayload, job
from retinue.kit.jobs.models import Job

_KEPT_S = 30 * 24 * 3600

_jobs = Job.__table__
_SWEEP: Statement[Any] = Statement(
    sa.delete(_jobs).where(
        _jobs.c.state == "dead", _jobs.c.run_at < sa.bindparam("before", type_=sa.Double())
    )
)


@job(every_s=24 * 3600)
async def sweep_dead_jobs(ctx: Context, payload: NoPayload) -> None:  # noqa: ARG001
    await ctx.system("jobs of every tenant").execute(_SWEEP, before=ctx.clock.time() - _KEPT_S)
