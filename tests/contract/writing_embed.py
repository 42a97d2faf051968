"""How the routes of embed keys and public chat are called so that they succeed, and what that may change."""

from retinue.agents.models import Agent
from tests.contract.agent_world import some_agent
from tests.contract.writing import Call, Scene, writes
from tests.factories.embed_keys import some_embed_key
from tests.factories.providers import add_key_for

_KEY = "emb_of-the-scene"
_COUNTED = "embed_keys.request_count embed_keys.last_used_at embed_keys.tokens_used embed_keys.tokens_month"
_REVOKED = "embed_keys.status embed_keys.revoked_at embed_keys.updated_at"
_ROTATED = "embed_keys.key_hash embed_keys.key_prefix embed_keys.previous_hash embed_keys.previous_until"
_PROVIDER_USED = "provider_keys.last_used_at"


async def _agent_and_key(scene: Scene) -> tuple[Agent, str]:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        agent = await some_agent(ctx)
        key = await ctx.db.insert(some_embed_key(agent, scene.user.id, text=_KEY))
    return agent, key.id


async def _answering_agent(scene: Scene) -> Agent:
    """One whose model is the provider of the scene."""
    agent, _ = await _agent_and_key(scene)
    await add_key_for(scene.me, scene.provider, models=["m"])
    model = {"primary_model": "openai_compatible/m"}
    assert (await scene.me.put(f"/api/v1/agents/{agent.id}", model)).status == 200
    return agent


@writes(embed_keys=1)
async def create_embed_key(scene: Scene) -> Call:
    agent, _ = await _agent_and_key(scene)
    return Call(scene.me, {"agent_id": agent.id, "name": "New"})


@writes(_REVOKED)
async def revoke_embed_key(scene: Scene) -> Call:
    _, key_id = await _agent_and_key(scene)
    return Call(scene.me, {"id": key_id})


@writes(f"{_ROTATED} embed_keys.updated_at")
async def rotate_embed_key(scene: Scene) -> Call:
    _, key_id = await _agent_and_key(scene)
    return Call(scene.me, {"grace_seconds": 5}, {"embed_key_id": key_id})


@writes(f"{_COUNTED} {_PROVIDER_USED}", conversations=1, messages=2)
async def chat_in_public(scene: Scene) -> Call:
    agent = await _answering_agent(scene)
    body = {"session_id": "s", "message": "Hello"}
    return Call(scene.api.signed_in(_KEY), body, {"agent_id": agent.id})


@writes(_PROVIDER_USED, conversations=1, messages=2)
async def create_chat_completion(scene: Scene) -> Call:
    agent = await _answering_agent(scene)
    return Call(scene.me, {"model": agent.id, "messages": [{"role": "user", "content": "Hello"}]})
