from typing import Annotated

from retinue.auth import tenancy
from retinue.auth.schemas.tenancy import FirstAdminOut, TenantCreate, TenantCreatedOut
from retinue.kit.context import Context
from retinue.kit.errors import TenantNotFound
from retinue.kit.http.routing import PathLoader, Routes
from retinue.kit.lists import Page
from retinue.kit.schema.base import sent_fields
from retinue.tenants import service as tenants
from retinue.tenants.models import Tenant
from retinue.tenants.queries import find_tenant, page_of_tenants
from retinue.tenants.schemas import TenantList, TenantOut, TenantUpdate
from retinue.users.errors import EmailTaken

routes = Routes("/api/v1/tenants", tag="tenants")

TenantById = Annotated[Tenant, PathLoader("tenant_id", find_tenant, TenantNotFound)]


@routes.get("", requires="admin:tenants")
async def list_tenants(ctx: Context, query: TenantList) -> Page[TenantOut]:
    """List all tenants of the instance, newest first by default."""
    page = await page_of_tenants(ctx, query)
    return page.to_page(TenantOut.from_record)


@routes.post("", requires="admin:tenants", status=201, errors=(EmailTaken,))
async def create_tenant(ctx: Context, body: TenantCreate) -> TenantCreatedOut:
    """Create a tenant together with its first administrator.

    No mail is sent: give the password to the administrator yourself.
    """
    tenant, admin = await tenancy.create(ctx, body)
    return TenantCreatedOut.of(TenantOut.from_record(tenant), admin=FirstAdminOut.of(admin))


@routes.get("/{tenant_id}", requires="admin:tenants")
async def get_tenant(ctx: Context, tenant: TenantById) -> TenantOut:  # noqa: ARG001  every handler takes it
    """Return one tenant with its plan and limits."""
    return TenantOut.from_record(tenant)


@routes.put("/{tenant_id}", requires="admin:tenants")
async def update_tenant(ctx: Context, tenant: TenantById, body: TenantUpdate) -> TenantOut:
    """Change the name, plan, limits or trace sample of a tenant; fields that are not sent stay unchanged.

    Limits apply from the tenant's next request.
    """
    return TenantOut.from_record(await tenants.update(ctx, tenant, sent_fields(body)))
