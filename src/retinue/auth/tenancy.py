"""Tenants as the super administrator sees them; here, because a tenant is born with its first account."""

from retinue.access.models import Role
from retinue.auth import passwords
from retinue.auth.schemas.tenancy import FirstAdmin, TenantCreate
from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.limits import limits_for
from retinue.tenants import service as tenants
from retinue.tenants.models import Plan, Tenant
from retinue.users.addresses import check_address
from retinue.users.errors import EmailTaken
from retinue.users.events import UserCreated
from retinue.users.models import User


async def create(ctx: Context, body: TenantCreate) -> tuple[Tenant, User]:
    """The tenant and its first administrator, in one transaction."""
    passwords.check_rule(body.admin.password, "admin.password")
    check_address(body.admin.email, "admin.email")
    plan = body.plan or Plan(ctx.settings.default_plan)
    limits_for(plan, body.limits)
    hash = await passwords.hashed(body.admin.password, ctx.settings.password_cost)
    tenant = await tenants.create(ctx, name=body.name, plan=plan, limits=body.limits)
    return tenant, await _first_admin(ctx, body.admin, hash)


async def _first_admin(ctx: Context, body: FirstAdmin, hash: str) -> User:
    """Whoever runs the instance vouches for the address, so it counts as verified."""
    admin = User(
        email=body.email,
        password_hash=hash,
        first_name=body.first_name,
        last_name=body.last_name,
        role=Role.tenant_admin,
        email_verified=True,
    )
    try:
        await ctx.db.insert(admin)
    except UniqueViolation as error:
        raise EmailTaken from error
    ctx.emit(UserCreated(user_id=admin.id, email=admin.email, role=admin.role))
    return admin
