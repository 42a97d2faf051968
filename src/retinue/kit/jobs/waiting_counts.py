"""Counts of waiting jobs, for the metrics."""

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import JobHandler
from retinue.kit.jobs.models import Job

_jobs = Job.__table__
_WAITING = Statement(
    sa.select(_jobs.c.queue, sa.func.count(), sa.func.min(_jobs.c.run_at))
    .where(
        _jobs.c.state == sa.literal_column("'ready'"),
        _jobs.c.attempt >= sa.literal_column("0"),
        _jobs.c.run_at <= sa.bindparam("now", type_=sa.Double()),
    )
    .group_by(_jobs.c.queue)
)


async def count_waiting_jobs(ctx: Context) -> dict[tuple[str, ...], tuple[float, ...]]:
    """Return how many jobs of each queue are due, and for how many seconds the oldest one is."""
    now = ctx.clock.time()
    waiting = await ctx.system("a metric over all tenants").rows(_WAITING, now=now)
    found = {(queue,): (float(count), max(0.0, now - oldest)) for queue, count, oldest in waiting}
    queues = {(handler.kind.queue,) for handler in ctx.instance.registry.all(JobHandler)}
    # Only declared queues: the rows of another release must not make series.
    return {queue: found.get(queue, (0.0, 0.0)) for queue in queues}
