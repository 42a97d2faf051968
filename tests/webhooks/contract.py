"""Objects and calls of webhooks for the contract tests."""

from retinue.kit.ids import new_id
from retinue.webhooks.models import Webhook, WebhookDelivery
from tests.contract.knowledge import Call, DomainContract, Scene, World
from tests.factories.webhooks import some_delivery, some_webhook


async def _make(world: World) -> dict[str, str]:
    webhook = await world.ctx.db.insert(some_webhook(world.owner.id, f"https://example.com/{world.name}"))
    delivery = await some_delivery(world.ctx, webhook, new_id("evt"))
    return {"webhook_id": webhook.id, "delivery_id": delivery.id}


CONTRACT = DomainContract(records=(Webhook, WebhookDelivery), make=_make)


_TESTED = "webhooks.last_delivery_at webhooks.delivered_count webhooks.failed_count"
_ROTATED = "webhooks.secrets webhooks.secret_prefix webhooks.previous_secret_until webhooks.updated_at"


async def _webhook(scene: Scene) -> dict[str, str]:
    """Return a webhook to the provider of the scene, which accepts everything."""
    async with scene.people.context(scene.user.tenant_id) as ctx:
        webhook = await ctx.db.insert(some_webhook(scene.user.id, scene.provider.url))
    return {"webhook_id": webhook.id}


@CONTRACT.writes("tenants.is_listened_to tenants.updated_at", webhooks=1)
async def create_webhook(scene: Scene) -> Call:
    return Call(scene.me, {"url": "https://example.com/hook", "events": ["*"]})


@CONTRACT.writes("webhooks.description webhooks.updated_at")
async def update_webhook(scene: Scene) -> Call:
    return Call(scene.me, {"description": "Changed"}, await _webhook(scene))


@CONTRACT.writes(_TESTED, webhook_deliveries=1)
async def test_webhook(scene: Scene) -> Call:
    return Call(scene.me, {"event_type": "order.placed"}, await _webhook(scene))


@CONTRACT.writes(_ROTATED)
async def rotate_webhook_secret(scene: Scene) -> Call:
    return Call(scene.me, {"grace_seconds": 5}, await _webhook(scene))


@CONTRACT.writes()
async def replay_deliveries(scene: Scene) -> Call:
    return Call(scene.me, {"event_types": ["order.placed"]}, await _webhook(scene))
