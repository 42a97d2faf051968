"""Public chat with an embed key.

Tool calls, the prompt and the ids of other objects are not disclosed.
"""

import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec

from retinue.agents.models import Agent
from retinue.chat.models import ChatChannel, Message
from retinue.chat.replies import blocking, streaming
from retinue.chat.replies.live import TEXT_ONLY
from retinue.chat.turn.request import TurnRequest, ignored_field_warnings
from retinue.embed import visitors
from retinue.embed.failures import hide_provider_errors, hide_provider_errors_in
from retinue.embed.schemas import AgentName, AssistantReply, PublicAsk, PublicReply, PublicSource
from retinue.embed.token_budget import TurnAllowance, turn_allowance
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.http.replies import EventStream
from retinue.kit.json_types import JsonObject

MIN_SESSION_ID_LENGTH = 16
SESSION_ID_TOO_SHORT = "session_id_too_short"
_MAX_CONTEXT_BYTES = 16 * 1024


class PublicVisit(msgspec.Struct, frozen=True, kw_only=True):
    """What a request tells besides its body: whether a browser sent it, and names that had no effect."""

    is_browser: bool
    unknown_fields: tuple[str, ...] = ()


async def reply(ctx: Context, agent: Agent, body: PublicAsk, visit: PublicVisit) -> PublicReply:
    async with turn_allowance(ctx, agent) as allowance:
        request = await _turn_request(ctx, agent, body, allowance, visit)
        with hide_provider_errors():
            message = await blocking.reply_idempotently(ctx, request)
    return _shown(request, message)


async def stream(ctx: Context, agent: Agent, body: PublicAsk, visit: PublicVisit) -> EventStream:
    async with turn_allowance(ctx, agent) as allowance:
        request = await _turn_request(ctx, agent, body, allowance, visit)
        with hide_provider_errors():
            source = await streaming.stream(ctx, request, level=TEXT_ONLY)
    events = hide_provider_errors_in(source.events)
    return EventStream(_with_session_warning(events) if request.forces_new_conversation else events)


def _with_session_warning(events: Callable[[], AsyncIterator[Any]]) -> Callable[[], AsyncIterator[Any]]:
    """Relay the events; the last one also warns that the session cannot be continued."""

    async def relayed() -> AsyncIterator[Any]:
        async with contextlib.aclosing(events()) as source:  # type: ignore[type-var]
            async for event in source:
                if event.event == "message_stop":
                    warnings = [*event.data["warnings"], SESSION_ID_TOO_SHORT]
                    yield msgspec.structs.replace(event, data={**event.data, "warnings": warnings})
                else:
                    yield event

    return relayed


async def _turn_request(
    ctx: Context, agent: Agent, body: PublicAsk, allowance: TurnAllowance, visit: PublicVisit
) -> TurnRequest:
    visitor_id = await visitors.verify_visitor_id(ctx, body.user)
    return TurnRequest(
        # In a browser the key is public, so a guessable session id would expose another conversation.
        forces_new_conversation=visit.is_browser and len(body.session_id) < MIN_SESSION_ID_LENGTH,
        agent=agent,
        message=body.message,
        channel=ChatChannel.public,
        session_id=body.session_id,
        embed_key_id=ctx.principal.id,
        visitor_id=visitor_id,
        context=_context(body, is_verified=visitor_id is not None),
        token_budget=allowance.tokens,
        on_turn_end=allowance.on_turn_end,
        warnings=ignored_field_warnings(visit.unknown_fields),
    )


def _context(body: PublicAsk, *, is_verified: bool) -> JsonObject | None:
    context = body.context or {}
    if len(msgspec.json.encode(context)) > _MAX_CONTEXT_BYTES:
        raise Invalid({"context": f"must be at most {_MAX_CONTEXT_BYTES} bytes"})
    visitor = visitors.describe_visitor(body.user, is_verified=is_verified)
    return {**context, "visitor": visitor} if visitor else context or None


def _shown(request: TurnRequest, message: Message) -> PublicReply:
    details = message.details
    assert details is not None
    assert request.session_id is not None
    session_warnings = [SESSION_ID_TOO_SHORT] if request.forces_new_conversation else []
    return PublicReply(
        session_id=request.session_id,
        conversation_id=message.conversation_id,
        assistant_reply=AssistantReply.of(message, role="assistant"),
        sources=[PublicSource.of(source) for source in details.sources],
        usage=details.usage,
        agent=AgentName.of(request.agent),
        warnings=[*details.plain_warnings(), *session_warnings],
    )
