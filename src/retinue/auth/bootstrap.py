"""First start: the default tenant, the roles, and one super administrator."""

import secrets

import sqlalchemy as sa

from retinue.access.models import Role
from retinue.access.service import prepare_roles
from retinue.auth import passwords
from retinue.kit.context import Caller, Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.db.statements import Statement
from retinue.kit.instance import Instance
from retinue.kit.principal import SYSTEM
from retinue.kit.secrets import Secret
from retinue.tenants.models import Plan, Tenant
from retinue.users.addresses import check_address, kept_form
from retinue.users.errors import EmailTaken
from retinue.users.events import UserCreated
from retinue.users.models import User

_users = User.__table__
_SUPER_ADMINS: Statement[int] = Statement(
    sa.select(sa.func.count()).select_from(_users).where(_users.c.role == Role.super_admin.value)
)


async def first_start(instance: Instance) -> Secret | None:
    """Make what a new instance needs; the generated password, when one was."""
    async with _context(instance) as ctx:
        await _prepare(ctx)
        if await _has_super_admin(ctx):
            return None
    settings = instance.settings
    password = settings.admin_password or Secret(f"{secrets.token_urlsafe(12)}aA1")
    password_hash = await passwords.hashed(password.reveal(), settings.password_cost)
    async with _context(instance) as ctx:
        await _prepare(ctx)
        # Another process may have started at the same moment; its administrator is as good as ours.
        if await _has_super_admin(ctx):
            return None
        await _insert_admin(ctx, kept_form(settings.admin_email), password_hash)
    return None if settings.admin_password else password


async def create_admin(instance: Instance, email: str, password: str) -> User:
    """One more super administrator, in the default tenant; `EmailTaken` when the address has an account."""
    address = kept_form(email)
    check_address(address)
    passwords.check_rule(password)
    password_hash = await passwords.hashed(password, instance.settings.password_cost)
    async with _context(instance) as ctx:
        await _prepare(ctx)
        try:
            return await _insert_admin(ctx, address, password_hash)
        except UniqueViolation:
            raise EmailTaken from None


def _context(instance: Instance) -> Context:
    return Context(instance, SYSTEM, Caller(correlation_id="cor_bootstrap"))


async def _prepare(ctx: Context) -> None:
    """The roles and the default tenant; the rows of the roles are held, so only one process is here."""
    await prepare_roles(ctx)
    system = ctx.system("there may be no tenant yet")
    tenant = await system.find(Tenant, is_default=True)
    if tenant is None:
        tenant = Tenant(name="Default", plan=Plan(ctx.settings.default_plan), is_default=True)
        await system.insert(tenant)
    ctx.act_in(tenant.id)


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
        )
    )
    ctx.emit(UserCreated(user_id=admin.id, email=admin.email, role=admin.role))
    return admin
