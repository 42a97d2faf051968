"""The `notification` action of subscriptions: an event becomes a notification."""

from typing import Annotated

import msgspec
from msgspec import Meta

from retinue.access.models import Role
from retinue.kit.context import Context
from retinue.kit.context.subscription_actions import ActingSubscription, SubscriptionAction
from retinue.kit.errors import Invalid
from retinue.kit.events.routing import DispatchedEvent
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.configs import parse_config
from retinue.kit.text.templates import as_text, render
from retinue.notifications.errors import ChannelNotFound, NotificationNotSent
from retinue.notifications.models import ChannelType
from retinue.notifications.notification import MAX_MESSAGE_LENGTH, Notification, NotificationRoute, Recipients
from retinue.notifications.queries import fetch_channel
from retinue.notifications.recipients import require_users
from retinue.notifications.schemas import MAX_RECIPIENTS, Id
from retinue.notifications.service import notify

# The notification types the specification names; for every other event, the event type is used.
_TYPES = {
    "workflow.execution.completed": "workflow_completed",
    "workflow.execution.failed": "workflow_failed",
    "form.submission.created": "form_submission",
    "approval.requested": "approval_requested",
}
_MAX_TYPE_LENGTH = 64
_MAX_DATA_BYTES = 16 * 1024


class ActionRecipients(msgspec.Struct, kw_only=True):
    """Whom a subscription notifies."""

    user_ids: Annotated[list[Id], Meta(max_length=MAX_RECIPIENTS)] = []
    roles: Annotated[list[Role], Meta(max_length=20)] = []


class NotificationActionConfig(msgspec.Struct, kw_only=True):
    """Settings of a subscription that notifies people."""

    channel_id: Id | None = None
    channel_type: ChannelType | None = None
    recipients: ActionRecipients | None = None
    title: Annotated[str, Meta(max_length=1000)] | None = None
    message: Annotated[str, Meta(max_length=MAX_MESSAGE_LENGTH)] | None = None


async def check(ctx: Context, config: JsonObject) -> None:
    """Refuse a configuration that could never work: a channel or users that the tenant does not have."""
    parsed = parse_config(config, NotificationActionConfig, "action_config")
    if parsed.channel_id is not None:
        try:
            await fetch_channel(ctx, parsed.channel_id)
        except ChannelNotFound as error:
            raise Invalid({"action_config.channel_id": error.message}) from None
    if parsed.recipients is not None:
        await require_users(ctx, parsed.recipients.user_ids, "action_config.recipients.user_ids")


async def perform(ctx: Context, subscribed: ActingSubscription, event: DispatchedEvent) -> None:
    """Notify the configured recipients; by default in-app, to the creator of the subscription."""
    parsed = parse_config(subscribed.config, NotificationActionConfig, "action_config")
    named_recipients = parsed.recipients or ActionRecipients()
    to = Recipients(user_ids=tuple(named_recipients.user_ids), roles=tuple(named_recipients.roles))
    if not (named_recipients.user_ids or named_recipients.roles):
        to = Recipients(user_ids=(subscribed.created_by,))
    scope = {"data": event.data, **_template_scope(event)}
    notification = Notification(
        type=_TYPES.get(event.type, event.type)[:_MAX_TYPE_LENGTH],
        title=as_text(render(parsed.title or "", scope)) or event.type,
        message=as_text(render(parsed.message or "", scope)),
        data=_notification_data(event),
        dedupe_key=f"{event.id}:{subscribed.id}",
    )
    result = await notify(ctx, notification, to, await _route(ctx, parsed))
    if result.skipped:
        raise NotificationNotSent(result.skipped[0].message)


async def _route(ctx: Context, config: NotificationActionConfig) -> NotificationRoute | None:
    if config.channel_id is not None:
        return NotificationRoute(channels=(await fetch_channel(ctx, config.channel_id),))
    if config.channel_type is not None:
        return NotificationRoute(types=(config.channel_type,))
    return None


def _template_scope(event: DispatchedEvent) -> JsonObject:
    return {
        "id": event.id,
        "type": event.type,
        "category": event.category,
        "correlation_id": event.correlation_id,
        "created_at": event.created_at,
    }


def _notification_data(event: DispatchedEvent) -> JsonObject:
    """Return the notification's data, with the event's data unless it is too large to copy."""
    data = event.data if len(msgspec.json.encode(event.data)) <= _MAX_DATA_BYTES else {}
    return {"event_id": event.id, "event_type": event.type, "data": data}


action = SubscriptionAction("notification", check, perform, NotificationActionConfig)
