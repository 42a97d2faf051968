"""Tracks whether a tenant has webhooks or event subscriptions."""

from retinue.kit.clock import Clock
from retinue.kit.context import Context
from retinue.tenants.models import Tenant

# How long a request may rely on the flag read at its start. Later events go to the worker, which checks.
_CACHED_SECONDS = 1.0


async def mark_listened_to(ctx: Context) -> None:
    """Have events routed from now on; call it in the transaction that stores a webhook or subscription."""
    system = ctx.system("a tenant's own row")
    tenant = await system.get(Tenant, ctx.tenant_id)
    if tenant is not None and not tenant.is_listened_to:
        await system.update(tenant, is_listened_to=True)


def no_listeners_until(clock: Clock, *, is_listened_to: bool) -> float:
    """Return until when a principal whose tenant was just read may assume that nobody listens."""
    return 0.0 if is_listened_to else clock.monotonic() + _CACHED_SECONDS
