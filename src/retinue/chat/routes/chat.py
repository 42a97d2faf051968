from typing import Any

from msgspec import UNSET

from retinue.adapters.llm import ModelError, ModelTimeout
from retinue.agents.errors import VersionNotFound
from retinue.agents.loaders import AgentById
from retinue.chat.attachments.preparation import ATTACHMENT_ERRORS, RequestedFiles
from retinue.chat.chat_agent_schemas import ChatAgent, ChatAgentList
from retinue.chat.chat_agents import page_of_chat_agents
from retinue.chat.engine.budget import OutOfTokens
from retinue.chat.engine.compaction_plan import ContextTooLong
from retinue.chat.engine.structured_output import OutputInvalid, OutputOverride
from retinue.chat.errors import (
    AgentArchived,
    ConversationNotFound,
    MessageNotFound,
    StreamExpired,
    TooManyTurns,
    TurnTimedOut,
)
from retinue.chat.models import ChatChannel
from retinue.chat.playground import find_trial, render_reply
from retinue.chat.replies import background, blocking, stream_control, streaming
from retinue.chat.replies.live import TEXT_ONLY, WITH_SUB_AGENTS, WITH_TOOLS
from retinue.chat.schemas import (
    BackgroundAsk,
    ChatAsk,
    ChatReply,
    JobAccepted,
    ResumeQuery,
    Stopped,
    StreamQuery,
    TurnFields,
)
from retinue.chat.turn.placement import RequestedPlace
from retinue.chat.turn.request import TurnRequest
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.http.idempotency import NotRepeatable, refuse_for_stream
from retinue.kit.http.replies import EventStream, Reply
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Routes
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import Page
from retinue.kit.schema.output_schema import compile_output_schema
from retinue.providers.errors import ModelNotConfigured
from retinue.usage.errors import BudgetExceeded, ModelUnpriced

routes = Routes("/api/v1/agents/{agent_id}/chat", tag="chat")
chat_agents = Routes("/api/v1/chat/agents", tag="chat")

_ERRORS: tuple[Any, ...] = (
    AgentArchived,
    ConversationNotFound,
    MessageNotFound,
    ModelError,
    ModelTimeout,
    ModelNotConfigured,
    TurnTimedOut,
    TooManyTurns,
    OutOfTokens,
    ContextTooLong,
    OutputInvalid,
    BudgetExceeded,
    ModelUnpriced,
    VersionNotFound,
    *ATTACHMENT_ERRORS,
)


@chat_agents.get("", requires="agents:chat")
async def list_chat_agents(ctx: Context, query: ChatAgentList) -> Page[ChatAgent]:
    """List the published agents, by name, as people need them who only chat.

    `agents:read` is not needed: the list says nothing about prompts, models and tools.
    """
    return await page_of_chat_agents(ctx, query)


@routes.post("", requires="agents:chat", cost="chat", calls_out=True, errors=_ERRORS)
async def chat(ctx: Context, agent: AgentById, body: ChatAsk) -> ChatReply:
    """Send a message and wait for the whole reply.

    A turn may take as long as the instance and the agent's `timeouts` allow, ten minutes unless set
    otherwise. The question is stored before the model is called, and if the turn fails then, the error names
    the conversation in `details.conversation_id`. Draft agents answer as well. If a tool needs
    an approval, the reply so far is returned with `finish_reason: awaiting_approval` and continues by itself
    after the decision.

    `version`, `seed_messages`, `from_conversation_id` and `as` try the agent out: such turns require
    `agents:read`, have the channel `playground` and are left out of the agent's statistics. Another version
    than the current one, the draft and `model` require `agents:write`.
    """
    reply = await blocking.reply(
        ctx,
        _turn_request(ctx, agent, body, ChatChannel.console),
        files=RequestedFiles.of(body.attachments),
        trial=find_trial(body),
        place=RequestedPlace.of(body),
    )
    return render_reply(reply, body)


