"""Requests for permissions, and the administrators who can grant them."""

from typing import Any

import sqlalchemy as sa

from retinue.access.catalogue import PERMISSION_KEYS
from retinue.access.models import Role
from retinue.access.queries import permissions_of
from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.errors import Invalid
from retinue.users.admission import admitted_users
from retinue.users.errors import AccessAlreadyRequested, PermissionAlreadyHeld
from retinue.users.events import AccessRequested
from retinue.users.models import AccessRequest, User
from retinue.users.schemas import AccessRequestCreate

MAX_REQUESTS_PER_HOUR = 10
OPEN_SECONDS = 7 * 86_400
_MAX_ADMINISTRATORS = 20
_GRANTING = "admin:users"

_users = User.__table__


async def find_administrators(ctx: Context) -> list[User]:
    """Return the active users of the tenant who can change roles, by name."""
    roles = [role.value for role in Role if _GRANTING in await permissions_of(ctx, role)]
    statement: Statement[Any] = record_statement(
        User,
        sa.select(_users)
        .where(in_list(_users.c.role, "roles"), admitted_users(ctx.settings))
        .order_by(_users.c.first_name, _users.c.last_name, _users.c.id)
        .limit(_MAX_ADMINISTRATORS),
    )
    return await ctx.db.rows(statement, roles=list_parameter(roles))


async def request_access(ctx: Context, body: AccessRequestCreate) -> AccessRequest:
    """Ask the administrators for a permission; a request stays open for seven days."""
    me = ctx.principal
    if body.permission not in PERMISSION_KEYS:
        raise Invalid({"permission": "there is no such permission"})
    if me.may(body.permission):
        raise PermissionAlreadyHeld
    decision = await ctx.instance.limiter.hit_window(f"access-requests:{me.id}", MAX_REQUESTS_PER_HOUR, 3600)
    if not decision.allowed:
        raise decision.refusal()
    note = body.note.strip()
    asked = AccessRequest(user_id=me.id, permission=body.permission, note=note, asked_at=ctx.now)
    if not await ctx.db.insert_missing(asked):
        asked = await _renew(ctx, body.permission, note)
    ctx.emit(AccessRequested(user_id=me.id, permission=body.permission, note=note))
    return asked


async def _renew(ctx: Context, permission: str, note: str) -> AccessRequest:
    found = await ctx.db.find(AccessRequest, user_id=ctx.principal.id, permission=permission)
    locked = await ctx.db.lock(AccessRequest, found.id) if found else None
    if locked is None or locked.asked_at > ctx.clock.ahead(-OPEN_SECONDS):
        raise AccessAlreadyRequested
    await ctx.db.update(locked, note=note, asked_at=ctx.now)
    return locked
