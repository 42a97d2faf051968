"""A user's own notifications: stored, listed, read and deleted, with their numbers kept beside them."""

import functools
from collections.abc import Iterable
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement, reading
from retinue.kit.ids import new_id
from retinue.kit.lists import MAX_PER_PAGE
from retinue.kit.validation import read_instant
from retinue.notifications.errors import NotificationNotFound
from retinue.notifications.live import LiveInboxes
from retinue.notifications.models import Inbox, UserNotification
from retinue.notifications.schemas import NotificationQuery, ReadAll
from retinue.notifications.words import Notification

_inboxes, _notifications = Inbox.__table__, UserNotification.__table__
_USER: Any = sa.bindparam("of_user")
_NOW: Any = sa.bindparam("now", type_=sa.Text())


def _next_number() -> Statement[Any]:
    given = {
        name: sa.bindparam(name, type_=_inboxes.c[name].type)
        for name in ("id", "created_at", "updated_at", "user_id")
    }
    counted = ("last_number", "total", "unread", "version")
    insert = postgresql.insert(_inboxes).values(given | dict.fromkeys(counted, 1))
    changed = {name: _inboxes.c[name] + 1 for name in counted} | {"updated_at": insert.excluded.updated_at}
    return Statement(
        insert.on_conflict_do_update(index_elements=["tenant_id", "user_id"], set_=changed).returning(
            _inboxes.c.last_number
        )
    )


_NEXT_NUMBER = _next_number()
_HOLD: Statement[Any] = Statement(
    sa.select(_inboxes.c.id).where(_inboxes.c.user_id == _USER).with_for_update()
)
_LEAVE: Statement[Any] = Statement(
    sa.update(_inboxes)
    .where(_inboxes.c.user_id == _USER)
    .values(
        total=_inboxes.c.total - sa.bindparam("gone", type_=sa.BigInteger()),
        unread=_inboxes.c.unread - sa.bindparam("read", type_=sa.BigInteger()),
        version=_inboxes.c.version + 1,
        updated_at=_NOW,
    )
)
_MARK: Statement[Any] = Statement(
    sa.update(_notifications)
    .where(_notifications.c.id == sa.bindparam("notification_id"), _notifications.c.is_unread == sa.true())
    .values(is_unread=sa.false(), read_at=_NOW, updated_at=_NOW)
)


class Found(msgspec.Struct):
    items: list[UserNotification]
    total: int
    unread: int
    page: int
    per_page: int


async def store(ctx: Context, user_ids: Iterable[str], notification: Notification) -> list[str]:
    """Tell these users; the ids of what they were told, in the order of the users."""
    stored = []
    # In one order everywhere, so that two who tell several users never wait for each other.
    for user_id in sorted(set(user_ids)):
        now = ctx.now
        ((number,),) = await ctx.db.execute(
            _NEXT_NUMBER, id=new_id(Inbox.__prefix__), created_at=now, updated_at=now, user_id=user_id
        )
        stored.append(
            UserNotification(
                user_id=user_id,
                number=number,
                type=notification.type,
                title=notification.title,
                message=notification.message,
                data=notification.data,
                priority=notification.priority,
                action_url=notification.action_url,
                correlation_id=ctx.caller.correlation_id,
            )
        )
    await ctx.db.insert_many(stored)
    _tell(ctx, [one.user_id for one in stored])
    return [one.id for one in stored]


async def page(ctx: Context, query: NotificationQuery) -> Found:
    """The newest first; how many there are is known without counting, except of one type."""
    user_id, per_page = ctx.principal.id, min(query.per_page, MAX_PER_PAGE)
    inbox = await find(ctx)
    wanted = {"of_user": user_id} | ({"of_type": query.type} if query.type is not None else {})
    rows, count = _listed(query.read, has_type=query.type is not None)
    if query.type is not None:
        total = int(await ctx.db.scalar(count, **wanted))
    else:
        total = {None: inbox.total, True: inbox.total - inbox.unread, False: inbox.unread}[query.read]
    offset = (query.page - 1) * per_page
    items = []
    if offset < total:
        items = await ctx.db.rows(rows, row_limit=per_page, row_offset=offset, **wanted)
    return Found(items, total, inbox.unread, query.page, per_page)


