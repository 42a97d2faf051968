"""A user's notifications: store, list, mark as read, delete. Their counts are kept in the inbox row."""

import functools
from collections.abc import Iterable
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.context.references import Referrer
from retinue.kit.conversation_ids import conversation_ids_or_none as stored_ids
from retinue.kit.db.json_items import json_value
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.ids import new_id
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import MAX_PER_PAGE
from retinue.kit.schema.validation import read_instant
from retinue.notifications.errors import NotificationNotFound
from retinue.notifications.live_inboxes import LiveInboxes
from retinue.notifications.models import Inbox, UserNotification
from retinue.notifications.notification import Notification
from retinue.notifications.schemas import NotificationQuery, ReadAll

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
_LOCK_INBOX = Statement(sa.select(_inboxes.c.id).where(_inboxes.c.user_id == _USER).with_for_update())
_SUBTRACT = Statement(
    sa.update(_inboxes)
    .where(_inboxes.c.user_id == _USER)
    .values(
        total=_inboxes.c.total - sa.bindparam("gone", type_=sa.BigInteger()),
        unread=_inboxes.c.unread - sa.bindparam("read", type_=sa.BigInteger()),
        version=_inboxes.c.version + 1,
        updated_at=_NOW,
    )
)
_MARK = Statement(
    sa.update(_notifications)
    .where(_notifications.c.id == sa.bindparam("notification_id"), _notifications.c.is_unread == sa.true())
    .values(is_unread=sa.false(), read_at=_NOW, updated_at=_NOW)
)


class InboxSlice(msgspec.Struct):
    items: list[UserNotification]
    total: int
    unread: int
    page: int
    per_page: int


async def store(ctx: Context, user_ids: Iterable[str], notification: Notification) -> list[str]:
    """Store the notification for these users; return its ids, in the order of the user ids."""
    stored = []
    # Always in the same order, to avoid deadlocks between transactions that notify several users.
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
                conversation_ids=stored_ids(ctx.caller.conversation_ids),
            )
        )
    await ctx.db.insert_many(stored)
    _wake_listeners(ctx, [notification.user_id for notification in stored])
    return [notification.id for notification in stored]


async def find_inbox_referrers(_ctx: Context, _user_id: str) -> list[Referrer]:
    """Return nothing: an inbox never blocks the deletion of its user."""
    return []


async def lock_inbox_of_user(ctx: Context, user_id: str) -> None:
    """Lock the inbox of a user who is being deleted. Lock order: the inbox before the user."""
    await ctx.db.rows(_LOCK_INBOX, of_user=user_id)


async def page(ctx: Context, query: NotificationQuery) -> InboxSlice:
    """Return a page, newest first. Totals come from the inbox row, except for a single type."""
    user_id, per_page = ctx.principal.id, min(query.per_page, MAX_PER_PAGE)
    inbox = await find_inbox(ctx)
    wanted = {"of_user": user_id} | ({"of_type": query.type} if query.type is not None else {})
    rows, count = _list_statements(query.read, has_type=query.type is not None)
    if query.type is not None:
        total = int(await ctx.db.scalar(count, **wanted))
    else:
        total = {None: inbox.total, True: inbox.total - inbox.unread, False: inbox.unread}[query.read]
    offset = (query.page - 1) * per_page
    items = []
    if offset < total:
        items = await ctx.db.rows(rows, row_limit=per_page, row_offset=offset, **wanted)
    return InboxSlice(items, total, inbox.unread, query.page, per_page)


