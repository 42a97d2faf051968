"""Whether anyone of a tenant listens to its events."""

import sqlalchemy as sa

from retinue.kit.clock import Clock
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.tenants.models import Tenant

# What a request finds out when it begins. One that takes longer asks the worker, which looks for itself.
_KNOWN_FOR_S = 1.0

_tenants = Tenant.__table__
_LISTEN: Statement[object] = Statement(
    sa.update(_tenants)
    .where(_tenants.c.id == sa.bindparam("listening"), _tenants.c.is_listened_to == sa.false())
    .values(is_listened_to=sa.true())
)


async def start_listening(ctx: Context) -> None:
    """In the transaction that stores a webhook or a subscription: from its commit on, events are routed."""
    await ctx.system("a tenant's own row").execute(_LISTEN, listening=ctx.tenant_id)


def unheard_until(clock: Clock, *, is_listened_to: bool) -> float:
    """Of a principal, whose tenant's row was just read."""
    return 0.0 if is_listened_to else clock.monotonic() + _KNOWN_FOR_S
