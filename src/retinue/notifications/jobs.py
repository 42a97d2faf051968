"""Deletion of old notifications, delivery logs and totals."""

from collections import defaultdict

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import implement, periodic
from retinue.kit.purge import PURGE_BATCH_ROWS, purge_all_tenants, purge_statement
from retinue.notifications.delivery.deliveries import MAX_CONCURRENT_PER_CHANNEL, deliver_notification
from retinue.notifications.event_notifications import notify_of_event
from retinue.notifications.job_kinds import DELIVER_NOTIFICATION, NOTIFY_OF_EVENT
from retinue.notifications.models import (
    ChannelLogStatus,
    ChannelTotals,
    DedupeKey,
    Delivery,
    Inbox,
    OutsiderMailCount,
    UserNotification,
)
from retinue.notifications.recipients import DEDUPE_WINDOW_SECONDS

_DAY_S = 86_400
READ_RETENTION_DAYS = 90
UNREAD_RETENTION_DAYS = 365
LOG_RETENTION_DAYS = 90
TOTALS_RETENTION_DAYS = 400

_notifications, _deliveries, _keys = UserNotification.__table__, Delivery.__table__, DedupeKey.__table__
_inboxes, _totals, _mails = Inbox.__table__, ChannelTotals.__table__, OutsiderMailCount.__table__

_EXPIRED = Statement(
    sa.select(
        _notifications.c.tenant_id,
        _notifications.c.id,
        _notifications.c.user_id,
        _notifications.c.is_unread,
    )
    .where(
        _notifications.c.created_at < sa.bindparam("read_before"),
        sa.or_(
            _notifications.c.is_unread == sa.false(), _notifications.c.created_at < sa.bindparam("before")
        ),
    )
    .order_by(_notifications.c.created_at)
    .limit(PURGE_BATCH_ROWS)
)
_LOCK_INBOX = Statement(
    sa.select(_inboxes.c.id).where(_inboxes.c.user_id == sa.bindparam("of_user")).with_for_update()
)
_DELETE_NOTIFICATION = Statement(
    sa.delete(_notifications)
    .where(_notifications.c.id == sa.bindparam("notification_id"))
    .returning(_notifications.c.is_unread)
)
_SUBTRACT = Statement(
    sa.update(_inboxes)
    .where(_inboxes.c.user_id == sa.bindparam("of_user"))
    .values(
        total=_inboxes.c.total - sa.bindparam("gone", type_=sa.BigInteger()),
        unread=_inboxes.c.unread - sa.bindparam("unread", type_=sa.BigInteger()),
        version=_inboxes.c.version + 1,
    )
)


_DELETE_LOGS = purge_statement(
    _deliveries,
    _deliveries.c.created_at < sa.bindparam("before"),
    _deliveries.c.status != ChannelLogStatus.pending.value,
)
_DELETE_DEDUPE_KEYS = purge_statement(_keys, _keys.c.seen_at < sa.bindparam("before"))
_DELETE_TOTALS = purge_statement(_totals, _totals.c.bucket < sa.bindparam("before"))
_DELETE_MAIL_COUNTS = purge_statement(_mails, _mails.c.day < sa.bindparam("before"))


async def purge_notifications(ctx: Context) -> None:
    """Delete old rows in small batches, to keep locks short."""
    while await _purge_batch(ctx) == PURGE_BATCH_ROWS:
        pass
    for statement, retention_seconds in (
        (_DELETE_LOGS, LOG_RETENTION_DAYS * _DAY_S),
        (_DELETE_DEDUPE_KEYS, DEDUPE_WINDOW_SECONDS),
        (_DELETE_TOTALS, TOTALS_RETENTION_DAYS * _DAY_S),
        (_DELETE_MAIL_COUNTS, LOG_RETENTION_DAYS * _DAY_S),
    ):
        await purge_all_tenants(ctx, statement, before=ctx.clock.ahead(-retention_seconds))


async def _purge_batch(ctx: Context) -> int:
    rows = await ctx.system("old notifications of every tenant").rows(
        _EXPIRED,
        read_before=ctx.clock.ahead(-READ_RETENTION_DAYS * _DAY_S),
        before=ctx.clock.ahead(-UNREAD_RETENTION_DAYS * _DAY_S),
    )
    by_user: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for tenant_id, id, user_id, _ in rows:
        by_user[tenant_id, user_id].append(id)
    for (tenant_id, user_id), ids in by_user.items():
        async with ctx.unit() as unit:
            unit.bind_tenant(tenant_id)
            await unit.unit_of_work.begin()
            await unit.db.rows(_LOCK_INBOX, of_user=user_id)
            deleted = [
                row[0]
                for id in ids
                for row in await unit.db.execute(_DELETE_NOTIFICATION, notification_id=id)
            ]
            if deleted:
                unread = sum(map(bool, deleted))
                await unit.db.execute(_SUBTRACT, of_user=user_id, gone=len(deleted), unread=unread)
    return len(rows)


JOBS = (
    periodic(
        "notifications.purge",
        purge_notifications,
        every_s=3600,
        timeout_s=1800,
        transactional=False,
    ),
    implement(NOTIFY_OF_EVENT, notify_of_event),
    implement(
        DELIVER_NOTIFICATION, deliver_notification, transactional=False, per_lane=MAX_CONCURRENT_PER_CHANNEL
    ),
)
