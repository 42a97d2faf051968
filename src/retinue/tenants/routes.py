from retinue.kit.context import Context
from retinue.kit.http.routing import MEMBER, Routes
from retinue.kit.schema.base import sent_fields
from retinue.tenants import service as tenants
from retinue.tenants.instance_settings import load_tenant_settings
from retinue.tenants.queries import own_tenant
from retinue.tenants.schemas import OwnTenantUpdate, TenantOut, TenantSettings

routes = Routes("/api/v1/tenant", tag="tenants")


@routes.get("", requires=MEMBER)
async def get_own_tenant(ctx: Context) -> TenantOut:
    """Return the tenant the caller acts in, with its plan and limits."""
    return TenantOut.from_record(await own_tenant(ctx))


@routes.patch("", requires="notification_channels:write")
async def update_own_tenant(ctx: Context, body: OwnTenantUpdate) -> TenantOut:
    """Change the settings of the tenant that its own administrators decide.

    `name` and `language` take `admin:users` as well. `mail_to_outsiders` lets notification nodes of workflows
    write to addresses that belong to no user of the tenant. Null, the default, turns it off.
    """
    return TenantOut.from_record(await tenants.update_own(ctx, sent_fields(body)))


@routes.get("/settings", requires="admin:users")
async def get_tenant_settings(ctx: Context) -> TenantSettings:
    """Return what the tenant cannot change itself, and who or which variable of the instance decides it."""
    return await load_tenant_settings(ctx)
