from typing import Annotated

from retinue.adapters.notifiers import InvalidConfig
from retinue.credentials.errors import AuditUnavailable
from retinue.kit.context import Context
from retinue.kit.context.references import Referrer, find_referrers
from retinue.kit.errors import Invalid, VaultSealed
from retinue.kit.http.routing import Routes, path_loader
from retinue.notifications import channels, configs, statistics
from retinue.notifications.errors import ChannelNotFound, TooManyChannels, TooManyNotifications
from retinue.notifications.manual_sends import test_channel as send_test
from retinue.notifications.models import Channel, ChannelType
from retinue.notifications.queries import active_channels, list_channels, page_of_logs
from retinue.notifications.redacted_views import shown_logs
from retinue.notifications.schemas import (
    AllChannelStats,
    AllStatsQuery,
    ChannelBreakdown,
    ChannelCreate,
    ChannelFilter,
    ChannelList,
    ChannelLogPage,
    ChannelLogQuery,
    ChannelOut,
    ChannelRevealedOut,
    ChannelStats,
    ChannelTested,
    ChannelUpdate,
    NotificationProviders,
    PeriodQuery,
)

routes = Routes("/api/v1/notification-channels", tag="notifications")

ChannelById = Annotated[Channel, path_loader(Channel, "channel_id", ChannelNotFound)]
_READ, _WRITE = "notification_channels:read", "notification_channels:write"


@routes.get("", requires=_READ)
async def list_notification_channels(ctx: Context, query: ChannelFilter) -> ChannelList:
    """List all notification channels of the tenant, without their configuration. The list has no pages."""
    matching = await list_channels(ctx, query)
    return ChannelList(data=[channels.summary(channel) for channel in matching], total=len(matching))


@routes.post("", requires=_WRITE, status=201, errors=(InvalidConfig, TooManyChannels, VaultSealed))
async def create_notification_channel(ctx: Context, body: ChannelCreate) -> ChannelOut:
    """Create a notification channel, at most 200 per tenant.

    A configuration that the provider cannot use answers 422 `invalid_config`. Nothing is sent; test the
    channel to see whether it works.
    """
    return channels.render_channel(ctx, await channels.create(ctx, body))


@routes.get("/providers", requires=_READ)
async def list_notification_providers(ctx: Context) -> NotificationProviders:  # noqa: ARG001  every handler takes it
    """List the providers a channel can use, with the keys of their configuration."""
    return NotificationProviders(providers=configs.list_providers())


@routes.get("/active/{channel_type}", requires=_READ, errors=(Invalid,))
async def list_active_channels(ctx: Context, channel_type: str) -> ChannelList:
    """List the active channels of one type, in the order in which they are used."""
    if channel_type not in set(ChannelType):
        raise Invalid({"type": f"must be one of {', '.join(ChannelType)}"})
    active = await active_channels(ctx, ChannelType(channel_type))
    return ChannelList(data=[channels.summary(channel) for channel in active], total=len(active))


@routes.get("/stats", requires=_READ)
async def get_notification_stats(ctx: Context, query: AllStatsQuery) -> AllChannelStats:
    """Return delivery figures of all channels together, and with `include=channels` of each.

    The figures of all include deliveries of channels that were deleted since.
    """
    return await statistics.load_all_stats(ctx, query.period, is_by_channel=query.include == "channels")


@routes.get("/stats/breakdown", requires=_READ)
async def get_notification_breakdown(ctx: Context, query: PeriodQuery) -> ChannelBreakdown:
    """Return delivery figures by channel type, by provider and by day."""
    return await statistics.load_breakdown(ctx, query.period)


@routes.get("/{channel_id}", requires=_READ)
async def get_notification_channel(ctx: Context, channel: ChannelById) -> ChannelOut:
    """Return a notification channel with its configuration; secret values are masked."""
    return channels.render_channel(ctx, channel)


@routes.put("/{channel_id}", requires=_WRITE, errors=(InvalidConfig, VaultSealed))
async def update_notification_channel(ctx: Context, channel: ChannelById, body: ChannelUpdate) -> ChannelOut:
    """Change a notification channel; fields that are not sent stay unchanged.

    The configuration is merged by key. Type and provider cannot be changed. If secrets would be sent to
    another server than they were entered for, they have to be entered again.
    """
    return channels.render_channel(ctx, await channels.update(ctx, channel, body))


@routes.delete("/{channel_id}", requires=_WRITE, status=204)
async def delete_notification_channel(ctx: Context, channel: ChannelById) -> None:
    """Delete a notification channel and its log. Pending deliveries are not sent."""
    await channels.delete(ctx, channel)


@routes.post(
    "/{channel_id}/test", requires=_WRITE, calls_out=True, errors=(TooManyNotifications, VaultSealed)
)
async def test_notification_channel(ctx: Context, channel: ChannelById) -> ChannelTested:
    """Send a test notification through this channel, even if it is inactive.

    Mail goes to the caller's own verified address, everything else to the channel's configured destination.
    The status is 200 either way; `success` says whether it worked. At most ten tests per minute and user.
    """
    return await send_test(ctx, channel)


@routes.get(
    "/{channel_id}/reveal",
    requires="notification_channels:reveal",
    errors=(AuditUnavailable, VaultSealed),
)
async def reveal_notification_channel(ctx: Context, channel: ChannelById) -> ChannelRevealedOut:
    """Return the configuration of a channel with its secrets in plain text.

    Each call is recorded in the audit log.
    """
    return await channels.reveal(ctx, channel)


@routes.get("/{channel_id}/usage", requires=_READ)
async def get_channel_usage(ctx: Context, channel: ChannelById) -> dict[str, list[Referrer]]:
    """Return what sends through this channel by its id, by kind: `workflows`, `forms` and `subscriptions`.

    Workflows count once they are published; subscriptions are named by their event type. What names only the
    type of a channel is not listed.
    """
    return await find_referrers(ctx, channels.REFERENCE, channel.id)


@routes.get("/{channel_id}/logs", requires=_READ)
async def list_channel_logs(ctx: Context, channel: ChannelById, query: ChannelLogQuery) -> ChannelLogPage:
    """List the deliveries of a channel, newest first.

    Subjects and errors that quote a conversation the caller may not read are removed.
    """
    page = await page_of_logs(ctx, channel, query)
    return ChannelLogPage.of(page, data=await shown_logs(ctx, page.items))


@routes.get("/{channel_id}/stats", requires=_READ)
async def get_channel_stats(ctx: Context, channel: ChannelById, query: PeriodQuery) -> ChannelStats:
    """Return delivery figures of one channel."""
    return await statistics.load_channel_stats(ctx, channel, query.period)
