"""How the routes of incoming webhooks are called so that they succeed, and what that may change."""

from tests.contract.writing import Call, Scene, writes
from tests.factories.incoming import some_incoming_webhook

_CHANGED = "incoming_webhooks.name incoming_webhooks.updated_at"


@writes(incoming_webhooks=1)
async def create_incoming_webhook(scene: Scene) -> Call:
    verification = {"type": "token", "secret": "s"}
    return Call(scene.me, {"name": "New", "verification": verification})


@writes(_CHANGED)
async def update_incoming_webhook(scene: Scene) -> Call:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        hook = await ctx.db.insert(some_incoming_webhook(scene.user.id))
    return Call(scene.me, {"name": "Renamed"}, {"incoming_webhook_id": hook.id})
