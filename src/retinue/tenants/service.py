"""Tenants, their plans and their custom limits."""

from retinue.kit.context import Context
from retinue.kit.errors import Invalid, TenantNotFound
from retinue.kit.json_types import JsonObject
from retinue.kit.limits import limits_for
from retinue.kit.text.locales import is_language
from retinue.tenants.events import TenantCreated, TenantUpdated
from retinue.tenants.models import Plan, Tenant
from retinue.tenants.queries import own_tenant


async def create(ctx: Context, *, name: str, plan: Plan, limits: JsonObject | None = None) -> Tenant:
    """Create a tenant and bind the context to it, so that its events are logged there."""
    limits_for(plan, limits)
    tenant = await ctx.system("a tenant is nobody's row").insert(
        Tenant(name=name, plan=plan, limits=limits or {})
    )
    ctx.bind_tenant(tenant.id)
    ctx.emit(TenantCreated(tenant_id=tenant.id, name=name, plan=plan))
    return tenant


async def update(ctx: Context, tenant: Tenant, changes: JsonObject) -> Tenant:
    """Change the given fields. Limits apply from the tenant's next request."""
    system = ctx.system("a tenant is nobody's row")
    locked = await system.lock(Tenant, tenant.id)
    if locked is None:
        raise TenantNotFound
    changed = {name: value for name, value in changes.items() if getattr(locked, name) != value}
    limits_for(changed.get("plan", locked.plan), changed.get("limits", locked.limits))
    if changed:
        await system.update(locked, **changed)
        ctx.bind_tenant(locked.id)
        ctx.emit(
            TenantUpdated(
                tenant_id=locked.id,
                changed=[*changed],
                name=locked.name,
                plan=locked.plan,
                limits=locked.limits,
            )
        )
    return locked


async def update_own(ctx: Context, changes: JsonObject) -> Tenant:
    """Change the caller's own tenant; who it is and how it speaks is for administrators of users only."""
    if changes.keys() & {"name", "language"}:
        ctx.principal.require("admin:users")
    language = changes.get("language")
    if language is not None and not is_language(language):
        raise Invalid({"language": "must be a BCP 47 language tag such as pt-BR"})
    return await update(ctx, await own_tenant(ctx), changes)