@routes.post(
    "/stream",
    requires="agents:chat",
    cost="chat",
    calls_out=True,
    idempotent=False,
    errors=(*_ERRORS, NotRepeatable),
)
async def chat_stream(
    ctx: Context,
    agent: AgentById,
    query: StreamQuery,
    body: ChatAsk,
    request: Request,
) -> EventStream:
    """Send a message and receive the reply as server-sent events while it is written.

    Events: `message_start`, `content_delta`, `tool_use`, `tool_result`, `message_stop`; when it happens also
    `approval_required`, or `error`, which ends the stream. An error before the first event is a normal error
    response. The reply is cut off shortly after its last listener disconnects, unless one resumes it. Turns
    that try the agent out (`version` and others) work as in the blocking chat.
    """
    refuse_for_stream(request)
    return await streaming.stream(
        ctx,
        _turn_request(ctx, agent, body, ChatChannel.console),
        level=TEXT_ONLY if body.as_ == "visitor" else _level(query),
        files=RequestedFiles.of(body.attachments),
        trial=find_trial(body),
        place=RequestedPlace.of(body),
    )


@routes.get("/stream/{message_id}", requires="agents:chat", errors=(MessageNotFound, StreamExpired))
async def resume_chat_stream(
    ctx: Context, agent: AgentById, message_id: str, query: ResumeQuery, request: Request
) -> EventStream:
    """Continue a stream after the event given by `after` or the `Last-Event-ID` header.

    A finished reply is replayed for one hour; after that the answer is 410 `stream_expired`.
    """
    after = _parse_last_event_id(request) if query.after is None else query.after
    return await stream_control.resume_stream(ctx, agent, message_id, after, _level(query))


@routes.post("/{message_id}/stop", requires="agents:chat", calls_out=True, errors=(MessageNotFound,))
async def stop_chat(ctx: Context, agent: AgentById, message_id: str) -> Stopped:
    """Stop a reply that is being streamed or waits for an approval; what was said so far is kept.

    A reply that has already ended stays as it is.
    """
    await stream_control.stop_reply(ctx, agent, message_id)
    return Stopped(message_id=message_id)


@routes.post(
    "/async",
    requires="agents:chat",
    cost="chat",
    status=202,
    calls_out=True,
    errors=(AgentArchived, ConversationNotFound, MessageNotFound, *ATTACHMENT_ERRORS),
)
async def chat_async(ctx: Context, agent: AgentById, body: BackgroundAsk) -> Reply[JobAccepted]:
    """Accept a message and have a worker answer it. Poll `status_url` for progress and the result.

    Completion is also announced by the event `agent.chat.completed` and, if given, to `callback_url`.
    """
    request = _turn_request(ctx, agent, body, ChatChannel.background)
    files = RequestedFiles.of(body.attachments)
    place = RequestedPlace.of(body)
    job = await background.accept(ctx, request, files=files, place=place, callback_url=body.callback_url)
    url = f"{ctx.settings.base_url}/api/v1/agents/{agent.id}/chat/jobs/{job.id}"
    accepted = JobAccepted.of(job, job_id=job.id, status_url=url)
    return Reply(accepted, headers=(("Location", url),))


def _turn_request(ctx: Context, agent: AgentById, body: TurnFields, channel: ChatChannel) -> TurnRequest:
    return TurnRequest(
        agent=agent,
        message=body.message,
        channel=channel,
        conversation_id=body.conversation_id,
        context=body.context,
        warnings=ctx.ignored_field_warnings,
        output=None if body.output_schema is UNSET else _output_override(body.output_schema),
        reasoning_effort=body.reasoning_effort,
    )


def _output_override(schema: JsonObject | None) -> OutputOverride:
    if schema is not None:
        compile_output_schema(schema)
    return OutputOverride(schema)


def _level(query: StreamQuery) -> int:
    return WITH_SUB_AGENTS if query.include == "sub_agents" else WITH_TOOLS


def _parse_last_event_id(request: Request) -> int:
    header = request.header(b"last-event-id")
    if not header:
        return 0
    if not header.isascii() or not header.isdigit() or len(header) > 9:
        raise Invalid({"Last-Event-ID": "must be the id of an event"})
    return int(header)
