"""Telling people something: `notify` is how every part of the product does it."""

from html import escape
from typing import Any

import msgspec

from retinue.adapters.mail import Mail
from retinue.adapters.mail.letters import letter
from retinue.adapters.mail.outgoing import post
from retinue.kit.context import Context
from retinue.notifications import inbox, preferences, recipients
from retinue.notifications.delivering import accept, new_delivery
from retinue.notifications.errors import ChannelInactive
from retinue.notifications.models import Channel, ChannelType, Content
from retinue.notifications.queries import active_channels
from retinue.notifications.sending import target_of
from retinue.notifications.words import Notification, Notified, Recipients, Route, one_line, plain
from retinue.users.models import User


async def notify(
    ctx: Context, notification: Notification, to: Recipients, route: Route | None = None
) -> Notified:
    """Tell them once the transaction is committed.

    Without a route each user's preferences decide. Mails go to each user's own address; to a team chat, an
    endpoint or a telephone something is said once, however many users it is meant for.
    """
    title = one_line(notification.title) or notification.type
    notification = msgspec.structs.replace(notification, title=title, message=plain(notification.message))
    users = await recipients.resolve(ctx, to)
    told = await recipients.not_told_yet(ctx, users, notification.dedupe_key)
    if users and not told:
        return Notified()
    telling = _Telling(ctx, notification)
    if route is None:
        await telling.as_preferred(told)
    else:
        await telling.by_route(told, route)
    return telling.done


class _Telling:
    """One notification on its way to those who are told."""

    def __init__(self, ctx: Context, notification: Notification) -> None:
        self.done = Notified()
        self._ctx = ctx
        self._notification = notification
        self._content = content_of(ctx, notification)

    async def as_preferred(self, users: list[User]) -> None:
        chosen = await preferences.of_users(self._ctx, [user.id for user in users], self._notification.type)
        await self._store([user for user in users if chosen[user.id].in_app])
        mailed = [user for user in users if chosen[user.id].email]
        if mailed:
            await self._by_type(ChannelType.email, mailed)
        if any(chosen[user.id].team_chat for user in users):
            await self._by_type(ChannelType.team_chat, users)

    async def by_route(self, users: list[User], route: Route) -> None:
        types = list(dict.fromkeys(route.types))
        types += [ChannelType.in_app for channel in route.channels if channel.type is ChannelType.in_app]
        if ChannelType.in_app in types:
            await self._store(users)
        for type in types:
            if type is not ChannelType.in_app:
                await self._by_type(type, users)
        for channel in route.channels:
            if not channel.is_active:
                raise ChannelInactive
            if channel.type is not ChannelType.in_app:
                await self._through(channel, users, may_fall_back=False)

    async def _store(self, users: list[User]) -> None:
        user_ids = [user.id for user in users]
        self.done.notification_ids += await inbox.store(self._ctx, user_ids, self._notification)

    async def _by_type(self, type: ChannelType, users: list[User]) -> None:
        channels = await active_channels(self._ctx, type)
        if channels:
            await self._through(channels[0], users, may_fall_back=True)
        elif type is ChannelType.email and self._ctx.settings.smtp_url:
            for user in users:
                if user.email_verified:
                    await post(self._ctx, system_mail(self._ctx, user.email, self._notification))

    async def _through(self, channel: Channel, users: list[User], *, may_fall_back: bool) -> None:
        to: list[tuple[str, str | None]] = [(target_of(channel), None)]
        if channel.type is ChannelType.email and (users or not target_of(channel)):
            to = [(user.email, user.id) for user in users if user.email_verified]
        deliveries = [
            new_delivery(
                self._ctx,
                channel,
                recipient=recipient,
                user_id=user_id,
                type=self._notification.type,
                subject=self._notification.title,
                content=self._content,
                may_fall_back=may_fall_back,
            )
            for recipient, user_id in to
        ]
        if deliveries:
            self.done.deliveries += await accept(self._ctx, channel, deliveries)


def content_of(ctx: Context, notification: Notification) -> Content:
    """The same words for whichever way they take."""
    paragraphs = _paragraphs(ctx, notification)
    marked = [escape(paragraph).replace("\n", "<br>\n") for paragraph in paragraphs]
    return Content(
        text="\n\n".join(paragraphs),
        html="".join(f"<p>{paragraph}</p>\n" for paragraph in marked),
        data=_data(ctx, notification),
    )


def _paragraphs(ctx: Context, notification: Notification) -> list[str]:
    link = notification.action_url or ""
    if link.startswith("/"):
        link = ctx.settings.base_url + link
    return [part for part in (notification.message, link) if part] or [notification.title]


def _data(ctx: Context, notification: Notification) -> dict[str, Any]:
    return {
        "type": notification.type,
        "priority": notification.priority,
        "action_url": notification.action_url,
        "correlation_id": ctx.caller.correlation_id,
        "tenant_id": ctx.tenant_id,
        "data": notification.data,
    }


def system_mail(ctx: Context, to: str, notification: Notification) -> Mail:
    """The mail of an instance whose tenant has no channel for mails."""
    return letter(to, notification.title, *_paragraphs(ctx, notification))
