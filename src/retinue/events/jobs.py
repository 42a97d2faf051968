"""What happens by itself: old entries of the event log go."""

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.forgetting import AT_ONCE, forgetting
from retinue.kit.events.models import EventEntry
from retinue.kit.jobs.declare import NoPayload, job
from retinue.tenants.models import Tenant

KEPT_DAYS = 90
_MOST_BATCHES = 200

_events = EventEntry.__table__
_FORGET = forgetting(
    _events, _events.c.created_at < sa.bindparam("before"), _events.c.is_dispatched == sa.true()
)


@job(every_s=3600, timeout_s=1800, transactional=False)
async def forget_old_events(ctx: Context, _payload: NoPayload) -> None:
    """In short transactions, and not for ever: what is left is there in an hour as well."""
    before = ctx.clock.ahead(-KEPT_DAYS * 86_400)
    batches = 0
    for tenant in await ctx.system("events of every tenant").all(Tenant):
        forgotten = AT_ONCE
        while forgotten == AT_ONCE and batches < _MOST_BATCHES:
            async with ctx.unit() as unit:
                unit.act_in(tenant.id)
                forgotten = await unit.db.execute(_FORGET, before=before)
            batches += 1
