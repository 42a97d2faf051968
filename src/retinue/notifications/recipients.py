"""Who is told: users by their id, by their role, or everyone; each of them once, and not twice the same."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.access.models import Role
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement, reading
from retinue.kit.errors import Invalid
from retinue.kit.ids import new_id
from retinue.notifications.models import SeenKey
from retinue.notifications.schemas import MOST_RECIPIENTS
from retinue.notifications.words import Recipients
from retinue.users.models import User, UserStatus

ADMINISTRATORS = (Role.tenant_admin, Role.super_admin)
DEDUPED_S = 24 * 3600

_users, _keys = User.__table__, SeenKey.__table__


def _see() -> Statement[Any]:
    given = {
        name: sa.bindparam(name, type_=_keys.c[name].type)
        for name in SeenKey.__struct_fields__
        if name != "tenant_id"
    }
    insert = postgresql.insert(_keys).values(given)
    changed = {"seen_at": insert.excluded.seen_at, "updated_at": insert.excluded.updated_at}
    return Statement(
        insert.on_conflict_do_update(
            index_elements=["tenant_id", "user_id", "key"],
            set_=changed,
            where=_keys.c.seen_at < sa.bindparam("long_ago", type_=sa.Text()),
        ).returning(_keys.c.user_id)
    )


_SEE = _see()


async def resolve(ctx: Context, recipients: Recipients) -> list[User]:
    """The active ones of them, in the order of their ids."""
    wanted: list[Any] = []
    if recipients.user_ids:
        wanted.append(_users.c.id.in_([sa.literal(id) for id in sorted(set(recipients.user_ids))]))
    if recipients.roles:
        wanted.append(_users.c.role.in_([sa.literal(role.value) for role in sorted(set(recipients.roles))]))
    if recipients.is_everyone:
        wanted = [sa.true()]
    if not wanted:
        return []
    source = (
        sa.select(_users)
        .where(sa.or_(*wanted), _users.c.status == UserStatus.active.value)
        .order_by(_users.c.id)
        .limit(MOST_RECIPIENTS + 1)
    )
    found = await ctx.db.rows(reading(User, source))
    if len(found) > MOST_RECIPIENTS:
        field = "all" if recipients.is_everyone else "roles"
        raise Invalid({field: f"are more than {MOST_RECIPIENTS} users; name them in several requests"})
    return found


async def require_users(ctx: Context, user_ids: Sequence[str], field: str) -> None:
    """Refuse ids that name nobody of the tenant."""
    if not user_ids:
        return
    wanted: Statement[Any] = Statement(
        sa.select(_users.c.id).where(_users.c.id.in_([sa.literal(id) for id in sorted(set(user_ids))]))
    )
    known = {row[0] for row in await ctx.db.rows(wanted)}
    if not set(user_ids) <= known:
        raise Invalid({field: "there is no such user: " + ", ".join(sorted(set(user_ids) - known)[:5])})


async def not_told_yet(ctx: Context, users: list[User], key: str) -> list[User]:
    """Those whom nobody told anything under this key within a day; from now on they count as told."""
    if not key:
        return users
    new = []
    for user in users:
        now = ctx.now
        seen = {"id": new_id(SeenKey.__prefix__), "created_at": now, "updated_at": now, "seen_at": now}
        if await ctx.db.execute(_SEE, **seen, user_id=user.id, key=key, long_ago=ctx.clock.ahead(-DEDUPED_S)):
            new.append(user)
    return new
