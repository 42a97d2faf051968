"""Retention of the event log."""

import sqlalchemy as sa

from retinue.events.job_kinds import POST_MESSAGE, RUN_ACTION
from retinue.events.signed_messages import TIMEOUT_SECONDS, post_message
from retinue.events.subscription_router import run_action
from retinue.kit.context import Context
from retinue.kit.events.models import EventEntry
from retinue.kit.jobs.declare import implement, periodic
from retinue.kit.purge import PURGE_BATCH_ROWS, purge_statement
from retinue.tenants.models import Tenant

RETENTION_DAYS = 90
_MAX_BATCHES = 200

_events = EventEntry.__table__
_DELETE_OLD = purge_statement(
    _events, _events.c.created_at < sa.bindparam("before"), _events.c.is_dispatched == sa.true()
)


async def purge_events(ctx: Context) -> None:
    """Delete old events in short transactions, up to a limit; the next run continues."""
    before = ctx.clock.ahead(-RETENTION_DAYS * 86_400)
    batches = 0
    for tenant in await ctx.system("events of every tenant").all(Tenant):
        deleted_count = PURGE_BATCH_ROWS
        while deleted_count == PURGE_BATCH_ROWS and batches < _MAX_BATCHES:
            async with ctx.unit() as unit:
                unit.bind_tenant(tenant.id)
                deleted_count = await unit.db.execute(_DELETE_OLD, before=before)
            batches += 1


JOBS = (
    periodic(
        "events.purge",
        purge_events,
        every_s=3600,
        timeout_s=1800,
        transactional=False,
    ),
    implement(POST_MESSAGE, post_message, timeout_s=TIMEOUT_SECONDS + 15, transactional=False, per_lane=4),
    implement(RUN_ACTION, run_action, per_lane=4),
)
