"""The `notification` action of subscriptions: an event becomes a notification."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from retinue.access.models import Role
from retinue.kit.actions import Action, Subscribed
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.events.routing import Happened
from retinue.kit.templates import render
from retinue.kit.validation import field_errors
from retinue.notifications.errors import ChannelNotFound
from retinue.notifications.models import ChannelType
from retinue.notifications.queries import fetch_channel
from retinue.notifications.recipients import require_users
from retinue.notifications.schemas import MOST_RECIPIENTS, Id
from retinue.notifications.service import notify
from retinue.notifications.words import LONGEST_MESSAGE, Notification, Recipients, Route

# What the four types of the specification are called as events; every other event is a type of its own.
_TYPES = {
    "workflow.execution.completed": "workflow_completed",
    "workflow.execution.failed": "workflow_failed",
    "form.submission.created": "form_submission",
    "approval.requested": "approval_requested",
}
_LONGEST_TYPE = 64
_MOST_DATA = 16 * 1024


class _Who(msgspec.Struct, kw_only=True):
    user_ids: Annotated[list[Id], Meta(max_length=MOST_RECIPIENTS)] = []
    roles: Annotated[list[Role], Meta(max_length=20)] = []


class _Config(msgspec.Struct, kw_only=True):
    """What an `action_config` may say; further keys are kept and mean nothing."""

    channel_id: Id | None = None
    channel_type: ChannelType | None = None
    recipients: _Who | None = None
    title: Annotated[str, Meta(max_length=1000)] | None = None
    message: Annotated[str, Meta(max_length=LONGEST_MESSAGE)] | None = None


async def check(ctx: Context, config: dict[str, Any]) -> None:
    """Refuse what could never be done: a channel or users that the tenant does not have."""
    wanted = _read(config)
    if wanted.channel_id is not None:
        try:
            await fetch_channel(ctx, wanted.channel_id)
        except ChannelNotFound as error:
            raise Invalid({"action_config.channel_id": error.message}) from None
    if wanted.recipients is not None:
        await require_users(ctx, wanted.recipients.user_ids, "action_config.recipients.user_ids")


async def perform(ctx: Context, subscribed: Subscribed, event: Happened) -> None:
    """In-app to whoever made the subscription, unless it says otherwise."""
    wanted = _read(subscribed.config)
    who = wanted.recipients or _Who()
    to = Recipients(user_ids=tuple(who.user_ids), roles=tuple(who.roles))
    if not (who.user_ids or who.roles):
        to = Recipients(user_ids=(subscribed.created_by,))
    scope = {"data": event.data, **_about(event)}
    notification = Notification(
        type=_TYPES.get(event.type, event.type)[:_LONGEST_TYPE],
        title=_text(render(wanted.title or "", scope)) or event.type,
        message=_text(render(wanted.message or "", scope)),
        data=_carried(event),
        dedupe_key=f"{event.id}:{subscribed.id}",
    )
    await notify(ctx, notification, to, await _route(ctx, wanted))


async def _route(ctx: Context, wanted: _Config) -> Route | None:
    if wanted.channel_id is not None:
        return Route(channels=(await fetch_channel(ctx, wanted.channel_id),))
    if wanted.channel_type is not None:
        return Route(types=(wanted.channel_type,))
    return None


def _read(config: dict[str, Any]) -> _Config:
    try:
        return msgspec.convert(config, _Config)
    except msgspec.ValidationError as error:
        found = field_errors(error, config, _Config)
        raise Invalid({f"action_config.{name}": what for name, what in found.items()}) from None


def _about(event: Happened) -> dict[str, Any]:
    return {
        "id": event.id,
        "type": event.type,
        "category": event.category,
        "correlation_id": event.correlation_id,
        "created_at": event.created_at,
    }


def _carried(event: Happened) -> dict[str, Any]:
    """The event's data where it is not too much to keep for every recipient."""
    data = event.data if len(msgspec.json.encode(event.data)) <= _MOST_DATA else {}
    return {"event_id": event.id, "event_type": event.type, "data": data}


def _text(rendered: Any) -> str:
    """A template that is one path becomes what stands there, whatever that is."""
    if rendered is None:
        return ""
    return rendered if isinstance(rendered, str) else msgspec.json.encode(rendered).decode()


action = Action(type="notification", check=check, perform=perform)