@functools.cache
def _list_statements(
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
    return record_statement(UserNotification, rows), Statement(count)


async def find_inbox(ctx: Context) -> Inbox:
    """Return the caller's inbox, or an empty one."""
    row = await ctx.db.find(Inbox, user_id=ctx.principal.id)
    return row or Inbox(user_id=ctx.principal.id)


async def find_own(ctx: Context, notification_id: str) -> UserNotification | None:
    return await ctx.db.find(UserNotification, id=notification_id, user_id=ctx.principal.id)


async def mark_read(ctx: Context, notification: UserNotification) -> UserNotification:
    """Mark a notification as read; if it already is, its `read_at` stays."""
    await _lock_inbox(ctx, ctx.principal.id)
    if await ctx.db.execute(_MARK, notification_id=notification.id, now=ctx.now):
        await _subtract_counts(ctx, ctx.principal.id, read=1)
    marked = await find_own(ctx, notification.id)
    if marked is None:
        raise NotificationNotFound
    return marked


async def mark_all_read(ctx: Context, selection: ReadAll) -> int:
    """Mark notifications as read and return how many; `before` includes the instant itself."""
    given: JsonObject = {}
    if selection.type is not None:
        given["of_type"] = selection.type
    if selection.before is not None:
        given["before"] = read_instant("before", selection.before)
    await _lock_inbox(ctx, ctx.principal.id)
    statement = _mark_all(has_type="of_type" in given, has_end="before" in given)
    marked = int(await ctx.db.execute(statement, of_user=ctx.principal.id, now=ctx.now, **given))
    if marked:
        await _subtract_counts(ctx, ctx.principal.id, read=marked)
    return marked


async def mark_read_about(
    ctx: Context, type: str, field: str, value: str, *, since: Instant, user_id: str | None = None
) -> None:
    """Mark as read what was announced of an object, for one user or for everybody.

    They are the notifications of this type whose data has the value in the field. `since` is when the object
    was created: nothing older is about it.
    """
    statement = _unread_about(field, has_user=user_id is not None)
    wanted = {"of_type": type, "field_value": value, "since": since}
    wanted |= {} if user_id is None else {"of_user": user_id}
    found = await ctx.db.rows(statement, **wanted)
    by_user: dict[str, list[str]] = {}
    for id, owner_id in found:
        by_user.setdefault(owner_id, []).append(id)
    # In the order of `store`, to avoid deadlocks with it.
    for owner_id in sorted(by_user):
        await _lock_inbox(ctx, owner_id)
        marked = 0
        for id in by_user[owner_id]:
            marked += int(await ctx.db.execute(_MARK, notification_id=id, now=ctx.now))
        if marked:
            await _subtract_counts(ctx, owner_id, read=marked)


@functools.cache
def _unread_about(field: str, *, has_user: bool) -> Statement[Any]:
    conditions = [
        _notifications.c.is_unread == sa.true(),
        _notifications.c.type == sa.bindparam("of_type"),
        _notifications.c.created_at >= sa.bindparam("since"),
        json_value(_notifications.c.data, field) == sa.bindparam("field_value", type_=sa.Text()),
    ]
    if has_user:
        conditions.append(_notifications.c.user_id == _USER)
    return Statement(sa.select(_notifications.c.id, _notifications.c.user_id).where(*conditions))


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
    await _lock_inbox(ctx, ctx.principal.id)
    owned = await find_own(ctx, notification.id)
    if owned is None:
        raise NotificationNotFound
    await ctx.db.delete(owned)
    await _subtract_counts(ctx, ctx.principal.id, gone=1, read=int(owned.is_unread))


async def _lock_inbox(ctx: Context, user_id: str) -> None:
    """Lock the inbox before its notifications, to avoid deadlocks."""
    await ctx.unit_of_work.begin()
    await ctx.db.rows(_LOCK_INBOX, of_user=user_id)


async def _subtract_counts(ctx: Context, user_id: str, *, gone: int = 0, read: int = 0) -> None:
    await ctx.db.execute(_SUBTRACT, of_user=user_id, gone=gone, read=read, now=ctx.now)
    _wake_listeners(ctx, [user_id])


def _wake_listeners(ctx: Context, user_ids: list[str]) -> None:
    """Wake the listeners at the commit; processes on other machines poll within a second."""
    inboxes = ctx.state(LiveInboxes)

    async def wake() -> None:
        inboxes.wake_everywhere(user_ids)

    ctx.after_commit(wake)
