import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.context.references import Referrer
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import Listing, Slice
from retinue.kit.timelines import Timeline
from retinue.notifications.errors import ChannelNotFound
from retinue.notifications.models import Channel, ChannelType, Delivery
from retinue.notifications.schemas import ChannelFilter, ChannelLogQuery

_channels = Channel.__table__
_in_order = (_channels.c.priority, _channels.c.created_at, _channels.c.id)
_ACTIVE: Statement[Channel] = record_statement(
    Channel,
    sa.select(_channels)
    .where(_channels.c.type == sa.bindparam("of_type"), _channels.c.is_active == sa.true())
    .order_by(*_in_order),
)
_COUNT = Statement(
    sa.select(
        sa.func.count(),
        sa.func.coalesce(sa.func.sum(sa.case((_channels.c.is_active, 1), else_=0)), 0),
    ).select_from(_channels)
)
_LOGS = Listing(Delivery, filters=("status",))
_deliveries = Delivery.__table__
# ADR 23: exact counts need an append-only list, so the mutable status cannot be a filter here.
_BY_TIME = Timeline(
    Delivery,
    "created_at",
    ("id",),
    {"channel_id": _deliveries.c.channel_id == sa.bindparam("channel_id", type_=sa.Text())},
)


async def list_channels(ctx: Context, query: ChannelFilter) -> list[Channel]:
    """Return all matching channels; a tenant has few, so the list is not paged."""
    wanted: JsonObject = {}
    if query.type is not None:
        wanted["type"] = query.type
    if query.active is not None:
        wanted["is_active"] = query.active
    return await ctx.db.all(Channel, order_by=("type", "priority", "created_at", "id"), **wanted)


async def active_channels(ctx: Context, type: ChannelType) -> list[Channel]:
    """Return the active channels of a type: the one to use first, then its fallbacks."""
    return await ctx.db.rows(_ACTIVE, of_type=type)


async def count_channels(ctx: Context) -> tuple[int, int]:
    """Return the number of channels and of active ones."""
    counts = await ctx.db.first(_COUNT)
    assert counts is not None
    return int(counts[0]), int(counts[1])


async def fetch_channel(ctx: Context, channel_id: str) -> Channel:
    channel = await ctx.db.get(Channel, channel_id)
    if channel is None:
        raise ChannelNotFound
    return channel


async def page_of_logs(ctx: Context, channel: Channel, query: ChannelLogQuery) -> Slice[Delivery]:
    if query.status is not None:
        return await _LOGS.page(ctx.db, query, channel_id=channel.id)
    return await _BY_TIME.listed(ctx, query, {"channel_id": channel.id})


async def find_users_of_credential(ctx: Context, credential_id: str) -> list[Referrer]:
    channels = await ctx.db.all(Channel, credential_id=credential_id)
    return [Referrer(channel.id, channel.name) for channel in channels]
