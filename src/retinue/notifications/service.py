"""`notify` is how every domain sends notifications."""

from collections.abc import Sequence

import msgspec

from retinue.adapters.mail import Mail
from retinue.adapters.mail.mail_body import GREETING, MailLink, Paragraph, as_html, as_text, build_mail
from retinue.adapters.mail.mail_queue import enqueue_mail
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.notifications import inbox, preferences, recipients
from retinue.notifications.delivery.attempt import default_recipient
from retinue.notifications.delivery.deliveries import enqueue_deliveries, new_delivery
from retinue.notifications.errors import ChannelInactive, NoMailChannel
from retinue.notifications.models import Channel, ChannelType, DeliveryContent
from retinue.notifications.notification import (
    Notification,
    NotificationRoute,
    NotifyResult,
    Recipients,
    clean_message,
    clean_title,
    skipped_no_active_channel,
    skipped_no_verified_address,
)
from retinue.notifications.outsiders import count_mails, find_outsiders, require_allowed
from retinue.notifications.queries import active_channels
from retinue.users.models import User


async def notify(
    ctx: Context, notification: Notification, to: Recipients, route: NotificationRoute | None = None
) -> NotifyResult:
    """Notify the recipients once the transaction is committed.

    Without a route, each user's preferences decide. Mails go to each user's own address. Team chats, webhooks
    and SMS channels get one message, however many users it is for.
    """
    title = clean_title(notification.title) or notification.type
    notification = msgspec.structs.replace(
        notification, title=title, message=clean_message(notification.message)
    )
    named, outsiders = await find_outsiders(ctx, to.emails)
    users = await recipients.resolve_users(
        ctx, msgspec.structs.replace(to, user_ids=(*to.user_ids, *named), emails=())
    )
    new_users = await recipients.claim_dedupe_key(ctx, users, notification.dedupe_key)
    dispatcher = _Dispatcher(ctx, notification)
    if outsiders:
        await dispatcher.mail_outsiders(outsiders, route)
    if (users or outsiders) and not new_users:
        return dispatcher.result
    if route is None:
        await dispatcher.dispatch_by_preferences(new_users)
    else:
        await dispatcher.dispatch_by_route(new_users, route)
    return dispatcher.result


