"""Tenant creation by super administrators. It is part of auth because a tenant needs a first account."""

from retinue.access.models import Role
from retinue.auth import passwords
from retinue.auth.schemas.tenancy import FirstAdmin, TenantCreate
from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.limits import limits_for
from retinue.kit.schema.validation import check_each
from retinue.tenants import service as tenants
from retinue.tenants.models import Plan, Tenant
from retinue.users.email_addresses import validate_email
from retinue.users.errors import EmailTaken
from retinue.users.events import UserCreated
from retinue.users.models import User


async def create(ctx: Context, body: TenantCreate) -> tuple[Tenant, User]:
    """Create the tenant and its first administrator in one transaction."""
    check_each(
        lambda: passwords.validate_password(body.admin.password, "admin.password"),
        lambda: validate_email(body.admin.email, "admin.email"),
    )
    plan = body.plan or Plan(ctx.settings.default_plan)
    limits_for(plan, body.limits)
    hash = await passwords.hash_password(body.admin.password, ctx.settings.password_cost)
    tenant = await tenants.create(ctx, name=body.name, plan=plan, limits=body.limits)
    return tenant, await _first_admin(ctx, body.admin, hash)


async def _first_admin(ctx: Context, body: FirstAdmin, hash: str) -> User:
    """Create the administrator. The address counts as verified: the super administrator vouches for it."""
    admin = User(
        email=body.email,
        password_hash=hash,
        first_name=body.first_name,
        last_name=body.last_name,
        role=Role.tenant_admin,
        email_verified=True,
        is_vouched_for=True,
    )
    try:
        await ctx.db.insert(admin)
    except UniqueViolation as error:
        raise EmailTaken from error
    ctx.emit(UserCreated(user_id=admin.id, email=admin.email, role=admin.role))
    return admin
