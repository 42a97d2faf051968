from typing import Annotated

from retinue.auth import tenancy
from retinue.auth.schemas.tenancy import FirstAdminOut, TenantCreate, TenantCreated
from retinue.kit.context import Context
from retinue.kit.http.routing import Loaded, Routes
from retinue.kit.lists import Page
from retinue.kit.schemas import given
from retinue.tenants import service as tenants
from retinue.tenants.errors import TenantNotFound
from retinue.tenants.models import Tenant
from retinue.tenants.queries import find_tenant, page_of_tenants
from retinue.tenants.schemas import TenantList, TenantOut, TenantUpdate
from retinue.users.errors import EmailTaken

routes = Routes("/api/v1/tenants", tag="tenants")

TenantById = Annotated[Tenant, Loaded("tenant_id", find_tenant, TenantNotFound)]


@routes.get("", requires="admin:tenants")
async def list_tenants(ctx: Context, query: TenantList) -> Page[TenantOut]:
    found = await page_of_tenants(ctx, query)
    return found.shown(TenantOut.shown)


@routes.post("", requires="admin:tenants", status=201, errors=(EmailTaken,))
async def create_tenant(ctx: Context, body: TenantCreate) -> TenantCreated:
    tenant, admin = await tenancy.create(ctx, body)
    return TenantCreated.of(TenantOut.shown(tenant), admin=FirstAdminOut.of(admin))


@routes.get("/{tenant_id}", requires="admin:tenants")
async def get_tenant(ctx: Context, tenant: TenantById) -> TenantOut:  # noqa: ARG001  every handler takes it
    return TenantOut.shown(tenant)


@routes.put("/{tenant_id}", requires="admin:tenants")
async def update_tenant(ctx: Context, tenant: TenantById, body: TenantUpdate) -> TenantOut:
    return TenantOut.shown(await tenants.update(ctx, tenant, given(body)))