@functools.cache
def _listed(
    read: bool | None,
    *,
    has_type: bool,
) -> tuple[Statement[UserNotification], Statement[Any]]:
    conditions = [_notifications.c.user_id == _USER]
    if read is not None:
        conditions.append(_notifications.c.is_unread == (sa.false() if read else sa.true()))
    if has_type:
        conditions.append(_notifications.c.type == sa.bindparam("of_type"))
    rows = (
        sa.select(_notifications)
        .where(*conditions)
        .order_by(_notifications.c.number.desc())
        .limit(sa.bindparam("row_limit", type_=sa.BigInteger()))
        .offset(sa.bindparam("row_offset", type_=sa.BigInteger()))
    )
    count = sa.select(sa.func.count()).select_from(_notifications).where(*conditions)
    return reading(UserNotification, rows), Statement(count)


async def find(ctx: Context) -> Inbox:
    """The caller's; an empty one for who was never told anything."""
    found = await ctx.db.find(Inbox, user_id=ctx.principal.id)
    return found or Inbox(user_id=ctx.principal.id)


async def find_own(ctx: Context, notification_id: str) -> UserNotification | None:
    return await ctx.db.find(UserNotification, id=notification_id, user_id=ctx.principal.id)


async def mark_read(ctx: Context, notification: UserNotification) -> UserNotification:
    """Once: what was read stays read when it was."""
    await _hold(ctx)
    if await ctx.db.execute(_MARK, notification_id=notification.id, now=ctx.now):
        await _leave(ctx, read=1)
    marked = await find_own(ctx, notification.id)
    if marked is None:
        raise NotificationNotFound
    return marked


async def mark_all_read(ctx: Context, wanted: ReadAll) -> int:
    """How many that were; `before` is an instant up to which they are."""
    given: dict[str, Any] = {}
    if wanted.type is not None:
        given["of_type"] = wanted.type
    if wanted.before is not None:
        given["before"] = read_instant("before", wanted.before)
    await _hold(ctx)
    statement = _mark_all(has_type="of_type" in given, has_end="before" in given)
    marked = int(await ctx.db.execute(statement, of_user=ctx.principal.id, now=ctx.now, **given))
    if marked:
        await _leave(ctx, read=marked)
    return marked


@functools.cache
def _mark_all(*, has_type: bool, has_end: bool) -> Statement[Any]:
    conditions = [_notifications.c.user_id == _USER, _notifications.c.is_unread == sa.true()]
    if has_type:
        conditions.append(_notifications.c.type == sa.bindparam("of_type"))
    if has_end:
        conditions.append(_notifications.c.created_at <= sa.bindparam("before"))
    return Statement(
        sa.update(_notifications)
        .where(*conditions)
        .values(is_unread=sa.false(), read_at=_NOW, updated_at=_NOW)
    )


async def delete(ctx: Context, notification: UserNotification) -> None:
    await _hold(ctx)
    held = await find_own(ctx, notification.id)
    if held is None:
        raise NotificationNotFound
    await ctx.db.delete(held)
    await _leave(ctx, gone=1, read=int(held.is_unread))


async def _hold(ctx: Context) -> None:
    """Whoever changes a user's notifications holds the inbox first, so that none waits for another's rows."""
    await ctx.unit_of_work.begin()
    await ctx.db.rows(_HOLD, of_user=ctx.principal.id)


async def _leave(ctx: Context, *, gone: int = 0, read: int = 0) -> None:
    await ctx.db.execute(_LEAVE, of_user=ctx.principal.id, gone=gone, read=read, now=ctx.now)
    _tell(ctx, [ctx.principal.id])


def _tell(ctx: Context, user_ids: list[str]) -> None:
    """Those who listen in this process hear of it at the commit, those elsewhere within a second."""
    inboxes = ctx.adapter(LiveInboxes)

    async def wake() -> None:
        inboxes.wake(user_ids)

    ctx.after_commit(wake)
