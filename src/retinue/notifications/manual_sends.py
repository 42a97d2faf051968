"""Notifications that people send themselves, and test notifications."""

import msgspec

from retinue.adapters.mail import Mailer, MailFailed
from retinue.adapters.notifiers import ProviderRefused
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.notifications import inbox
from retinue.notifications.delivery.attempt import (
    DeliveryOutcome,
    attempt_delivery,
    build_message,
    default_recipient,
    refused_outcome,
)
from retinue.notifications.delivery.deliveries import is_daily_limit_reached, new_delivery, record_outcome
from retinue.notifications.delivery.totals import count_accepted
from retinue.notifications.errors import ChannelNotFound, TooManyNotifications
from retinue.notifications.models import Channel, ChannelType
from retinue.notifications.notification import (
    TEST_TYPE,
    Notification,
    NotificationRoute,
    Recipients,
    clean_message,
    skipped_no_active_channel,
)
from retinue.notifications.queries import active_channels, fetch_channel
from retinue.notifications.recipients import require_users
from retinue.notifications.schemas import (
    ChannelTested,
    NotificationSend,
    NotificationsSent,
    NotificationTest,
    NotificationTested,
)
from retinue.notifications.service import notify, render_content, render_system_mail
from retinue.users.models import User
from retinue.users.queries import fetch_self, require_existing

MAX_SENDS_PER_MINUTE = 120
MAX_TESTS_PER_MINUTE = 10
_MAX_DATA_BYTES = 16 * 1024
_TEST_TITLE = "Test notification"


async def send(ctx: Context, body: NotificationSend) -> NotificationsSent:
    await _require_quota(ctx, f"notify:{ctx.tenant_id}", MAX_SENDS_PER_MINUTE)
    if len(msgspec.json.encode(body.data)) > _MAX_DATA_BYTES:
        raise Invalid({"data": f"must be at most {_MAX_DATA_BYTES // 1024} KiB"})
    route = await _route(ctx, body.channels)
    if not (body.user_ids or body.roles or body.all or _needs_no_user(route)):
        raise Invalid({"user_ids": "send user_ids, roles or all"})
    await require_users(ctx, body.user_ids, "user_ids")
    notification = Notification(
        type=body.type,
        title=body.title,
        message=body.message,
        data=body.data,
        priority=body.priority,
        action_url=body.action_url,
        dedupe_key=body.dedupe_key,
    )
    to = Recipients(user_ids=tuple(body.user_ids), roles=tuple(body.roles), is_everyone=body.all)
    result = await notify(ctx, notification, to, route)
    ids = result.notification_ids
    return NotificationsSent(
        created=len(ids), notification_ids=ids, deliveries=result.deliveries, skipped=result.skipped
    )


async def _route(ctx: Context, named: list[str]) -> NotificationRoute | None:
    """Resolve names, each of them a channel type or a channel id."""
    if not named:
        return None
    types = [ChannelType(name) for name in named if name in set(ChannelType)]
    channels = [
        await fetch_channel(ctx, name) for name in dict.fromkeys(named) if name not in set(ChannelType)
    ]
    return NotificationRoute(types=tuple(types), channels=tuple(channels))


def _needs_no_user(route: NotificationRoute | None) -> bool:
    """Return whether no user's address is needed."""
    if route is None:
        return False
    types = {*route.types, *(channel.type for channel in route.channels if not default_recipient(channel))}
    return not types & {ChannelType.in_app, ChannelType.email}


async def test_channel(ctx: Context, channel: Channel) -> ChannelTested:
    """Test a channel, even a disabled one, with the caller's own address or the channel's destination."""
    await _require_test_quota(ctx)
    user = await fetch_self_at_home(ctx)
    outcome = await _test_channel(ctx, channel, user, "")
    message = outcome.message or "The test notification was delivered."
    return ChannelTested(success=outcome.is_delivered, message=message, delivery_time_ms=outcome.time_ms)


async def test_self(ctx: Context, body: NotificationTest) -> NotificationTested:
    """Send a test to the caller's own account; no other address can be given."""
    await _require_test_quota(ctx)
    user = await fetch_self(ctx)
    outcome = await _test_by_type(ctx, body, user)
    message = outcome.message or "The test notification was delivered."
    return NotificationTested(
        success=outcome.is_delivered,
        channel_type=body.channel_type,
        message=message,
        delivery_time_ms=outcome.time_ms,
    )


