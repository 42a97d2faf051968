from typing import Annotated

from retinue.adapters.notifying import InvalidConfig
from retinue.credentials.errors import AuditUnavailable
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, VaultSealed
from retinue.kit.http.routing import Routes, loaded
from retinue.notifications import channels, configs, statistics
from retinue.notifications.by_hand import test_channel as send_test
from retinue.notifications.errors import ChannelNotFound, TooManyChannels, TooManyNotifications
from retinue.notifications.models import Channel, ChannelType
from retinue.notifications.queries import active_channels, list_channels, page_of_logs
from retinue.notifications.schemas import (
    AllChannelStats,
    ChannelBreakdown,
    ChannelCreate,
    ChannelFilter,
    ChannelList,
    ChannelLogOut,
    ChannelLogPage,
    ChannelLogQuery,
    ChannelOut,
    ChannelRevealed,
    ChannelStats,
    ChannelTested,
    ChannelUpdate,
    NotificationProviders,
    PeriodQuery,
)

routes = Routes("/api/v1/notification-channels", tag="notifications")

ChannelById = Annotated[Channel, loaded(Channel, "channel_id", ChannelNotFound)]
_READ, _WRITE = "notification_channels:read", "notification_channels:write"


@routes.get("", requires=_READ)
async def list_notification_channels(ctx: Context, query: ChannelFilter) -> ChannelList:
    found = await list_channels(ctx, query)
    return ChannelList(data=[channels.summary(channel) for channel in found], total=len(found))


@routes.post("", requires=_WRITE, status=201, errors=(InvalidConfig, TooManyChannels, VaultSealed))
async def create_notification_channel(ctx: Context, body: ChannelCreate) -> ChannelOut:
    return channels.shown(await channels.create(ctx, body))


@routes.get("/providers", requires=_READ)
async def list_notification_providers(ctx: Context) -> NotificationProviders:  # noqa: ARG001  every handler takes it
    return NotificationProviders(providers=configs.providers())


@routes.get("/active/{channel_type}", requires=_READ, errors=(Invalid,))
async def list_active_channels(ctx: Context, channel_type: str) -> ChannelList:
    if channel_type not in set(ChannelType):
        raise Invalid({"type": f"must be one of {', '.join(ChannelType)}"})
    found = await active_channels(ctx, ChannelType(channel_type))
    return ChannelList(data=[channels.summary(channel) for channel in found], total=len(found))


@routes.get("/stats", requires=_READ)
async def get_notification_stats(ctx: Context, query: PeriodQuery) -> AllChannelStats:
    return await statistics.of_all(ctx, query.period)


@routes.get("/stats/breakdown", requires=_READ)
async def get_notification_breakdown(ctx: Context, query: PeriodQuery) -> ChannelBreakdown:
    return await statistics.breakdown(ctx, query.period)


@routes.get("/{channel_id}", requires=_READ)
async def get_notification_channel(ctx: Context, channel: ChannelById) -> ChannelOut:  # noqa: ARG001  every handler takes it
    return channels.shown(channel)


@routes.put("/{channel_id}", requires=_WRITE, errors=(InvalidConfig, VaultSealed))
async def update_notification_channel(ctx: Context, channel: ChannelById, body: ChannelUpdate) -> ChannelOut:
    return channels.shown(await channels.update(ctx, channel, body))


@routes.delete("/{channel_id}", requires=_WRITE, status=204)
async def delete_notification_channel(ctx: Context, channel: ChannelById) -> None:
    await channels.delete(ctx, channel)


@routes.post(
    "/{channel_id}/test", requires=_WRITE, calls_out=True, errors=(TooManyNotifications, VaultSealed)
)
async def test_notification_channel(ctx: Context, channel: ChannelById) -> ChannelTested:
    return await send_test(ctx, channel)


@routes.get(
    "/{channel_id}/reveal",
    requires="notification_channels:reveal",
    errors=(AuditUnavailable, VaultSealed),
)
async def reveal_notification_channel(ctx: Context, channel: ChannelById) -> ChannelRevealed:
    return await channels.reveal(ctx, channel)


@routes.get("/{channel_id}/logs", requires=_READ)
async def list_channel_logs(ctx: Context, channel: ChannelById, query: ChannelLogQuery) -> ChannelLogPage:
    found = await page_of_logs(ctx, channel, query)
    return ChannelLogPage.of(found, data=[ChannelLogOut.of(delivery) for delivery in found.items])


@routes.get("/{channel_id}/stats", requires=_READ)
async def get_channel_stats(ctx: Context, channel: ChannelById, query: PeriodQuery) -> ChannelStats:
    return await statistics.of_channel(ctx, channel, query.period)
