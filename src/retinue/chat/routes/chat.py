from typing import Any

from retinue.adapters.llm import ModelError, ModelTimeout
from retinue.agents.loaders import AgentById
from retinue.chat import answering, background, resuming, streaming
from retinue.chat.asking import Ask
from retinue.chat.engine.budget import OutOfTokens
from retinue.chat.errors import (
    AgentArchived,
    ConversationNotFound,
    MessageNotFound,
    StreamExpired,
    TooManyTurns,
    TurnTimedOut,
)
from retinue.chat.live import EVERYTHING, TOOLS
from retinue.chat.models import Channel
from retinue.chat.schemas import (
    BackgroundAsk,
    ChatAsk,
    ChatReply,
    JobAccepted,
    ResumeQuery,
    Stopped,
    StreamQuery,
)
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.http.idempotency import NotRepeatable, refuse_for_stream
from retinue.kit.http.replies import EventStream, Reply
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Routes
from retinue.providers.errors import ModelNotConfigured

routes = Routes("/api/v1/agents/{agent_id}/chat", tag="chat")

_FAULTS: tuple[Any, ...] = (
    AgentArchived,
    ConversationNotFound,
    ModelError,
    ModelTimeout,
    ModelNotConfigured,
    TurnTimedOut,
    TooManyTurns,
    OutOfTokens,
)


@routes.post("", requires="agents:chat", cost="chat", calls_out=True, errors=_FAULTS)
async def chat(ctx: Context, agent: AgentById, body: ChatAsk) -> ChatReply:
    """Without `conversation_id` a new conversation begins."""
    return ChatReply.shown(await answering.reply_once(ctx, _ask(agent, body, Channel.console)))


@routes.post(
    "/stream",
    requires="agents:chat",
    cost="chat",
    calls_out=True,
    idempotent=False,
    errors=(*_FAULTS, NotRepeatable),
)
async def chat_stream(
    ctx: Context, agent: AgentById, query: StreamQuery, body: ChatAsk, request: Request
) -> EventStream:
    """Events `message_start`, `content_delta`, `tool_use`, `tool_result`, `message_stop`; `error` ends it."""
    refuse_for_stream(request)
    return await streaming.stream(ctx, _ask(agent, body, Channel.console), level=_level(query))


@routes.get("/stream/{message_id}", requires="agents:chat", errors=(MessageNotFound, StreamExpired))
async def resume_chat_stream(
    ctx: Context, agent: AgentById, message_id: str, query: ResumeQuery, request: Request
) -> EventStream:
    """Goes on after the event of `Last-Event-ID` or `after`."""
    after = _last_event(request) if query.after is None else query.after
    return await resuming.resume(ctx, agent, message_id, after, _level(query))


@routes.post("/{message_id}/stop", requires="agents:chat", calls_out=True, errors=(MessageNotFound,))
async def stop_chat(ctx: Context, agent: AgentById, message_id: str) -> Stopped:
    """What was said so far is kept as the reply."""
    await resuming.stop(ctx, agent, message_id)
    return Stopped(message_id=message_id)


@routes.post(
    "/async",
    requires="agents:chat",
    cost="chat",
    status=202,
    calls_out=True,
    errors=(AgentArchived, ConversationNotFound),
)
async def chat_async(ctx: Context, agent: AgentById, body: BackgroundAsk) -> Reply[JobAccepted]:
    """A worker answers; `status_url` tells how far it is."""
    job = await background.accept(ctx, _ask(agent, body, Channel.background), body.callback_url)
    url = f"{ctx.settings.base_url}/api/v1/agents/{agent.id}/chat/jobs/{job.id}"
    accepted = JobAccepted.of(job, job_id=job.id, status_url=url)
    return Reply(accepted, headers=(("Location", url),))


def _ask(agent: AgentById, body: ChatAsk, channel: Channel) -> Ask:
    return Ask(
        agent=agent,
        message=body.message,
        channel=channel,
        conversation_id=body.conversation_id,
        context=body.context,
    )


def _level(query: StreamQuery) -> int:
    return EVERYTHING if query.include == "sub_agents" else TOOLS


def _last_event(request: Request) -> int:
    given = request.header(b"last-event-id")
    if not given:
        return 0
    if not given.isascii() or not given.isdigit() or len(given) > 9:
        raise Invalid({"Last-Event-ID": "must be the id of an event"})
    return int(given)