class _Dispatcher:
    """Sends one notification to its recipients and collects the result."""

    def __init__(self, ctx: Context, notification: Notification) -> None:
        self.result = NotifyResult()
        self._ctx = ctx
        self._notification = notification

    async def dispatch_by_preferences(self, users: list[User]) -> None:
        chosen = await preferences.load_for_users(
            self._ctx, [user.id for user in users], self._notification.type
        )
        await self._store([user for user in users if chosen[user.id].in_app])
        mailed = [user for user in users if chosen[user.id].email]
        if mailed:
            await self._send_by_type(ChannelType.email, mailed)
        if any(chosen[user.id].team_chat for user in users):
            await self._send_by_type(ChannelType.team_chat, users)

    async def dispatch_by_route(self, users: list[User], route: NotificationRoute) -> None:
        types = list(dict.fromkeys(route.types))
        types += [ChannelType.in_app for channel in route.channels if channel.type is ChannelType.in_app]
        if ChannelType.in_app in types:
            await self._store(users)
        for type in types:
            if type is not ChannelType.in_app and not await self._send_by_type(type, users):
                is_mail = type is ChannelType.email
                self.result.skipped.append(
                    skipped_no_verified_address() if is_mail else skipped_no_active_channel(type)
                )
        for channel in route.channels:
            if not channel.is_active:
                raise ChannelInactive
            is_outside = channel.type is not ChannelType.in_app
            if is_outside and not await self._send_through(channel, users, may_fall_back=False):
                self.result.skipped.append(skipped_no_verified_address())

    async def mail_outsiders(self, addresses: list[str], route: NotificationRoute | None) -> None:
        """Send a mail to each address through a channel of the tenant; the instance sends none itself."""
        rule = await require_allowed(self._ctx, addresses)
        named = route.channels if route else ()
        chosen = [channel for channel in named if channel.type is ChannelType.email]
        channel = next(iter(chosen or await active_channels(self._ctx, ChannelType.email)), None)
        if channel is None:
            raise NoMailChannel
        if not channel.is_active:
            raise ChannelInactive
        await count_mails(self._ctx, len(addresses), rule)
        await self._enqueue(channel, [(address, None) for address in addresses], may_fall_back=not chosen)

    async def _store(self, users: list[User]) -> None:
        user_ids = [user.id for user in users]
        self.result.notification_ids += await inbox.store(self._ctx, user_ids, self._notification)

    async def _send_by_type(self, type: ChannelType, users: list[User]) -> bool:
        """Return whether anything is sent. Without a mail channel, the instance sends mails itself."""
        channels = await active_channels(self._ctx, type)
        if channels:
            return await self._send_through(channels[0], users, may_fall_back=True)
        mailed = [user for user in users if user.email_verified] if type is ChannelType.email else []
        for user in mailed:
            await enqueue_mail(self._ctx, render_system_mail(self._ctx, user.email, self._notification))
        return bool(mailed)

    async def _send_through(self, channel: Channel, users: list[User], *, may_fall_back: bool) -> bool:
        to: list[tuple[str, str | None]] = [(default_recipient(channel), None)]
        if channel.type is ChannelType.email and (users or not default_recipient(channel)):
            to = [(user.email, user.id) for user in users if user.email_verified]
        await self._enqueue(channel, to, may_fall_back=may_fall_back)
        return bool(to)

    async def _enqueue(
        self, channel: Channel, to: Sequence[tuple[str, str | None]], *, may_fall_back: bool
    ) -> None:
        """Store a delivery for each address and the user it belongs to, if any."""
        deliveries = [
            new_delivery(
                self._ctx,
                channel,
                recipient=recipient,
                user_id=user_id,
                type=self._notification.type,
                subject=self._notification.title,
                content=render_content(self._ctx, self._notification, channel.type),
                may_fall_back=may_fall_back,
            )
            for recipient, user_id in to
        ]
        if deliveries:
            self.result.deliveries += await enqueue_deliveries(self._ctx, channel, deliveries)


def render_content(ctx: Context, notification: Notification, type: ChannelType) -> DeliveryContent:
    """Return the content for a channel type: a letter for mail, the plain message otherwise."""
    paragraphs: tuple[Paragraph, ...] = (GREETING, *_mail_paragraphs(ctx, notification))
    if type is not ChannelType.email:
        link = _link(ctx, notification)
        paragraphs = (*filter(None, (notification.message,)), *((MailLink(link),) if link else ()))
    paragraphs = paragraphs or (notification.title,)
    return DeliveryContent(
        text=as_text(paragraphs).rstrip(), html=as_html(paragraphs), data=_data(ctx, notification)
    )


def render_system_mail(ctx: Context, to: str, notification: Notification) -> Mail:
    """Return the mail that the instance sends when the tenant has no mail channel."""
    return build_mail(to, notification.title, *_mail_paragraphs(ctx, notification))


def _mail_paragraphs(ctx: Context, notification: Notification) -> tuple[Paragraph, ...]:
    """Return the text of a mail after the greeting."""
    if notification.mail:
        return notification.mail
    link = _link(ctx, notification)
    linked: tuple[Paragraph, ...] = ("Open this link to see it:", MailLink(link)) if link else ()
    return (notification.message or notification.title, *linked)


def _link(ctx: Context, notification: Notification) -> str:
    link = notification.action_url or ""
    return ctx.settings.base_url + link if link.startswith("/") else link


def _data(ctx: Context, notification: Notification) -> JsonObject:
    return {
        "type": notification.type,
        "priority": notification.priority,
        "action_url": notification.action_url,
        "correlation_id": ctx.caller.correlation_id,
        "tenant_id": ctx.tenant_id,
        "data": notification.data,
    }
