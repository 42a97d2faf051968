"""Tracks whether a tenant has webhooks or event subscriptions."""

import sqlalchemy as sa

from retinue.kit.clock import Clock
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.tenants.models import Tenant

# How long a request may rely on the flag read at its start. Later events go to the worker, which checks.
_CACHED_SECONDS = 1.0

_tenants = Tenant.__table__
_LISTEN: Statement[object] = Statement(
    sa.update(_tenants)
    .where(_tenants.c.id == sa.bindparam("listening"), _tenants.c.is_listened_to == sa.false())
    .values(is_listened_to=sa.true())
)


async def mark_listened_to(ctx: Context) -> None:
    """Have events routed from now on; call it in the transaction that stores a webhook or subscription."""
    await ctx.system("a tenant's own row").execute(_LISTEN, listening=ctx.tenant_id)


def no_listeners_until(clock: Clock, *, is_listened_to: bool) -> float:
    """Return until when a principal whose tenant was just read may assume that nobody listens."""
    return 0.0 if is_listened_to else clock.monotonic() + _CACHED_SECONDS
