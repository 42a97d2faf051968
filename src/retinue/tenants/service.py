"""Tenants: who has which plan, and which numbers of its own."""

from typing import Any

from retinue.kit.context import Context
from retinue.kit.limits import limits_for
from retinue.tenants.errors import TenantNotFound
from retinue.tenants.events import TenantCreated, TenantUpdated
from retinue.tenants.models import Plan, Tenant


async def create(ctx: Context, *, name: str, plan: Plan, limits: dict[str, Any] | None = None) -> Tenant:
    """A new tenant; the context acts in it from here on, and what happened is told in its own log."""
    limits_for(plan, limits)
    tenant = await ctx.system("a tenant is nobody's row").insert(
        Tenant(name=name, plan=plan, limits=limits or {})
    )
    ctx.act_in(tenant.id)
    ctx.emit(TenantCreated(tenant_id=tenant.id, name=name, plan=plan))
    return tenant


async def update(ctx: Context, tenant: Tenant, changes: dict[str, Any]) -> Tenant:
    """Change name, plan or own limits; limits count from the tenant's next request."""
    system = ctx.system("a tenant is nobody's row")
    held = await system.lock(Tenant, tenant.id)
    if held is None:
        raise TenantNotFound
    changed = {name: value for name, value in changes.items() if getattr(held, name) != value}
    limits_for(changed.get("plan", held.plan), changed.get("limits", held.limits))
    if changed:
        await system.update(held, **changed)
        ctx.act_in(held.id)
        ctx.emit(
            TenantUpdated(
                tenant_id=held.id, changed=[*changed], name=held.name, plan=held.plan, limits=held.limits
            )
        )
    return held
