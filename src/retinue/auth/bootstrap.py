"""First start: the default tenant, the roles, and one super administrator."""

import secrets

import sqlalchemy as sa

from retinue.access.models import Role
from retinue.access.service import create_missing_roles
from retinue.auth import passwords
from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.db.statements import Statement
from retinue.kit.errors import CannotStart, Invalid
from retinue.kit.principal import SYSTEM
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.tenants.models import Plan, Tenant
from retinue.users.email_addresses import normalize_email, validate_email
from retinue.users.errors import EmailTaken
from retinue.users.events import UserCreated
from retinue.users.models import User

_users = User.__table__
_SUPER_ADMINS = Statement(
    sa.select(sa.func.count()).select_from(_users).where(_users.c.role == Role.super_admin.value)
)


async def bootstrap_instance(instance: Instance) -> Secret | None:
    """Create what a new instance needs; return the administrator's password if it was generated."""
    async with _context(instance) as ctx:
        await _create_roles_and_tenant(ctx)
        if await _has_super_admin(ctx):
            return None
    settings = instance.settings
    address = _configured_address(settings)
    password = settings.admin_password or Secret(f"{secrets.token_urlsafe(12)}aA1")
    password_hash = await passwords.hash_password(password.reveal(), settings.password_cost)
    async with _context(instance) as ctx:
        await _create_roles_and_tenant(ctx)
        # Another process may have created its administrator since the first check.
        if await _has_super_admin(ctx):
            return None
        await _insert_admin(ctx, address, password_hash)
    return None if settings.admin_password else password


def _configured_address(settings: Settings) -> str:
    address = normalize_email(settings.admin_email)
    try:
        validate_email(address)
    except Invalid as error:
        problem = (error.details or {}).get("email", error.message)
        raise CannotStart(f"RETINUE_ADMIN_EMAIL {problem}") from error
    return address


async def create_admin(instance: Instance, email: str, password: str) -> User:
    """Create a super administrator in the default tenant; raise `EmailTaken` for a used address."""
    address = normalize_email(email)
    validate_email(address)
    passwords.validate_password(password)
    password_hash = await passwords.hash_password(password, instance.settings.password_cost)
    async with _context(instance) as ctx:
        await _create_roles_and_tenant(ctx)
        try:
            return await _insert_admin(ctx, address, password_hash)
        except UniqueViolation:
            raise EmailTaken from None


def _context(instance: Instance) -> Context:
    return Context(instance, SYSTEM, Caller(correlation_id="cor_bootstrap"))


async def _create_roles_and_tenant(ctx: Context) -> None:
    """Create the roles and the default tenant. The role rows are locked, so processes take turns."""
    await create_missing_roles(ctx)
    system = ctx.system("there may be no tenant yet")
    tenant = await system.find(Tenant, is_default=True)
    if tenant is None:
        tenant = Tenant(name="Default", plan=Plan(ctx.settings.default_plan), is_default=True)
        await system.insert(tenant)
    ctx.bind_tenant(tenant.id)


async def _has_super_admin(ctx: Context) -> bool:
    return bool(await ctx.system("an administrator may be in any tenant").scalar(_SUPER_ADMINS))


async def _insert_admin(ctx: Context, email: str, password_hash: str) -> User:
    admin = await ctx.db.insert(
        User(
            email=email,
            password_hash=password_hash,
            first_name="Super",
            last_name="Admin",
            role=Role.super_admin,
            email_verified=True,
            is_vouched_for=True,
        )
    )
    ctx.emit(UserCreated(user_id=admin.id, email=admin.email, role=admin.role))
    return admin
