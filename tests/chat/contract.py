"""Objects and calls of chat for the contract tests."""

from retinue.agents.models import Agent
from retinue.chat.attachment_models import (
    ConversationFile,
    FileDerivative,
)
from retinue.chat.models import (
    ChatJob,
    Conversation,
    Message,
)
from retinue.chat.share_models import ConversationReader, ConversationShare, ShareAudience
from tests.contract.knowledge import Call, DomainContract, Scene, World
from tests.factories.agents import make_agent
from tests.factories.conversations import Talk, some_talk
from tests.factories.households import some_agent
from tests.factories.providers import add_key_for


async def _make(world: World) -> dict[str, str]:
    agent = await world.ctx.db.get(Agent, world.ids.get("agent_id", ""))
    if agent is None:
        return {}
    talk = await some_talk(world.ctx, agent, world.owner.id, world.name)
    await _share_with_owner(world, talk)
    return {"conversation_id": talk.conversation.id, "message_id": talk.reply.id, "job_id": talk.job.id}


async def _share_with_owner(world: World, talk: Talk) -> None:
    """Store a share that lets nobody read who could not read before."""
    await world.ctx.db.update(talk.conversation, is_shared=True)
    await world.ctx.db.insert(
        ConversationShare(
            conversation_id=talk.conversation.id,
            audience=ShareAudience.people,
            until_message_id=talk.reply.id,
            until_position=talk.reply.position,
        )
    )
    await world.ctx.db.insert(
        ConversationReader(conversation_id=talk.conversation.id, user_id=world.owner.id)
    )


CONTRACT = DomainContract(
    records=(
        Conversation,
        ConversationFile,
        ConversationShare,
        ConversationReader,
        FileDerivative,
        Message,
        ChatJob,
    ),
    make=_make,
)


_GREETING = {"message": "Hello", "context": {"page": "/prices"}}


async def _create_answering_agent(scene: Scene) -> dict[str, str]:
    """An agent whose model answers."""
    await add_key_for(scene.me, scene.provider, models=["test-model"])
    agent = await make_agent(scene.me, primary_model="openai_compatible/test-model")
    return {"agent_id": agent["id"]}


async def _talk(scene: Scene) -> Talk:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        return await some_talk(ctx, await some_agent(ctx), scene.user.id)


@CONTRACT.writes("provider_keys.last_used_at", conversations=1, messages=2)
async def chat(scene: Scene) -> Call:
    return Call(scene.me, _GREETING, await _create_answering_agent(scene))


@CONTRACT.writes("provider_keys.last_used_at", conversations=1, messages=2)
async def chat_stream(scene: Scene) -> Call:
    return Call(scene.me, _GREETING, await _create_answering_agent(scene))


@CONTRACT.writes(conversations=1, messages=1, chat_jobs=1)
async def chat_async(scene: Scene) -> Call:
    return Call(scene.me, _GREETING, await _create_answering_agent(scene))


@CONTRACT.writes("provider_keys.last_used_at")
async def chat_tts(scene: Scene) -> Call:
    await add_key_for(scene.me, scene.provider, provider="mistral", models=["speaks"])
    return Call(scene.me, {"text": "Hello."}, await _create_answering_agent(scene))


@CONTRACT.writes("conversations.title conversations.updated_at")
async def rename_conversation(scene: Scene) -> Call:
    talk = await _talk(scene)
    return Call(scene.me, {"title": "Renamed"}, {"conversation_id": talk.conversation.id})


@CONTRACT.writes()
async def make_conversation_title(scene: Scene) -> Call:
    talk = await _talk(scene)
    return Call(scene.me, {}, {"conversation_id": talk.conversation.id})


@CONTRACT.writes(
    "conversations.is_shared conversations.updated_at", conversation_shares=1, conversation_readers=1
)
async def share_conversation(scene: Scene) -> Call:
    talk = await _talk(scene)
    body = {"audience": "people", "user_ids": [scene.user.id], "until_message_id": talk.reply.id}
    return Call(scene.me, body, {"conversation_id": talk.conversation.id})


@CONTRACT.writes(conversations=1, messages=2)
async def continue_conversation(scene: Scene) -> Call:
    talk = await _talk(scene)
    body = {"until_message_id": talk.reply.id}
    return Call(scene.me, body, {"conversation_id": talk.conversation.id})


@CONTRACT.writes("agents.log_settings agents.updated_at agents.version", agent_versions=1)
async def update_log_settings(scene: Scene) -> Call:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        agent = await some_agent(ctx)
    return Call(scene.me, {"retention_days": 7}, {"agent_id": agent.id})


@CONTRACT.writes("messages.rating messages.comment messages.reasons messages.updated_at")
async def rate_message(scene: Scene) -> Call:
    talk = await _talk(scene)
    path = {"agent_id": talk.conversation.agent_id, "message_id": talk.reply.id}
    return Call(scene.me, {"rating": "positive", "comment": "Thanks", "reasons": ["other"]}, path)
