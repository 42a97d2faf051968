"""What happens by itself: what is old and read, or was sent long ago, goes."""

from collections import defaultdict
from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.forgetting import AT_ONCE, forget_everywhere, forgetting
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import NoPayload, job
from retinue.notifications.models import (
    ChannelLogStatus,
    ChannelTotals,
    Delivery,
    Inbox,
    SeenKey,
    UserNotification,
)
from retinue.notifications.recipients import DEDUPED_S

_DAY_S = 86_400
READ_KEPT_DAYS = 90
UNREAD_KEPT_DAYS = 365
LOGS_KEPT_DAYS = 90
TOTALS_KEPT_DAYS = 400

_notifications, _deliveries, _keys = UserNotification.__table__, Delivery.__table__, SeenKey.__table__
_inboxes, _totals = Inbox.__table__, ChannelTotals.__table__

_OLD: Statement[Any] = Statement(
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
    .limit(AT_ONCE)
)
_HOLD: Statement[Any] = Statement(
    sa.select(_inboxes.c.id).where(_inboxes.c.user_id == sa.bindparam("of_user")).with_for_update()
)
_FORGET: Statement[Any] = Statement(
    sa.delete(_notifications)
    .where(_notifications.c.id == sa.bindparam("notification_id"))
    .returning(_notifications.c.is_unread)
)
_LEAVE: Statement[Any] = Statement(
    sa.update(_inboxes)
    .where(_inboxes.c.user_id == sa.bindparam("of_user"))
    .values(
        total=_inboxes.c.total - sa.bindparam("gone", type_=sa.BigInteger()),
        unread=_inboxes.c.unread - sa.bindparam("unread", type_=sa.BigInteger()),
        version=_inboxes.c.version + 1,
    )
)


_FORGET_LOGS = forgetting(
    _deliveries,
    _deliveries.c.created_at < sa.bindparam("before"),
    _deliveries.c.status != ChannelLogStatus.pending.value,
)
_FORGET_KEYS = forgetting(_keys, _keys.c.seen_at < sa.bindparam("before"))
_FORGET_TOTALS = forgetting(_totals, _totals.c.bucket < sa.bindparam("before"))


@job(every_s=3600, timeout_s=1800, transactional=False)
async def purge_notifications(ctx: Context, _payload: NoPayload) -> None:
    """In small steps, so that nobody waits for it."""
    while await _purge_some(ctx) == AT_ONCE:
        pass
    for statement, kept_s in (
        (_FORGET_LOGS, LOGS_KEPT_DAYS * _DAY_S),
        (_FORGET_KEYS, DEDUPED_S),
        (_FORGET_TOTALS, TOTALS_KEPT_DAYS * _DAY_S),
    ):
        await forget_everywhere(ctx, statement, before=ctx.clock.ahead(-kept_s))


async def _purge_some(ctx: Context) -> int:
    found = await ctx.system("what is old goes in every tenant").rows(
        _OLD,
        read_before=ctx.clock.ahead(-READ_KEPT_DAYS * _DAY_S),
        before=ctx.clock.ahead(-UNREAD_KEPT_DAYS * _DAY_S),
    )
    by_user: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for tenant_id, id, user_id, _ in found:
        by_user[tenant_id, user_id].append(id)
    for (tenant_id, user_id), ids in by_user.items():
        async with ctx.unit() as unit:
            unit.act_in(tenant_id)
            await unit.unit_of_work.begin()
            await unit.db.rows(_HOLD, of_user=user_id)
            gone = [row[0] for id in ids for row in await unit.db.execute(_FORGET, notification_id=id)]
            if gone:
                unread = sum(map(bool, gone))
                await unit.db.execute(_LEAVE, of_user=user_id, gone=len(gone), unread=unread)
    return len(found)
