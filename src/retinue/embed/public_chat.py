"""Public chat: what a page or a program with an embed key says to its agent, and what it gets to see.

Tools, their inputs and outputs, the prompt and the ids of other objects stay inside.
"""

from typing import Any

import msgspec

from retinue.agents.models import Agent
from retinue.chat import answering, streaming
from retinue.chat.asking import Ask
from retinue.chat.live import TEXT
from retinue.chat.models import Channel, Message
from retinue.embed import visitors
from retinue.embed.failures import hushed, hushed_events
from retinue.embed.schemas import AgentName, AssistantReply, PublicAsk, PublicReply, PublicSource
from retinue.embed.usage import Spending, spending
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.http.replies import EventStream

_MAX_CONTEXT_BYTES = 16 * 1024


async def reply(ctx: Context, agent: Agent, body: PublicAsk) -> PublicReply:
    async with spending(ctx, agent) as allowed:
        ask = await _ask(ctx, agent, body, allowed)
        with hushed():
            message = await answering.reply_once(ctx, ask)
    return _shown(body.session_id, agent, message)


async def stream(ctx: Context, agent: Agent, body: PublicAsk) -> EventStream:
    async with spending(ctx, agent) as allowed:
        source = await streaming.stream(ctx, await _ask(ctx, agent, body, allowed), level=TEXT)
    return EventStream(hushed_events(source.events))


async def _ask(ctx: Context, agent: Agent, body: PublicAsk, allowed: Spending) -> Ask:
    visitor_id = await visitors.proven_id(ctx, body.user)
    return Ask(
        agent=agent,
        message=body.message,
        channel=Channel.public,
        session_id=body.session_id,
        embed_key_id=ctx.principal.id,
        visitor_id=visitor_id,
        context=_context(body, is_proven=visitor_id is not None),
        token_budget=allowed.tokens,
        at_end=allowed.at_end,
    )


def _context(body: PublicAsk, *, is_proven: bool) -> dict[str, Any] | None:
    given = body.context or {}
    if len(msgspec.json.encode(given)) > _MAX_CONTEXT_BYTES:
        raise Invalid({"context": f"must have at most {_MAX_CONTEXT_BYTES} bytes"})
    visitor = visitors.described(body.user, is_proven=is_proven)
    return {**given, "visitor": visitor} if visitor else given or None


def _shown(session_id: str, agent: Agent, message: Message) -> PublicReply:
    details = message.details
    assert details is not None
    return PublicReply(
        session_id=session_id,
        conversation_id=message.conversation_id,
        assistant_reply=AssistantReply.of(message, role="assistant"),
        sources=[PublicSource.of(source) for source in details.sources],
        usage=details.usage,
        agent=AgentName.of(agent),
    )
