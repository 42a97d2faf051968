"""Objects and calls of incoming webhooks for the contract tests."""

from retinue.incoming.models import IncomingWebhook
from tests.contract.knowledge import Call, DomainContract, Scene, World
from tests.factories.incoming import some_incoming_webhook, some_received


async def _make(world: World) -> dict[str, str]:
    hook = await world.ctx.db.insert(some_incoming_webhook(world.owner.id, world.name))
    received = await world.ctx.db.insert(some_received(hook, f'"{world.name}"'))
    return {"incoming_webhook_id": hook.id, "slug": hook.slug, "received_id": received.id}


CONTRACT = DomainContract(records=(IncomingWebhook,), make=_make, shared={"slug"})


_CHANGED = "incoming_webhooks.name incoming_webhooks.updated_at"


@CONTRACT.writes(incoming_webhooks=1)
async def create_incoming_webhook(scene: Scene) -> Call:
    verification = {"type": "token", "secret": "s"}
    return Call(scene.me, {"name": "New", "verification": verification})


@CONTRACT.writes(_CHANGED)
async def update_incoming_webhook(scene: Scene) -> Call:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        hook = await ctx.db.insert(some_incoming_webhook(scene.user.id))
    return Call(scene.me, {"name": "Renamed"}, {"incoming_webhook_id": hook.id})
