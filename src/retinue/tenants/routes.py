from retinue.kit.context import Context
from retinue.kit.http.routing import MEMBER, Routes
from retinue.tenants.queries import own_tenant
from retinue.tenants.schemas import TenantOut

routes = Routes("/api/v1/tenant", tag="tenants")


@routes.get("", requires=MEMBER)
async def get_own_tenant(ctx: Context) -> TenantOut:
    """Return the tenant the caller acts in, with its plan and limits."""
    return TenantOut.shown(await own_tenant(ctx))
