"""Objects and calls of provider keys for the contract tests."""

from retinue.providers.models import ProviderKey
from tests.contract.knowledge import Call, DomainContract, Scene, World
from tests.factories.providers import some_key


async def _make(world: World) -> dict[str, str]:
    return {"key_id": (await world.ctx.db.insert(some_key(world.owner.id, world.name))).id}


CONTRACT = DomainContract(records=(ProviderKey,), make=_make)


@CONTRACT.writes(provider_keys=1)
async def create_api_key(scene: Scene) -> Call:
    return Call(scene.me, {"provider": "openai", "api_key": "sk-1"})


@CONTRACT.writes("provider_keys.name provider_keys.priority provider_keys.updated_at")
async def update_api_key(scene: Scene) -> Call:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        key = await ctx.db.insert(some_key(scene.user.id))
    return Call(scene.me, {"name": "Renamed", "priority": 3}, {"key_id": key.id})
