"""First start: the default tenant, the roles, and one super administrator."""

import secrets

import sqlalchemy as sa
import structlog

from retinue.access.catalogue import default_permissions
from retinue.access.models import Role, RolePermissions
from retinue.auth import passwords
from retinue.kit.context import Caller, Context
from retinue.kit.db.statements import Statement
from retinue.kit.instance import Instance
from retinue.kit.principal import SYSTEM
from retinue.kit.secrets import Secret
from retinue.tenants.models import Tenant
from retinue.users.events import UserCreated
from retinue.users.models import User

log = structlog.get_logger("retinue.bootstrap")

_ANY_SUPER_ADMIN: Statement[int] = Statement(
    sa.select(sa.func.count())
    .select_from(User.__table__)
    .where(User.__table__.c.role == Role.super_admin.value)
)


async def first_start(instance: Instance) -> Secret | None:
    """Make what a new instance needs; the generated password, when one was."""
    settings = instance.settings
    async with Context(instance, SYSTEM, Caller(correlation_id="cor_bootstrap")) as ctx:
        system = ctx.system("there is no tenant yet")
        for role in Role:
            await system.insert_missing(RolePermissions(id=role, permissions=default_permissions(role)))
        if await system.scalar(_ANY_SUPER_ADMIN):
            return None
        tenant = await system.find(Tenant, is_default=True)
        if tenant is None:
            tenant = await system.insert(Tenant(name="Default", plan=settings.default_plan, is_default=True))
        given = settings.admin_password
        password = given or Secret(f"{secrets.token_urlsafe(12)}aA1")
        hash = await passwords.hashed(password.reveal(), settings.password_cost)
        ctx.act_in(tenant.id)
        admin = await ctx.db.insert(
            User(
                email=settings.admin_email.strip().lower(),
                password_hash=hash,
                first_name="Super",
                last_name="Admin",
                role=Role.super_admin,
                email_verified=True,
            )
        )
        ctx.emit(UserCreated(user_id=admin.id, email=admin.email, role=admin.role))
    return None if given else password
