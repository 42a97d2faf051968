"""Objects and calls of embed keys and public chat for the contract tests."""

from retinue.agents.models import Agent
from retinue.embed.hosted.page_models import HostedPage, HostedSlug, PageAudience
from retinue.embed.models import EmbedKey, VisitorFile, WidgetDesign, WidgetInstallation
from tests.contract.knowledge import Call, DomainContract, Scene, World
from tests.factories.embed_keys import embed_key_of, some_embed_key
from tests.factories.households import some_agent
from tests.factories.providers import add_key_for


async def _make(world: World) -> dict[str, str]:
    agent = await world.ctx.db.get(Agent, world.ids.get("agent_id", ""))
    if agent is None and "page_slug" in world.wanted:
        # The path of a page names no agent.
        agent = await some_agent(world.ctx)
    if agent is None:
        return {}
    key = some_embed_key(agent, world.owner.id, world.name, text=embed_key_of(agent.id))
    embed_key_id = (await world.ctx.db.insert(key)).id
    # A page for members needs no key and no budget.
    slug = f"page-of-{agent.id[-20:]}"
    await world.ctx.db.insert(HostedSlug(agent_id=agent.id, slug=slug))
    await world.ctx.db.insert(HostedPage(agent_id=agent.id, slug=slug, audience=PageAudience.members))
    return {"embed_key_id": embed_key_id, "page_slug": slug}


CONTRACT = DomainContract(
    records=(EmbedKey, VisitorFile, WidgetDesign, WidgetInstallation, HostedPage, HostedSlug),
    make=_make,
    shared={"page_slug"},
    texts={
        "upload_visitor_file": {"session_id": "a-session-of-one-visitor"},
        "chat_audio_in_public": {"session_id": "a-session-of-one-visitor"},
    },
)


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
    """Return an agent whose model is the provider of the scene."""
    agent, _ = await _agent_and_key(scene)
    await add_key_for(scene.me, scene.provider, models=["m"])
    model = {"primary_model": "openai_compatible/m"}
    assert (await scene.me.put(f"/api/v1/agents/{agent.id}", model)).status == 200
    return agent


@CONTRACT.writes(embed_keys=1)
async def create_embed_key(scene: Scene) -> Call:
    agent, _ = await _agent_and_key(scene)
    return Call(scene.me, {"agent_id": agent.id, "name": "New"})


@CONTRACT.writes(_REVOKED)
async def revoke_embed_key(scene: Scene) -> Call:
    _, key_id = await _agent_and_key(scene)
    return Call(scene.me, {"id": key_id})


@CONTRACT.writes("embed_keys.name embed_keys.allowed_domains embed_keys.updated_at")
async def update_embed_key(scene: Scene) -> Call:
    _, key_id = await _agent_and_key(scene)
    body = {"name": "Renamed", "allowed_domains": ["example.com"]}
    return Call(scene.me, body, {"embed_key_id": key_id})


@CONTRACT.writes(widget_designs=1)
async def update_widget_settings(scene: Scene) -> Call:
    agent, _ = await _agent_and_key(scene)
    return Call(scene.me, {"title": "Support", "accent": "#0a6d76"}, {"agent_id": agent.id})


@CONTRACT.writes(f"{_ROTATED} embed_keys.updated_at")
async def rotate_embed_key(scene: Scene) -> Call:
    _, key_id = await _agent_and_key(scene)
    return Call(scene.me, {"grace_seconds": 5}, {"embed_key_id": key_id})


@CONTRACT.writes(f"{_COUNTED} {_PROVIDER_USED}", conversations=1, messages=2)
async def chat_in_public(scene: Scene) -> Call:
    agent = await _answering_agent(scene)
    body = {"session_id": "s", "message": "Hello"}
    return Call(scene.api.signed_in(_KEY), body, {"agent_id": agent.id})


@CONTRACT.writes(_COUNTED)
async def read_transcript(scene: Scene) -> Call:
    agent = await _answering_agent(scene)
    return Call(scene.api.signed_in(_KEY), {"session_id": "s" * 16}, {"agent_id": agent.id})


@CONTRACT.writes(_PROVIDER_USED, conversations=1, messages=2)
async def create_chat_completion(scene: Scene) -> Call:
    agent = await _answering_agent(scene)
    return Call(scene.me, {"model": agent.id, "messages": [{"role": "user", "content": "Hello"}]})


@CONTRACT.writes(embed_keys=1, hosted_pages=1, hosted_slugs=1)
async def update_hosted_page(scene: Scene) -> Call:
    agent, _ = await _agent_and_key(scene)
    body = {"slug": "of-the-scene", "audience": "public", "monthly_token_budget": 1_000}
    return Call(scene.me, body, {"agent_id": agent.id})


async def _answered_session(scene: Scene) -> tuple[Agent, str]:
    """Return an agent and the id of its reply in a session of a visitor."""
    agent = await _answering_agent(scene)
    body = {"session_id": "s" * 16, "message": "Hello"}
    path = f"/api/v1/public/agents/{agent.id}/chat"
    answer = await scene.api.signed_in(_KEY).post(path, body)
    return agent, answer.json()["assistant_reply"]["id"]


@CONTRACT.writes("messages.is_stopped")
async def stop_public_chat(scene: Scene) -> Call:
    agent, reply_id = await _answered_session(scene)
    body = {"session_id": "s" * 16, "message_id": reply_id}
    return Call(scene.api.signed_in(_KEY), body, {"agent_id": agent.id})


@CONTRACT.writes("messages.rating messages.comment messages.reasons messages.updated_at")
async def rate_public_message(scene: Scene) -> Call:
    agent, reply_id = await _answered_session(scene)
    body = {"session_id": "s" * 16, "message_id": reply_id, "rating": "positive", "comment": "Good"}
    return Call(scene.api.signed_in(_KEY), body, {"agent_id": agent.id})
