from retinue.kit.context import Context
from retinue.kit.lists import Listing
from retinue.tenants.models import Tenant

TENANTS = Listing(Tenant, searches=("name",), sorts=("created_at", "name"), filters=("plan",))


async def find_tenant(ctx: Context, tenant_id: str) -> Tenant | None:
    """Any tenant: for the super administrator, and for the tenant itself."""
    return await ctx.system("tenants are no tenant's rows").get(Tenant, tenant_id)


async def own_tenant(ctx: Context) -> Tenant:
    tenant = await find_tenant(ctx, ctx.tenant_id)
    assert tenant is not None
    return tenant
