from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement, reading
from retinue.kit.lists import Listing, Slice
from retinue.kit.references import Referrer
from retinue.notifications.errors import ChannelNotFound
from retinue.notifications.models import Channel, ChannelType, Delivery
from retinue.notifications.schemas import ChannelFilter, ChannelLogQuery

_channels = Channel.__table__
_in_order = (_channels.c.priority, _channels.c.created_at, _channels.c.id)
_ACTIVE: Statement[Channel] = reading(
    Channel,
    sa.select(_channels)
    .where(_channels.c.type == sa.bindparam("of_type"), _channels.c.is_active == sa.true())
    .order_by(*_in_order),
)
_COUNT: Statement[Any] = Statement(
    sa.select(
        sa.func.count(),
        sa.func.coalesce(sa.func.sum(sa.case((_channels.c.is_active, 1), else_=0)), 0),
    ).select_from(_channels)
)
_LOGS = Listing(Delivery, filters=("status",))


async def list_channels(ctx: Context, query: ChannelFilter) -> list[Channel]:
    """All of them: they are few, and their list is not paged."""
    wanted: dict[str, Any] = {}
    if query.type is not None:
        wanted["type"] = query.type
    if query.active is not None:
        wanted["is_active"] = query.active
    return await ctx.db.all(Channel, order_by=("type", "priority", "created_at", "id"), **wanted)


async def active_channels(ctx: Context, type: ChannelType) -> list[Channel]:
    """The first is the one to use, the others are there for when it fails."""
    return await ctx.db.rows(_ACTIVE, of_type=type)


async def count_channels(ctx: Context) -> tuple[int, int]:
    """How many channels there are, and how many of them are active."""
    found = await ctx.db.first(_COUNT)
    assert found is not None
    return int(found[0]), int(found[1])


async def fetch_channel(ctx: Context, channel_id: str) -> Channel:
    channel = await ctx.db.get(Channel, channel_id)
    if channel is None:
        raise ChannelNotFound
    return channel


async def page_of_logs(ctx: Context, channel: Channel, query: ChannelLogQuery) -> Slice[Delivery]:
    return await _LOGS.page(ctx.db, query, channel_id=channel.id)


async def find_users_of_credential(ctx: Context, credential_id: str) -> list[Referrer]:
    channels = await ctx.db.all(Channel, credential_id=credential_id)
    return [Referrer(channel.id, channel.name) for channel in channels]
