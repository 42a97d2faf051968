"""Turns that try an agent out: another version or model of it, or a conversation that begins elsewhere.

They are stored, metered, budgeted and traced like others, under a channel of their own that the statistics of
the agent leave out.
"""

from collections.abc import Sequence

import msgspec

from retinue.agents import pinned
from retinue.agents.models import Agent
from retinue.chat.attachment_models import (
    ConversationFile,
)
from retinue.chat.engine.sources import cited_sources
from retinue.chat.errors import ConversationNotFound
from retinue.chat.events import ChatStarted
from retinue.chat.models import (
    ChatChannel,
    Conversation,
    Message,
    Speaker,
)
from retinue.chat.queries import find_visible_conversation
from retinue.chat.schemas import ChatAsk, ChatReply
from retinue.chat.turn.history import load_newest_messages
from retinue.chat.turn.request import TurnRequest
from retinue.chat.turn.turn_conversation import build_conversation, find_own_conversation
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.http.idempotent_steps import idempotent_step

MAX_SEED_CHARACTERS = 200_000


class SeedText(msgspec.Struct, frozen=True):
    """A message that a conversation begins with."""

    role: Speaker
    content: str
    original: Message | None = None


class Trial:
    """A request that tries the agent out: with another configuration, or with messages to begin with."""

    def __init__(self, body: ChatAsk) -> None:
        self._body = body
        self._seeds: Sequence[SeedText] = ()

    async def pin(self, ctx: Context, request: TurnRequest) -> TurnRequest:
        """Return the turn with what the caller wants to try; raise if that is not allowed."""
        ctx.principal.require("agents:read")
        body, agent = self._body, request.agent
        _check_combination(body)
        request = msgspec.structs.replace(request, channel=ChatChannel.playground)
        if body.version is not None:
            request = await _pin_version(ctx, request, agent, body)
        if body.conversation_id is not None:
            await _require_playground(ctx, agent, body.conversation_id)
        self._seeds = await _load_seeds(ctx, agent, body)
        return request

    async def seed(self, ctx: Context, request: TurnRequest) -> TurnRequest:
        """Store the conversation that begins with other messages, if any, and return the turn within it."""
        if not self._seeds:
            return request
        conversation_id = await idempotent_step(
            ctx, "seed", str, lambda unit: _store_conversation(unit, request, self._seeds)
        )
        return msgspec.structs.replace(request, conversation_id=conversation_id)


def find_trial(body: ChatAsk) -> Trial | None:
    """Return what a request tries out, or None for an ordinary message."""
    if body.version or body.seed_messages or body.from_conversation_id or body.as_:
        return Trial(body)
    if body.model is not None:
        raise Invalid({"model": "needs a version"})
    return None


async def _pin_version(ctx: Context, request: TurnRequest, agent: Agent, body: ChatAsk) -> TurnRequest:
    """Use the configuration that the caller names.

    It may have tools that the agent in use no longer has, or not yet: who may try it may also change it.
    """
    assert body.version is not None
    if body.version != agent.version or body.model is not None:
        ctx.principal.require("agents:write")
    configuration = await pinned.load(ctx, agent, body.version, body.model)
    return msgspec.structs.replace(
        request, agent=pinned.configured(agent, configuration), pinned=configuration
    )


def _check_combination(body: ChatAsk) -> None:
    if body.model is not None and body.version is None:
        raise Invalid({"model": "needs a version"})
    if body.seed_messages and body.from_conversation_id:
        raise Invalid({"seed_messages": "cannot be combined with from_conversation_id"})
    if body.conversation_id and (body.seed_messages or body.from_conversation_id):
        raise Invalid({"conversation_id": "cannot be combined with messages that a new one begins with"})
    if sum(len(seed.content) for seed in body.seed_messages or ()) > MAX_SEED_CHARACTERS:
        raise Invalid({"seed_messages": f"must be at most {MAX_SEED_CHARACTERS} characters in all"})


async def _require_playground(ctx: Context, agent: Agent, conversation_id: str) -> None:
    """Keep conversations that count apart from those that do not."""
    conversation = await find_own_conversation(ctx, agent, conversation_id)
    if conversation is None:
        raise ConversationNotFound
    if conversation.channel is not ChatChannel.playground:
        raise Invalid({"conversation_id": "must be a conversation of the channel playground"})


async def _load_seeds(ctx: Context, agent: Agent, body: ChatAsk) -> Sequence[SeedText]:
    if body.from_conversation_id is None:
        return [SeedText(seed.role, seed.content) for seed in body.seed_messages or ()]
    source = await find_visible_conversation(ctx, body.from_conversation_id)
    if source is None or source.agent_id != agent.id:
        raise ConversationNotFound
    messages = await load_newest_messages(ctx, source)
    return [SeedText(message.role, message.content, message) for message in messages]


async def _store_conversation(unit: Context, request: TurnRequest, seeds: Sequence[SeedText]) -> str:
    conversation = build_conversation(unit, request)
    conversation.message_count = len(seeds)
    await unit.db.insert(conversation)
    for position, seed in enumerate(seeds, 1):
        message = await unit.db.insert(_copy(conversation, seed, position))
        for attachment in message.attachments or ():
            await unit.db.insert(
                ConversationFile(
                    conversation_id=conversation.id, message_id=message.id, file_id=attachment.file_id
                )
            )
    unit.emit(
        ChatStarted(
            conversation_id=conversation.id,
            agent_id=conversation.agent_id,
            channel=request.channel,
            user_id=conversation.user_id,
            session_id=None,
        )
    )
    return conversation.id


def _copy(conversation: Conversation, seed: SeedText, position: int) -> Message:
    message = Message(
        conversation_id=conversation.id, role=seed.role, content=seed.content, position=position
    )
    if seed.original is not None:
        original = seed.original
        message.status, message.details, message.rounds = original.status, original.details, original.rounds
        message.attachments = original.attachments
    return message


def render_reply(message: Message, body: ChatAsk) -> ChatReply:
    """Return the reply; a visitor is not told of tools, models and prices, as on the public endpoint."""
    reply, details = ChatReply.from_record(message), message.details
    if body.as_ is None or details is None:
        return reply
    sources = tuple(source.plain() for source in cited_sources(message.content, details.sources))
    return msgspec.structs.replace(
        reply, tool_calls=(), sources=sources, warnings=details.plain_warnings(), compaction=None
    )
