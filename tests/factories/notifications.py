"""Notification channels and notifications, made through the real routes or put straight into the database."""

from typing import Any

from retinue.kit.context import Context
from retinue.notifications import inbox
from retinue.notifications.delivery.deliveries import new_delivery
from retinue.notifications.models import Channel, ChannelType, Delivery, DeliveryContent, UserNotification
from retinue.notifications.notification import Notification
from tests.client import Api

CHANNELS = "/api/v1/notification-channels"
NOTIFICATIONS = "/api/v1/notifications"

_TYPES = {"slack_webhook": "team_chat", "slack_bot": "team_chat", "http": "webhook", "twilio": "sms"}
_TYPES |= {"vonage": "sms", "in_app": "in_app"}


def type_of(provider: str) -> str:
    return _TYPES.get(provider, "email")


async def make_channel(person: Api, provider: str, config: dict[str, Any], **more: Any) -> dict[str, Any]:
    body = {"name": f"My {provider}", "type": type_of(provider), "provider": provider, "config": config}
    answer = await person.post(CHANNELS, {**body, **more})
    assert answer.status == 201, answer
    return answer.json()


async def get_channel(person: Api, id: str) -> dict[str, Any]:
    answer = await person.get(f"{CHANNELS}/{id}")
    assert answer.status == 200, answer
    return answer.json()


async def logs_of(person: Api, id: str, **query: Any) -> list[dict[str, Any]]:
    """Return the delivery logs, newest first."""
    answer = await person.get(f"{CHANNELS}/{id}/logs", query=query)
    assert answer.status == 200, answer
    found = answer.json()
    assert found["total"] == len(found["data"])
    return found["data"]


async def send(person: Api, **body: Any) -> dict[str, Any]:
    answer = await person.post(NOTIFICATIONS, {"title": "Hello", **body})
    assert answer.status == 202, answer
    return answer.json()


async def notifications_of(person: Api, **query: Any) -> dict[str, Any]:
    """Return one page of notifications, newest first."""
    answer = await person.get(NOTIFICATIONS, query=query)
    assert answer.status == 200, answer
    return answer.json()


async def titles_of(person: Api, **query: Any) -> list[str]:
    return [one["title"] for one in (await notifications_of(person, **query))["data"]]


def some_channel(user_id: str, name: str = "Channel", **more: Any) -> Channel:
    """A record to insert where no route is in between; it is of the kind that calls nobody."""
    given: dict[str, Any] = {"type": ChannelType.in_app, "provider": "in_app", "config": {}, **more}
    return Channel(name=name, secret_keys=[], created_by=user_id, **given)


def some_delivery(ctx: Context, channel: Channel, subject: str = "Hello") -> Delivery:
    return new_delivery(
        ctx, channel, recipient="", type="manual", subject=subject, content=DeliveryContent(text=subject)
    )


async def some_notification(ctx: Context, user_id: str, title: str = "Hello") -> UserNotification:
    (id,) = await inbox.store(ctx, [user_id], Notification(type="manual", title=title, message=title))
    found = await ctx.db.get(UserNotification, id)
    assert found is not None
    return found
