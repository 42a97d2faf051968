"""How the routes of notifications are called so that they succeed, and what that may change."""

import msgspec

from tests.contract.writing import Call, Scene, writes
from tests.factories.notifications import some_channel, some_notification


class _Chosen(msgspec.Struct):
    """No dict: every key of this object is a type of notifications, so that none can be undeclared."""

    workflow_failed: dict[str, bool]


_SMTP = {"host": "mail.example.com", "password": "p"}


@writes(notification_channels=1)
async def create_notification_channel(scene: Scene) -> Call:
    return Call(scene.me, {"name": "Mail", "type": "email", "provider": "smtp", "config": _SMTP})


@writes(
    " ".join(
        f"notification_channels.{column}"
        for column in ("name", "config", "secrets", "secret_keys", "destination", "updated_at")
    )
)
async def update_notification_channel(scene: Scene) -> Call:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        channel = await ctx.db.insert(
            some_channel(scene.user.id, type="email", provider="smtp", config={"host": "mail.example.com"})
        )
    return Call(scene.me, {"name": "Renamed", "config": _SMTP}, {"channel_id": channel.id})


@writes(user_notifications=1)
async def send_notification(scene: Scene) -> Call:
    return Call(scene.me, {"title": "Hello", "user_ids": [scene.user.id]})


@writes("user_notifications.is_unread user_notifications.read_at user_notifications.updated_at")
async def mark_all_notifications_read(scene: Scene) -> Call:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        await some_notification(ctx, scene.user.id)
    return Call(scene.me, {"type": "manual"})


@writes(notification_preferences=1)
async def update_notification_preferences(scene: Scene) -> Call:
    return Call(scene.me, {"preferences": _Chosen({"email": False})})


@writes(user_notifications=1)
async def test_notification(scene: Scene) -> Call:
    return Call(scene.me, {"channel_type": "in_app", "message": "Hello"})
