"""From a bearer token to a principal: one query on every request, so an ended session is over at once."""

from functools import lru_cache
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.access.models import RolePermissions
from retinue.auth.events import TenantActedIn
from retinue.auth.models import Session
from retinue.kit.context import Caller, Context
from retinue.kit.db.configuration import stamp_of
from retinue.kit.db.session import Db, SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.unit import Unit
from retinue.kit.errors import Unauthorized
from retinue.kit.http.request import Request
from retinue.kit.http.routing import SIGNED_IN, is_plausible
from retinue.kit.instance import Instance
from retinue.kit.limits import PlanLimits, limits_for
from retinue.kit.principal import ANONYMOUS, Principal
from retinue.kit.remembering import heard
from retinue.tenants.errors import TenantNotFound
from retinue.tenants.listening import unheard_until
from retinue.tenants.models import Tenant
from retinue.users.models import User, UserStatus

_sessions, _users, _tenants = Session.__table__, User.__table__, Tenant.__table__
_roles = RolePermissions.__table__

_WHO: Statement[Any] = Statement(
    sa.select(
        _users.c.id,
        _users.c.role,
        _roles.c.permissions,
        _sessions.c.second_factor_at,
        _tenants.c.plan,
        _tenants.c.limits,
        _tenants.c.is_listened_to,
        stamp_of(_sessions.c.tenant_id),
    )
    .select_from(
        _sessions.join(
            _users, sa.and_(_users.c.tenant_id == _sessions.c.tenant_id, _users.c.id == _sessions.c.user_id)
        )
        .join(_tenants, _tenants.c.id == _sessions.c.tenant_id)
        .join(_roles, _roles.c.id == _users.c.role)
    )
    .where(
        _sessions.c.id == sa.bindparam("session_id"),
        _sessions.c.expires_at > sa.bindparam("now"),
        _users.c.status == UserStatus.active.value,
    )
)


async def authenticate(instance: Instance, request: Request) -> Principal:
    header = request.headers.get(b"authorization")
    if header is None:
        raise Unauthorized("missing_token", "Send an access token as `Authorization: Bearer …`.")
    scheme, _, token = header.decode("latin-1").partition(" ")
    if scheme.lower() != "bearer":
        raise Unauthorized("invalid_token", "The Authorization header must be `Bearer <access token>`.")
    # A stream asks again and again while it is open: the session must live, the token was good when it came.
    claims = instance.tokens.verify(token.strip(), "access", request.arrived_at)
    unit = Unit(instance.database, reads_freely=True)
    row = await Db(unit, instance.clock, instance.ring, claims.tid).first(
        _WHO, session_id=claims.sid, now=instance.clock.now()
    )
    if row is None:
        raise Unauthorized("session_ended", "The session has ended; sign in again.")
    user_id, role, permissions, second_factor_at, plan, limits, is_listened_to, stamp = row
    principal = Principal(
        kind="user",
        id=user_id,
        tenant_id=claims.tid,
        role=role,
        permissions=_permission_set(permissions),
        session_id=claims.sid,
        second_factor_at=second_factor_at or "",
        limits=_plan_limits(plan, limits),
        configuration=heard(instance.clock, stamp),
        unheard_until=unheard_until(instance.clock, is_listened_to=is_listened_to),
    )
    elsewhere = request.headers.get(b"x-tenant-id")
    if elsewhere is None or not principal.is_super_admin or request.route.requires is SIGNED_IN:
        return principal
    return await _acting_in(instance, request, principal, elsewhere.decode("latin-1"))


async def _acting_in(instance: Instance, request: Request, principal: Principal, tenant_id: str) -> Principal:
    """The super administrator as someone of another tenant; nobody else's header is even read."""
    if tenant_id == principal.tenant_id:
        return principal
    unit = Unit(instance.database, reads_freely=True)
    system = SystemDb(unit, instance.clock, instance.ring)
    tenant = await system.get(Tenant, tenant_id) if is_plausible(tenant_id) else None
    if tenant is None:
        raise TenantNotFound
    acting = msgspec.structs.replace(
        principal,
        tenant_id=tenant_id,
        home_tenant_id=principal.tenant_id,
        configuration=None,
        unheard_until=unheard_until(instance.clock, is_listened_to=tenant.is_listened_to),
    )
    # An open stream is authenticated again and again; only the first time is a request.
    if request.principal is ANONYMOUS:
        await _audit(instance, request, acting)
    return acting


async def _audit(instance: Instance, request: Request, principal: Principal) -> None:
    """Before the request does anything, in the tenant it is done to."""
    caller = Caller(
        correlation_id=request.correlation_id,
        ip_address=request.ip_address,
        user_agent=request.header(b"user-agent")[:512],
    )
    async with Context(instance, principal, caller) as ctx:
        ctx.emit(TenantActedIn(user_id=principal.id, method=request.method, path=request.path[:500]))


# The stored text is the key: a changed role or plan is another text, so nothing has to be invalidated.
@lru_cache(maxsize=256)
def _permission_set(stored: str) -> frozenset[str]:
    return frozenset(msgspec.json.decode(stored))


@lru_cache(maxsize=4096)
def _plan_limits(plan: str, stored: str) -> PlanLimits:
    return limits_for(plan, msgspec.json.decode(stored))
