"""From a bearer token to a principal: one query, on every request, so that an ended session is over at once."""

from functools import lru_cache
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.access.models import RolePermissions
from retinue.auth.models import Session
from retinue.kit.db.session import Db, Unit
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Unauthorized
from retinue.kit.http.request import Request
from retinue.kit.instance import Instance
from retinue.kit.limits import PlanLimits, limits_for
from retinue.kit.principal import Principal
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
    claims = instance.tokens.verify(token.strip(), "access")
    unit = Unit(instance.database, reads_freely=True)
    row = await Db(unit, instance.clock, instance.ring, claims.tid).first(
        _WHO, session_id=claims.sid, now=instance.clock.now()
    )
    if row is None:
        raise Unauthorized("session_ended", "The session has ended; sign in again.")
    user_id, role, permissions, second_factor_at, plan, limits = row
    return Principal(
        kind="user",
        id=user_id,
        tenant_id=claims.tid,
        role=role,
        permissions=_permission_set(permissions),
        session_id=claims.sid,
        second_factor_at=second_factor_at or "",
        limits=_plan_limits(plan, limits),
    )


# The stored text is the key: a changed role or plan is another text, so nothing has to be invalidated.
@lru_cache(maxsize=256)
def _permission_set(stored: str) -> frozenset[str]:
    return frozenset(msgspec.json.decode(stored))


@lru_cache(maxsize=4096)
def _plan_limits(plan: str, stored: str) -> PlanLimits:
    return limits_for(plan, msgspec.json.decode(stored))
