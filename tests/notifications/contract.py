"""Objects and calls of notifications for the contract tests."""

import msgspec

from retinue.notifications.models import Channel, Preferences, UserNotification
from tests.contract.knowledge import Call, DomainContract, Scene, World
from tests.factories.notifications import some_channel, some_notification


async def _make(world: World) -> dict[str, str]:
    channel = await world.ctx.db.insert(some_channel(world.owner.id, world.name))
    notification = await some_notification(world.ctx, world.owner.id, world.name)
    return {"channel_id": channel.id, "notification_id": notification.id}


CONTRACT = DomainContract(
    records=(Channel, Preferences, UserNotification), make=_make, values={"channel_type": ["email"]}
)


class _Chosen(msgspec.Struct):
    """No dict: every key of this object is a type of notifications, so that none can be undeclared."""

    workflow_failed: dict[str, bool]


_SMTP = {"host": "mail.example.com", "password": "p"}


@CONTRACT.writes(notification_channels=1)
async def create_notification_channel(scene: Scene) -> Call:
    return Call(scene.me, {"name": "Mail", "type": "email", "provider": "smtp", "config": _SMTP})


@CONTRACT.writes(
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


@CONTRACT.writes(user_notifications=1)
async def send_notification(scene: Scene) -> Call:
    return Call(scene.me, {"title": "Hello", "user_ids": [scene.user.id]})


@CONTRACT.writes("user_notifications.is_unread user_notifications.read_at user_notifications.updated_at")
async def mark_all_notifications_read(scene: Scene) -> Call:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        await some_notification(ctx, scene.user.id)
    return Call(scene.me, {"type": "manual"})


@CONTRACT.writes(notification_preferences=1)
async def update_notification_preferences(scene: Scene) -> Call:
    return Call(scene.me, {"preferences": _Chosen({"email": False})})


@CONTRACT.writes(user_notifications=1)
async def test_notification(scene: Scene) -> Call:
    return Call(scene.me, {"channel_type": "in_app", "message": "Hello"})
