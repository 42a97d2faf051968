from retinue.kit.context import Context
from retinue.kit.http.routing import MEMBER, Routes
from retinue.kit.schema.base import sent_fields
from retinue.tenants import service as tenants
from retinue.tenants.queries import own_tenant
from retinue.tenants.schemas import OwnTenantUpdate, TenantOut

routes = Routes("/api/v1/tenant", tag="tenants")


@routes.get("", requires=MEMBER)
async def get_own_tenant(ctx: Context) -> TenantOut:
    """Return the tenant the caller acts in, with its plan and limits."""
    return TenantOut.from_record(await own_tenant(ctx))


@routes.patch("", requires="notification_channels:write")
async def update_own_tenant(ctx: Context, body: OwnTenantUpdate) -> TenantOut:
    """Change the settings of the tenant that its own administrators decide.

    `mail_to_outsiders` lets notification nodes of workflows write to addresses that belong to no user of the
    tenant. Null, the default, turns it off.
    """
    return TenantOut.from_record(await tenants.update(ctx, await own_tenant(ctx), sent_fields(body)))
