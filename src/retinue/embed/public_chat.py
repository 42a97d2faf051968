"""Public chat with an embed key.

Tool calls, the prompt and the ids of other objects are not disclosed.
"""

import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec

from retinue.agents.models import Agent
from retinue.chat.attachments.preparation import RequestedFiles
from retinue.chat.models import ChatChannel, Message
from retinue.chat.replies import blocking, streaming
from retinue.chat.replies.live import TEXT_ONLY
from retinue.chat.turn.request import TurnRequest
from retinue.embed import visitor_files, visitors, widget_designs
from retinue.embed.failures import hide_provider_errors, hide_provider_errors_in
from retinue.embed.schemas import AgentName, AssistantReply, PublicAsk, PublicReply
from retinue.embed.token_budget import TurnAllowance, turn_allowance
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.http.replies import EventStream
from retinue.kit.json_types import JsonObject

MIN_SESSION_ID_LENGTH = 16
SESSION_ID_TOO_SHORT = "session_id_too_short"
_MAX_CONTEXT_BYTES = 16 * 1024


class PublicVisit(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about a request besides its body: whether a browser sent it."""

    is_browser: bool


async def reply(ctx: Context, agent: Agent, body: PublicAsk, visit: PublicVisit) -> PublicReply:
    async with turn_allowance(ctx, agent) as allowance:
        with hide_provider_errors():
            request = await to_turn_request(ctx, agent, body, allowance, visit)
            message = await blocking.reply(ctx, request, files=await _files(ctx, body))
    return await render_reply(ctx, request, message)


async def stream(ctx: Context, agent: Agent, body: PublicAsk, visit: PublicVisit) -> EventStream:
    async with turn_allowance(ctx, agent) as allowance:
        with hide_provider_errors():
            request = await to_turn_request(ctx, agent, body, allowance, visit)
            files = await _files(ctx, body)
            source = await streaming.stream(ctx, request, level=TEXT_ONLY, files=files)
    return EventStream(_for_visitor(ctx.detached(), request, hide_provider_errors_in(source.events)))


def _for_visitor(
    ctx: Context, request: TurnRequest, events: Callable[[], AsyncIterator[Any]]
) -> Callable[[], AsyncIterator[Any]]:
    """Relay the events; the last one has no sources if the owner hides them, and the session's warning."""

    async def relayed() -> AsyncIterator[Any]:
        async with contextlib.aclosing(events()) as source:  # type: ignore[type-var]
            async for event in source:
                if event.event == "message_stop":
                    sources, warnings = event.data["sources"], event.data["warnings"]
                    if sources and not (await widget_designs.load(ctx, request.agent)).show_sources:
                        sources = []
                    shown = {"sources": sources, "warnings": [*warnings, *_session_warnings(request)]}
                    yield msgspec.structs.replace(event, data={**event.data, **shown})
                else:
                    yield event

    return relayed


async def to_turn_request(
    ctx: Context, agent: Agent, body: PublicAsk, allowance: TurnAllowance, visit: PublicVisit
) -> TurnRequest:
    visitor_id = await visitors.verify_visitor_id(ctx, body.user)
    await visitors.require_quota(ctx, visitor_id)
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
        warnings=ctx.ignored_field_warnings,
    )


async def _files(ctx: Context, body: PublicAsk) -> RequestedFiles | None:
    """Return the files of a message; only those of its session are found."""
    if not body.attachments:
        return None
    await visitor_files.require_allowed(ctx)
    session_id = body.session_id
    return RequestedFiles(body.attachments, lambda ctx, file_id: visitor_files.find(ctx, session_id, file_id))


def _context(body: PublicAsk, *, is_verified: bool) -> JsonObject | None:
    context = body.context or {}
    if len(msgspec.json.encode(context)) > _MAX_CONTEXT_BYTES:
        raise Invalid({"context": f"must be at most {_MAX_CONTEXT_BYTES} bytes"})
    visitor = visitors.describe_visitor(body.user, is_verified=is_verified)
    return {**context, "visitor": visitor} if visitor else context or None


def _session_warnings(request: TurnRequest) -> list[str]:
    return [SESSION_ID_TOO_SHORT] if request.forces_new_conversation else []


async def render_reply(ctx: Context, request: TurnRequest, message: Message) -> PublicReply:
    details = message.details
    assert details is not None
    assert request.session_id is not None
    return PublicReply(
        session_id=request.session_id,
        conversation_id=message.conversation_id,
        assistant_reply=AssistantReply.of(message, role="assistant"),
        sources=await widget_designs.visible_sources(ctx, request.agent, message.content, details.sources),
        usage=details.usage,
        output=details.output,
        agent=AgentName.of(request.agent),
        warnings=[*details.plain_warnings(), *_session_warnings(request)],
    )
