"""Hourly totals per channel, kept beside the log so that statistics need not count its rows."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.ids import new_id
from retinue.notifications.delivery.attempt import DeliveryOutcome
from retinue.notifications.models import Channel, ChannelTotals, ChannelType, Delivery
from retinue.usage.meters import meter

_HOUR_LENGTH = len("2026-11-15T08")
_DAY_LENGTH = len("2026-11-15")

_totals = ChannelTotals.__table__
_COUNTED_COLUMNS = ("accepted", "delivered", "failed", "time_ms")


def _add_statement() -> Statement[Any]:
    given = {
        name: sa.bindparam(name, type_=_totals.c[name].type)
        for name in ChannelTotals.__struct_fields__
        if name != "tenant_id"
    }
    insert = postgresql.insert(_totals).values(given)
    changed = {name: _totals.c[name] + insert.excluded[name] for name in _COUNTED_COLUMNS}
    changed["updated_at"] = insert.excluded.updated_at
    changed["last_delivery_at"] = sa.func.coalesce(
        insert.excluded.last_delivery_at, _totals.c.last_delivery_at
    )
    return Statement(
        insert.on_conflict_do_update(index_elements=["tenant_id", "channel_id", "bucket"], set_=changed)
    )


_ADD = _add_statement()
_DELIVERED_TODAY = Statement(
    sa.select(sa.func.coalesce(sa.func.sum(_totals.c.delivered), 0)).where(
        _totals.c.bucket >= sa.bindparam("day"), _totals.c.type == sa.bindparam("of_type")
    )
)


def bucket_of(at: Instant) -> str:
    """Return the hour in which statistics count an instant."""
    return at[:_HOUR_LENGTH]


def count_accepted(ctx: Context, channel: Channel, deliveries: int) -> None:
    """Count deliveries at the commit, because the row is shared by everyone who uses the channel."""
    _count(ctx, channel, bucket_of(ctx.now), accepted=deliveries)
    meter(ctx, {"notifications": deliveries})


def count_outcome(ctx: Context, channel: Channel, delivery: Delivery, outcome: DeliveryOutcome) -> None:
    if outcome.is_delivered:
        _count(
            ctx,
            channel,
            delivery.bucket,
            delivered=1,
            time_ms=outcome.time_ms,
            last_delivery_at=ctx.now,
        )
    else:
        _count(ctx, channel, delivery.bucket, failed=1)


def _count(ctx: Context, channel: Channel, bucket: str, **counted: Any) -> None:
    now = ctx.now
    ctx.db.execute_at_commit(
        _ADD,
        shared=f"{channel.id}:{bucket}",
        id=new_id(ChannelTotals.__prefix__),
        created_at=now,
        updated_at=now,
        channel_id=channel.id,
        type=channel.type,
        provider=channel.provider,
        bucket=bucket,
        **{**dict.fromkeys(_COUNTED_COLUMNS, 0), "last_delivery_at": None, **counted},
    )


async def delivered_today(ctx: Context, type: ChannelType) -> int:
    return int(await ctx.db.scalar(_DELIVERED_TODAY, day=ctx.now[:_DAY_LENGTH], of_type=type))
