from retinue.kit.context import Context
from retinue.kit.lists import Listing, Slice
from retinue.tenants.models import Tenant
from retinue.tenants.schemas import TenantList

_TENANTS = Listing(
    Tenant, searches=("name",), sorts=("created_at", "updated_at", "name", "plan"), filters=("plan",)
)


async def find_tenant(ctx: Context, tenant_id: str) -> Tenant | None:
    """Return any tenant; callers must be super administrators or pass their own tenant id."""
    return await ctx.system("tenants are no tenant's rows").get(Tenant, tenant_id)


async def own_tenant(ctx: Context) -> Tenant:
    tenant = await find_tenant(ctx, ctx.tenant_id)
    assert tenant is not None
    return tenant


async def page_of_tenants(ctx: Context, query: TenantList) -> Slice[Tenant]:
    return await _TENANTS.page(ctx.system("the super administrator's list"), query)
