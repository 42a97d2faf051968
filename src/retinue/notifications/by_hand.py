"""What people send themselves: a notification to others, and tests to see whether any would arrive."""

from typing import Any

import msgspec

from retinue.adapters.mail import Mailer, MailFailed
from retinue.adapters.notifying import ProviderRefused
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.notifications import inbox
from retinue.notifications.counting import count_accepted
from retinue.notifications.delivering import end, is_days_limit_reached, new_delivery
from retinue.notifications.errors import TooManyNotifications
from retinue.notifications.models import Channel, ChannelType
from retinue.notifications.queries import active_channels, fetch_channel
from retinue.notifications.recipients import require_users
from retinue.notifications.schemas import (
    ChannelTested,
    NotificationSend,
    NotificationsSent,
    NotificationTest,
    NotificationTested,
)
from retinue.notifications.sending import Outcome, as_message, attempt, refused, target_of
from retinue.notifications.service import content_of, notify, system_mail
from retinue.notifications.words import TEST_TYPE, Notification, Recipients, Route, plain
from retinue.users.models import User
from retinue.users.queries import fetch_self

PER_MINUTE = 120
TESTS_PER_MINUTE = 10
_MOST_DATA = 16 * 1024
_TITLE = "Test notification"


async def send(ctx: Context, body: NotificationSend) -> NotificationsSent:
    await _count(ctx, f"notify:{ctx.tenant_id}", PER_MINUTE)
    if len(msgspec.json.encode(body.data)) > _MOST_DATA:
        raise Invalid({"data": f"must be at most {_MOST_DATA // 1024} KiB"})
    route = await _route(ctx, body.channels)
    if not (body.user_ids or body.roles or body.all or _needs_nobody(route)):
        raise Invalid({"user_ids": "give user_ids, roles or all"})
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
    done = await notify(ctx, notification, to, route)
    ids = done.notification_ids
    return NotificationsSent(created=len(ids), notification_ids=ids, deliveries=done.deliveries)


async def _route(ctx: Context, named: list[str]) -> Route | None:
    """Each name is a type of channels or the id of one."""
    if not named:
        return None
    types = [ChannelType(name) for name in named if name in set(ChannelType)]
    channels = [
        await fetch_channel(ctx, name) for name in dict.fromkeys(named) if name not in set(ChannelType)
    ]
    return Route(types=tuple(types), channels=tuple(channels))


def _needs_nobody(route: Route | None) -> bool:
    """Whether it goes where no user's address is needed."""
    if route is None:
        return False
    types = {*route.types, *(channel.type for channel in route.channels if not target_of(channel))}
    return not types & {ChannelType.in_app, ChannelType.email}


async def test_channel(ctx: Context, channel: Channel) -> ChannelTested:
    """To the caller's own address, or to where the channel goes; one that is disabled is tested as well."""
    await _count_test(ctx)
    user = await fetch_self_anywhere(ctx)
    outcome = await _test_through(ctx, channel, user, "")
    said = outcome.message or "The test notification was delivered."
    return ChannelTested(success=outcome.is_delivered, message=said, delivery_time_ms=outcome.time_ms)


async def test_self(ctx: Context, body: NotificationTest) -> NotificationTested:
    """A test to the caller's own account; nobody else's address can be given."""
    await _count_test(ctx)
    user = await fetch_self(ctx)
    outcome = await _test_by_type(ctx, body, user)
    said = outcome.message or "The test notification was delivered."
    return NotificationTested(
        success=outcome.is_delivered,
        channel_type=body.channel_type,
        message=said,
        delivery_time_ms=outcome.time_ms,
    )


async def _test_by_type(ctx: Context, body: NotificationTest, user: User) -> Outcome:
    if body.channel_type is ChannelType.in_app:
        return await _test_inside(ctx, user, body.message)
    channels = await active_channels(ctx, body.channel_type)
    if channels:
        return await _test_through(ctx, channels[0], user, body.message)
    if body.channel_type is ChannelType.email:
        return await _test_by_system_mail(ctx, user, body.message)
    return refused("channel_not_found", f"There is no active channel of the type {body.channel_type}.")


async def _test_inside(ctx: Context, user: User, message: str) -> Outcome:
    started = ctx.clock.monotonic()
    async with ctx.unit() as unit:
        # At home, also for a super administrator who acts in another tenant.
        unit.act_in(user.tenant_id)
        await inbox.store(unit, [user.id], _test(message))
    return Outcome(is_delivered=True, time_ms=_since(ctx, started))


async def _test_through(ctx: Context, channel: Channel, user: User, message: str) -> Outcome:
    """One attempt, kept in the channel's log like any other."""
    if channel.type is ChannelType.in_app:
        return await _test_inside(ctx, user, message)
    if channel.type is ChannelType.email and not user.email_verified:
        return refused("email_not_verified", "Your own mail address is not verified yet.")
    if await is_days_limit_reached(ctx, channel.type):
        return refused(TooManyNotifications.code, (TooManyNotifications.__doc__ or "").strip())
    said = f"{message}\n\n" if message else ""
    notification = _test(
        f"{said}Sent by {user.first_name} {user.last_name} to test the channel {channel.name}."
    )
    recipient = user.email if channel.type is ChannelType.email else target_of(channel)
    content = content_of(ctx, notification)
    more: dict[str, Any] = {"user_id": user.id, "is_test": True}
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
    outcome = await attempt(ctx, channel, as_message(recipient, notification.title, content, delivery.id))
    async with ctx.unit() as unit:
        await end(unit, channel, delivery, outcome, 1)
    return outcome


async def _test_by_system_mail(ctx: Context, user: User, message: str) -> Outcome:
    if not user.email_verified:
        return refused("email_not_verified", "Your own mail address is not verified yet.")
    started = ctx.clock.monotonic()
    try:
        await ctx.adapter(Mailer).send(system_mail(ctx, user.email, _test(message)))
    except MailFailed as error:
        return refused(ProviderRefused.code, error.message)
    return Outcome(is_delivered=True, time_ms=_since(ctx, started))


def _test(message: str) -> Notification:
    return Notification(type=TEST_TYPE, title=_TITLE, message=plain(message) or "Notifications arrive here.")


async def fetch_self_anywhere(ctx: Context) -> User:
    """The caller's own record, at home also for a super administrator who acts in another tenant."""
    home = ctx.principal.home_tenant_id
    if not home:
        return await fetch_self(ctx)
    found = await ctx.system("the caller lives in another tenant").get(User, ctx.principal.id)
    assert found is not None, "whoever calls is there"
    return found


async def _count_test(ctx: Context) -> None:
    await _count(ctx, f"notify-test:{ctx.principal.id}", TESTS_PER_MINUTE)


async def _count(ctx: Context, key: str, most: int) -> None:
    decision = await ctx.instance.limiter.hit_window(key, most, 60)
    if not decision.allowed:
        raise decision.refusal(TooManyNotifications)


def _since(ctx: Context, started: float) -> int:
    return max(0, round((ctx.clock.monotonic() - started) * 1000))