async def _test_by_type(ctx: Context, body: NotificationTest, user: User) -> DeliveryOutcome:
    if body.channel_type is ChannelType.in_app:
        return await _test_in_app(ctx, user, body.message)
    channels = await active_channels(ctx, body.channel_type)
    if channels:
        return await _test_channel(ctx, channels[0], user, body.message)
    if body.channel_type is ChannelType.email:
        return await _test_by_system_mail(ctx, user, body.message)
    return refused_outcome(ChannelNotFound.code, skipped_no_active_channel(body.channel_type).message)


async def _test_in_app(ctx: Context, user: User, message: str) -> DeliveryOutcome:
    started = ctx.clock.monotonic()
    async with ctx.unit() as unit:
        # The user's own tenant: a super administrator may be acting in another one.
        unit.bind_tenant(user.tenant_id)
        await inbox.store(unit, [user.id], _test_notification(message))
    return DeliveryOutcome(is_delivered=True, time_ms=_elapsed_ms(ctx, started))


async def _test_channel(ctx: Context, channel: Channel, user: User, message: str) -> DeliveryOutcome:
    """Make one attempt and record it in the channel's log."""
    if channel.type is ChannelType.in_app:
        return await _test_in_app(ctx, user, message)
    if channel.type is ChannelType.email and not user.email_verified:
        return refused_outcome("email_not_verified", "Your email address is not verified. Verify it first.")
    if await is_daily_limit_reached(ctx, channel.type):
        return refused_outcome(TooManyNotifications.code, (TooManyNotifications.__doc__ or "").strip())
    prefix = f"{message}\n\n" if message else ""
    notification = _test_notification(
        f"{prefix}Sent by {user.first_name} {user.last_name} to test the channel {channel.name}."
    )
    recipient = user.email if channel.type is ChannelType.email else default_recipient(channel)
    content = render_content(ctx, notification, channel.type)
    more: JsonObject = {"user_id": user.id, "is_test": True}
    delivery = new_delivery(
        ctx,
        channel,
        recipient=recipient,
        type=TEST_TYPE,
        subject=notification.title,
        content=content,
        **more,
    )
    async with ctx.unit() as unit:
        await unit.db.insert(delivery)
        count_accepted(unit, channel, 1)
    outcome = await attempt_delivery(
        ctx, channel, build_message(recipient, notification.title, content, delivery.id)
    )
    async with ctx.unit() as unit:
        await record_outcome(unit, channel, delivery, outcome, 1)
    return outcome


async def _test_by_system_mail(ctx: Context, user: User, message: str) -> DeliveryOutcome:
    if not user.email_verified:
        return refused_outcome("email_not_verified", "Your email address is not verified. Verify it first.")
    started = ctx.clock.monotonic()
    try:
        await ctx.adapter(Mailer).send(render_system_mail(ctx, user.email, _test_notification(message)))
    except MailFailed as error:
        return refused_outcome(ProviderRefused.code, error.message)
    return DeliveryOutcome(is_delivered=True, time_ms=_elapsed_ms(ctx, started))


def _test_notification(message: str) -> Notification:
    return Notification(
        type=TEST_TYPE, title=_TEST_TITLE, message=clean_message(message) or "Notifications arrive here."
    )


async def fetch_self_at_home(ctx: Context) -> User:
    """Return the caller's own record, also if a super administrator acts in another tenant."""
    home = ctx.principal.home_tenant_id
    if not home:
        return await fetch_self(ctx)
    return require_existing(
        await ctx.system("the caller lives in another tenant").get(User, ctx.principal.id)
    )


async def _require_test_quota(ctx: Context) -> None:
    await _require_quota(ctx, f"notify-test:{ctx.principal.id}", MAX_TESTS_PER_MINUTE)


async def _require_quota(ctx: Context, key: str, limit: int) -> None:
    decision = await ctx.instance.limiter.hit_window(key, limit, 60)
    if not decision.allowed:
        raise decision.refusal(TooManyNotifications)


def _elapsed_ms(ctx: Context, started: float) -> int:
    return max(0, round((ctx.clock.monotonic() - started) * 1000))
