"""Objects and calls of credentials for the contract tests."""

from retinue.credentials.models import AccessRule, Credential
from tests.contract.knowledge import Call, DomainContract, Scene, World
from tests.factories.credentials import some_credential, some_rule


async def _make(world: World) -> dict[str, str]:
    credential = await world.ctx.db.insert(some_credential(world.owner.id, world.name))
    rule = await world.ctx.db.insert(some_rule(credential))
    return {"credential_id": credential.id, "access_id": rule.id}


CONTRACT = DomainContract(records=(Credential, AccessRule), make=_make)


async def _credential(scene: Scene) -> dict[str, str]:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        return {"credential_id": (await ctx.db.insert(some_credential(scene.user.id))).id}


@CONTRACT.writes(credentials=1)
async def create_credential(scene: Scene) -> Call:
    return Call(scene.me, {"name": "New", "type": "api_key", "secrets": {"api_key": "sk-1"}})


@CONTRACT.writes("credentials.name credentials.metadata credentials.updated_at")
async def update_credential(scene: Scene) -> Call:
    return Call(scene.me, {"name": "Renamed", "metadata": {"team": "sales"}}, await _credential(scene))


_OF_SECRETS = "secrets secret_keys masked version rotated_at updated_at"


@CONTRACT.writes(" ".join(f"credentials.{column}" for column in _OF_SECRETS.split()))
async def update_credential_secrets(scene: Scene) -> Call:
    return Call(scene.me, {"secrets": {"api_key": "sk-2"}}, await _credential(scene))


@CONTRACT.writes(credential_access=1)
async def grant_credential_access(scene: Scene) -> Call:
    body = {"integration_type": "tool", "integration_id": "tool_1"}
    return Call(scene.me, body, await _credential(scene))


@CONTRACT.writes()
async def test_credential(scene: Scene) -> Call:
    return Call(scene.me, {"secrets": {"api_key": "sk-2"}}, await _credential(scene))
