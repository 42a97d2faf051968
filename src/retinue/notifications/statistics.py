"""Delivery statistics from the hourly totals of the channels."""

from itertools import groupby
from operator import itemgetter
from typing import Any

import sqlalchemy as sa
from msgspec import UNSET

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.json_types import JsonObject
from retinue.notifications.delivery.totals import bucket_of
from retinue.notifications.models import Channel, ChannelTotals, ChannelType
from retinue.notifications.queries import count_channels
from retinue.notifications.schemas import (
    AllChannelStats,
    ChannelBreakdown,
    ChannelStats,
    DeliveriesOfChannel,
    DeliveriesOfDay,
    DeliveriesOfProvider,
    DeliveriesOfType,
    Period,
)

_HOURS: dict[Period, int] = {"24h": 24, "7d": 7 * 24, "14d": 14 * 24, "30d": 30 * 24, "90d": 90 * 24}
_DAY = len("2026-11-15")

_totals, _channels = ChannelTotals.__table__, Channel.__table__
_SUMS = tuple(
    sa.func.coalesce(sa.func.sum(_totals.c[name]), 0)
    for name in ("accepted", "delivered", "failed", "time_ms")
)
_recent = _totals.c.bucket >= sa.bindparam("since")
_day = sa.func.substr(_totals.c.bucket, 1, _DAY)
_OF_ONE = Statement(
    sa.select(*_SUMS, sa.func.max(_totals.c.last_delivery_at)).where(
        _totals.c.channel_id == sa.bindparam("channel_id"), _recent
    )
)
_OF_ALL = Statement(sa.select(*_SUMS).where(_recent), heavy=True)
_BY: dict[str, Statement[Any]] = {
    name: Statement(sa.select(column, *_SUMS).where(_recent).group_by(column).order_by(column), heavy=True)
    for name, column in {"type": _totals.c.type, "provider": _totals.c.provider, "day": _day}.items()
}
# Totals outlive their channel; only channels that are still there have figures of their own.
_BY_CHANNEL_AND_DAY = Statement(
    sa.select(_totals.c.channel_id, _day, *_SUMS, sa.func.max(_totals.c.last_delivery_at))
    .join(
        _channels,
        sa.and_(_channels.c.tenant_id == _totals.c.tenant_id, _channels.c.id == _totals.c.channel_id),
    )
    .where(_recent)
    .group_by(_totals.c.channel_id, _day)
    .order_by(_totals.c.channel_id, _day),
    heavy=True,
)


async def load_channel_stats(ctx: Context, channel: Channel, period: Period) -> ChannelStats:
    row = await ctx.db.first(_OF_ONE, channel_id=channel.id, since=_since(ctx, period))
    assert row is not None
    *sums, last_delivery_at = row
    return ChannelStats(
        channel_id=channel.id,
        period=period,
        pending=_pending(sums),
        last_delivery_at=last_delivery_at,
        **_counts(sums),
    )


async def load_all_stats(ctx: Context, period: Period, *, is_by_channel: bool = False) -> AllChannelStats:
    row = await ctx.db.first(_OF_ALL, since=_since(ctx, period))
    assert row is not None
    total, active = await count_channels(ctx)
    sums = list(row)
    return AllChannelStats(
        period=period,
        total_channels=total,
        active_channels=active,
        pending=_pending(sums),
        by_channel=await _load_by_channel(ctx, period) if is_by_channel else UNSET,
        **_counts(sums),
    )


async def _load_by_channel(ctx: Context, period: Period) -> list[DeliveriesOfChannel]:
    rows = await ctx.db.rows(_BY_CHANNEL_AND_DAY, since=_since(ctx, period))
    by_channel = []
    for channel_id, days in groupby(rows, key=itemgetter(0)):
        of_days = [row[1:] for row in days]
        sums = [sum(int(row[place]) for row in of_days) for place in range(1, 5)]
        by_channel.append(
            DeliveriesOfChannel(
                channel_id=channel_id,
                pending=_pending(sums),
                last_delivery_at=max((row[5] for row in of_days if row[5]), default=None),
                by_day=[_of_day(row) for row in of_days],
                **_counts(sums),
            )
        )
    return by_channel


def _of_day(row: Any) -> DeliveriesOfDay:
    return DeliveriesOfDay(date=row[0], total_sent=int(row[1]), delivered=int(row[2]), failed=int(row[3]))


async def load_breakdown(ctx: Context, period: Period) -> ChannelBreakdown:
    since = _since(ctx, period)
    rows = {name: await ctx.db.rows(statement, since=since) for name, statement in _BY.items()}
    return ChannelBreakdown(
        period=period,
        by_type=[DeliveriesOfType(type=ChannelType(row[0]), **_counts(row[1:])) for row in rows["type"]],
        by_provider=[DeliveriesOfProvider(provider=row[0], **_counts(row[1:])) for row in rows["provider"]],
        by_period=[_of_day(row) for row in rows["day"]],
    )


def _since(ctx: Context, period: Period) -> str:
    """Return the first hour counted; periods of days begin with a whole day."""
    start = ctx.clock.ahead(-_HOURS[period] * 3600)
    return bucket_of(start) if period == "24h" else start[:_DAY]


def _counts(sums: Any) -> JsonObject:
    """Return the figures as integers: PostgreSQL sums integers to decimals."""
    accepted, delivered, failed, time_ms = map(int, sums)
    ended = delivered + failed
    return {
        "total_sent": accepted,
        "delivered": delivered,
        "failed": failed,
        "success_rate": round(100 * delivered / ended, 1) if ended else 0.0,
        "avg_delivery_time_ms": round(time_ms / delivered) if delivered else 0,
    }


def _pending(sums: Any) -> int:
    accepted, delivered, failed, _ = map(int, sums)
    return max(0, accepted - delivered - failed)
