"""Cleanup of the job table: jobs of an unknown kind are given up after a day, dead ones kept for a month."""

import sqlalchemy as sa
import structlog

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import JobHandler, handlers_by_name
from retinue.kit.jobs.models import Job

log = structlog.get_logger("retinue.jobs")

_RETENTION_SECONDS = 30 * 24 * 3600
_UNKNOWN_KIND_SECONDS = 24 * 3600

_jobs = Job.__table__
_PURGE = Statement(
    sa.delete(_jobs).where(
        _jobs.c.state == "dead", _jobs.c.run_at < sa.bindparam("before", type_=sa.Double())
    )
)
_WAITING_KINDS = Statement(
    sa.select(_jobs.c.kind, sa.func.count()).where(_jobs.c.state == "ready").group_by(_jobs.c.kind)
)
_GIVE_UP = Statement(
    sa.update(_jobs)
    .where(
        _jobs.c.state == "ready",
        _jobs.c.kind == sa.bindparam("unknown_kind"),
        _jobs.c.created_at < sa.bindparam("before"),
    )
    .values(
        state="dead",
        dedupe_key=None,
        last_error=sa.bindparam("error", type_=sa.Text()),
        updated_at=sa.bindparam("now"),
    )
)


async def purge_dead_jobs(ctx: Context) -> None:
    await ctx.system("jobs of every tenant").execute(_PURGE, before=ctx.clock.time() - _RETENTION_SECONDS)


async def give_up_unknown_jobs(ctx: Context) -> None:
    """Report waiting jobs that no handler knows, and give up those older than a day.

    A newer release may have stored them and may run beside this one. A queue that nobody declares any more is
    never claimed from, so its jobs are found here only.
    """
    known = handlers_by_name(ctx.instance.registry.all(JobHandler))
    system = ctx.system("jobs of every tenant")
    for kind, waiting in await system.rows(_WAITING_KINDS):
        if kind not in known:
            given_up = await system.execute(
                _GIVE_UP,
                unknown_kind=kind,
                before=ctx.clock.ahead(-_UNKNOWN_KIND_SECONDS),
                error=f"unknown kind {kind}",
                now=ctx.now,
            )
            log.error("jobs_of_unknown_kind", kind=kind, waiting=waiting - given_up, given_up=given_up)
