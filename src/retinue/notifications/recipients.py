"""Resolution of recipients: by id, by role or everyone, each user once, with deduplication."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.access.models import Role
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.errors import Invalid
from retinue.kit.ids import new_id
from retinue.notifications.models import DedupeKey
from retinue.notifications.notification import Recipients
from retinue.notifications.schemas import MAX_RECIPIENTS
from retinue.users.admission import admitted_users
from retinue.users.models import User

ADMINISTRATORS = (Role.tenant_admin, Role.super_admin)
DEDUPE_WINDOW_SECONDS = 24 * 3600

_users, _keys = User.__table__, DedupeKey.__table__


def _claim_key_statement() -> Statement[Any]:
    given = {
        name: sa.bindparam(name, type_=_keys.c[name].type)
        for name in DedupeKey.__struct_fields__
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


_CLAIM_KEY = _claim_key_statement()


async def resolve_users(ctx: Context, recipients: Recipients) -> list[User]:
    """Return the active, admitted users among the recipients, ordered by id."""
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
        .where(sa.or_(*wanted), admitted_users(ctx.settings))
        .order_by(_users.c.id)
        .limit(MAX_RECIPIENTS + 1)
    )
    users = await ctx.db.rows(record_statement(User, source))
    if len(users) > MAX_RECIPIENTS:
        field = "all" if recipients.is_everyone else "roles"
        raise Invalid({field: f"must be at most {MAX_RECIPIENTS} users; split them over several requests"})
    return users


async def require_users(ctx: Context, user_ids: Sequence[str], field: str) -> None:
    """Refuse ids that are not users of the tenant."""
    if not user_ids:
        return
    wanted: Statement[Any] = Statement(
        sa.select(_users.c.id).where(_users.c.id.in_([sa.literal(id) for id in sorted(set(user_ids))]))
    )
    known = {row[0] for row in await ctx.db.rows(wanted)}
    if not set(user_ids) <= known:
        raise Invalid({field: "there is no such user: " + ", ".join(sorted(set(user_ids) - known)[:5])})


async def claim_dedupe_key(ctx: Context, users: list[User], key: str) -> list[User]:
    """Return the users not notified under this key within a day, and record them as notified."""
    if not key:
        return users
    new = []
    for user in users:
        now = ctx.now
        seen = {"id": new_id(DedupeKey.__prefix__), "created_at": now, "updated_at": now, "seen_at": now}
        if await ctx.db.execute(
            _CLAIM_KEY, **seen, user_id=user.id, key=key, long_ago=ctx.clock.ahead(-DEDUPE_WINDOW_SECONDS)
        ):
            new.append(user)
    return new
