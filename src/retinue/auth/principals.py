"""Bearer token to principal: the stamp is read with each request, so that an ended session stops at once."""

from functools import lru_cache

import msgspec
import sqlalchemy as sa

from retinue.access.models import RolePermissions
from retinue.auth.events import TenantActedIn
from retinue.auth.models import Session
from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.db.session import Db, SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.errors import TenantNotFound, Unauthorized
from retinue.kit.http.request import Request
from retinue.kit.http.routing import is_plausible_id
from retinue.kit.limits import PlanLimits, limits_for
from retinue.kit.principal import ANONYMOUS, Principal
from retinue.kit.principal_cache import LoadedPrincipal, find_principal
from retinue.kit.tokens import Claims
from retinue.service_accounts import principals as service_accounts
from retinue.tenants.event_listeners import no_listeners_until
from retinue.tenants.models import Tenant
from retinue.users.admission import restriction_of
from retinue.users.models import User, UserStatus

_sessions, _users, _tenants = Session.__table__, User.__table__, Tenant.__table__
_roles = RolePermissions.__table__

_READING = frozenset({"GET", "HEAD"})
_HOUR_LENGTH = len("2026-11-15T08")

_PRINCIPAL_BY_SESSION = Statement(
    sa.select(
        _users.c.id,
        _users.c.role,
        _roles.c.permissions,
        _sessions.c.second_factor_at,
        _tenants.c.plan,
        _tenants.c.limits,
        _tenants.c.is_listened_to,
        _sessions.c.expires_at,
        _users.c.is_pending,
        _users.c.is_vouched_for,
        _users.c.email_verified,
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
    # An open stream is reauthenticated repeatedly: the token need only have been valid on arrival.
    claims = instance.tokens.verify(token.strip(), "access", request.arrived_at)
    if claims.extra.get("kind") == service_accounts.TOKEN_KIND:
        return await service_accounts.authenticate(instance, request, claims)
    principal = await find_principal(
        instance, claims.tid, (claims.tid, claims.sid), lambda: _load(instance, claims)
    )
    if principal is None:
        raise Unauthorized("session_ended", "The session has ended. Sign in again.")
    requested_tenant = request.headers.get(b"x-tenant-id")
    if requested_tenant is None or not request.route.takes_tenant_id:
        return principal
    if not principal.is_super_admin or principal.restriction is not None:
        return principal
    return await _acting_in(instance, request, principal, requested_tenant.decode("latin-1"))


async def _load(instance: Instance, claims: Claims) -> LoadedPrincipal | None:
    unit = UnitOfWork(instance.database, reads_outside_transaction=True)
    row = await Db(unit, instance.clock, instance.ring, claims.tid).first(
        _PRINCIPAL_BY_SESSION, session_id=claims.sid, now=instance.clock.now()
    )
    if row is None:
        return None
    user_id, role, permissions, second_factor_at, plan, limits, is_listened_to, expires_at, *admission = row
    is_pending, is_vouched_for, email_verified = map(bool, admission)
    restriction = restriction_of(
        instance.settings,
        is_pending=is_pending,
        is_vouched_for=is_vouched_for,
        email_verified=email_verified,
    )
    principal = Principal(
        kind="user",
        id=user_id,
        tenant_id=claims.tid,
        role=role,
        permissions=_permission_set(permissions) if restriction is None else frozenset(),
        restriction=restriction,
        session_id=claims.sid,
        second_factor_at=second_factor_at or "",
        limits=_plan_limits(plan, limits),
    )
    return LoadedPrincipal(principal, expires_at, bool(is_listened_to))


async def _acting_in(instance: Instance, request: Request, principal: Principal, tenant_id: str) -> Principal:
    """Return the super administrator as a principal of another tenant."""
    if tenant_id == principal.tenant_id:
        return principal
    unit = UnitOfWork(instance.database, reads_outside_transaction=True)
    system = SystemDb(unit, instance.clock, instance.ring)
    tenant = await system.get(Tenant, tenant_id) if is_plausible_id(tenant_id) else None
    if tenant is None:
        raise TenantNotFound
    acting = msgspec.structs.replace(
        principal,
        tenant_id=tenant_id,
        home_tenant_id=principal.tenant_id,
        config_version=None,
        no_listeners_until=no_listeners_until(instance.clock, is_listened_to=tenant.is_listened_to),
    )
    # An open stream is reauthenticated repeatedly; only its first authentication is a request.
    if request.principal is ANONYMOUS and not _is_known_reader(instance, request, acting):
        await _audit(instance, request, acting)
        _remember_reader(instance, request, acting)
    return acting


class TenantReaders:
    """Which sessions have been recorded as reading in another tenant, in this process and hour.

    A page of the console makes several reads: one row for each would bury what was changed.
    """

    def __init__(self) -> None:
        self._hour = ""
        self._recorded: set[tuple[str, str, str]] = set()

    def of_hour(self, hour: str) -> set[tuple[str, str, str]]:
        if hour != self._hour:
            self._hour, self._recorded = hour, set()
        return self._recorded


def _is_known_reader(instance: Instance, request: Request, principal: Principal) -> bool:
    return request.method in _READING and _reader(principal) in _readers_now(instance)


def _remember_reader(instance: Instance, request: Request, principal: Principal) -> None:
    if request.method in _READING:
        _readers_now(instance).add(_reader(principal))


def _reader(principal: Principal) -> tuple[str, str, str]:
    return principal.id, principal.session_id, principal.tenant_id


def _readers_now(instance: Instance) -> set[tuple[str, str, str]]:
    readers: TenantReaders = instance.states[TenantReaders]
    return readers.of_hour(instance.clock.now()[:_HOUR_LENGTH])


async def _audit(instance: Instance, request: Request, principal: Principal) -> None:
    """Record the request in the tenant it acts in, before it does anything."""
    caller = Caller(
        correlation_id=request.correlation_id,
        ip_address=request.ip_address,
        user_agent=request.header(b"user-agent")[:512],
    )
    async with Context(instance, principal, caller) as ctx:
        ctx.emit(TenantActedIn(user_id=principal.id, method=request.method, path=request.path[:500]))


# Keyed by the stored text: a changed role or plan has a different text, so nothing has to be invalidated.
@lru_cache(maxsize=256)
def _permission_set(stored: str) -> frozenset[str]:
    return frozenset(msgspec.json.decode(stored))


@lru_cache(maxsize=4096)
def _plan_limits(plan: str, stored: str) -> PlanLimits:
    return limits_for(plan, msgspec.json.decode(stored))
