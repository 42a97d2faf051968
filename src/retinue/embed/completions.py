"""Agents behind OpenAI's chat completions API.

The caller keeps the conversation: its messages are the history, and the last one is the question. The agent
keeps its own prompt and tools; system messages of the caller are passed to it as information.
"""

from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Any

import msgspec

from retinue.adapters.llm import ModelMessage as Spoken
from retinue.agents.models import Agent
from retinue.chat.engine.parts import FinishReason
from retinue.chat.engine.structured_output import OutputOverride
from retinue.chat.models import ChatChannel, Message
from retinue.chat.replies import blocking, streaming
from retinue.chat.replies.live import TEXT_ONLY
from retinue.chat.schemas import MAX_MESSAGE_LENGTH
from retinue.chat.turn.request import TurnRequest
from retinue.embed import visitors
from retinue.embed.failures import hide_provider_errors, hide_provider_errors_in
from retinue.embed.forced_function import ForcedFunction, find_forced
from retinue.embed.openai_schemas import (
    Choice,
    ChunkChoice,
    Completion,
    CompletionAsk,
    CompletionChunk,
    CompletionMessage,
    CompletionReply,
    CompletionUsage,
    Delta,
    OpenAiFinishReason,
    ResponseFormat,
)
from retinue.embed.token_budget import TurnAllowance, turn_allowance
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.http.replies import EventStream
from retinue.kit.http.sse import ServerSentEvent
from retinue.kit.http.stream_watch import StreamError
from retinue.kit.schema.output_schema import compile_output_schema

_SCHEMA_PATH = "response_format.json_schema.schema"
_FINISH: dict[str, OpenAiFinishReason] = {
    FinishReason.length: "length",
    FinishReason.tool_limit: "length",
    FinishReason.content_filter: "content_filter",
}


async def complete(ctx: Context, agent: Agent, body: CompletionAsk) -> Completion:
    forced = find_forced(body)
    if _is_embed_key(ctx):
        await visitors.require_quota(ctx, None)
    async with turn_allowance(ctx, agent) as allowance:
        request = _turn_request(ctx, agent, body, forced, allowance)
        with hide_provider_errors() if _is_embed_key(ctx) else nullcontext():
            message = await blocking.reply(ctx, request)
    assert message.details is not None
    choice = Choice(
        message=_reply(message, forced),
        finish_reason=_finish(message.details.finish_reason),
    )
    return Completion(
        id=message.id,
        created=int(ctx.clock.time()),
        model=body.model,
        choices=[choice],
        usage=CompletionUsage.from_record(message.details.usage),
    )


def _reply(message: Message, forced: ForcedFunction | None) -> CompletionReply:
    output = None if message.details is None else message.details.output
    if forced is None or output is None:
        return CompletionReply(content=message.content)
    return CompletionReply(content=None, **forced.reply_fields(output, message.id))


async def stream(ctx: Context, agent: Agent, body: CompletionAsk) -> EventStream:
    forced = find_forced(body)
    if _is_embed_key(ctx):
        await visitors.require_quota(ctx, None)
    async with turn_allowance(ctx, agent) as allowance:
        request = _turn_request(ctx, agent, body, forced, allowance)
        with hide_provider_errors() if _is_embed_key(ctx) else nullcontext():
            source = await streaming.stream(ctx, request, level=TEXT_ONLY)
    options = body.stream_options
    chunks = _ChunkStream(
        body.model,
        int(ctx.clock.time()),
        includes_usage=bool(options and options.include_usage),
        is_structured=request.output_schema is not None,
        forced=forced,
    )
    events = hide_provider_errors_in(source.events) if _is_embed_key(ctx) else source.events
    return EventStream(lambda: chunks.of(events()), show_error=_shown_error)


def _is_embed_key(ctx: Context) -> bool:
    return ctx.principal.kind == "embed_key"


def _shown_error(error: StreamError) -> ServerSentEvent:
    content = {"code": error.code, "message": error.message, "type": "server_error", "param": None}
    return ServerSentEvent(None, {"error": content})


def _finish(reason: str) -> OpenAiFinishReason:
    return _FINISH.get(reason, "stop")


class _ChunkStream:
    """Converts the events of a reply to OpenAI's chunks.

    A structured reply comes in one piece: clients read nothing but the joined pieces, from which a wrong
    answer before a repaired one could not be taken back.
    """

    def __init__(
        self,
        model: str,
        created: int,
        *,
        includes_usage: bool,
        is_structured: bool,
        forced: ForcedFunction | None = None,
    ) -> None:
        self._model = model
        self._created = created
        self._includes_usage = includes_usage
        self._is_structured = is_structured
        self._forced = forced
        self._id = ""

    async def of(self, events: AsyncIterator[ServerSentEvent]) -> AsyncIterator[ServerSentEvent]:
        try:
            async for event in events:
                data: Any = event.data
                if event.event == "message_start":
                    self._id = data["message_id"]
                    yield self._chunk_event(Delta(role="assistant", content=""))
                elif event.event == "content_delta":
                    if not self._is_structured:
                        yield self._chunk_event(Delta(content=data["delta"]))
                elif event.event == "message_stop":
                    if data["output"] is not None:
                        yield self._chunk_event(self._output_delta(data["output"]))
                    yield self._chunk_event(Delta(), _finish(data["finish_reason"]))
                    if self._includes_usage:
                        usage = CompletionUsage.from_record(data["usage"])
                        yield ServerSentEvent(None, self._build_chunk(choices=[], usage=usage))
                    yield ServerSentEvent(None, b"[DONE]")
        finally:
            # Close the source explicitly, so that the turn notices when the client disconnects.
            close = getattr(events, "aclose", None)
            if close is not None:
                await close()

    def _output_delta(self, output: object) -> Delta:
        if self._forced is not None:
            return Delta(**self._forced.reply_fields(output, self._id, is_streamed=True))
        return Delta(content=msgspec.json.encode(output).decode())

    def _chunk_event(self, delta: Delta, finish_reason: OpenAiFinishReason | None = None) -> ServerSentEvent:
        choice = ChunkChoice(delta=delta, finish_reason=finish_reason)
        if self._includes_usage:
            return ServerSentEvent(None, self._build_chunk(choices=[choice], usage=None))
        return ServerSentEvent(None, self._build_chunk(choices=[choice]))

    def _build_chunk(self, **more: Any) -> CompletionChunk:
        return CompletionChunk(id=self._id, created=self._created, model=self._model, **more)


def _turn_request(
    ctx: Context,
    agent: Agent,
    body: CompletionAsk,
    forced: ForcedFunction | None,
    allowance: TurnAllowance,
) -> TurnRequest:
    system_texts, history_messages = _split_messages(body.messages)
    if not history_messages or history_messages[-1].role != "user":
        raise Invalid({"messages": "must end with a message of the user"})
    message = history_messages[-1].text()
    if not 0 < len(message) <= MAX_MESSAGE_LENGTH:
        raise Invalid({"messages": f"must end with a message of 1 to {MAX_MESSAGE_LENGTH} characters"})
    if sum(map(len, system_texts)) > MAX_MESSAGE_LENGTH:
        raise Invalid(
            {"messages": f"must have system messages of at most {MAX_MESSAGE_LENGTH} characters in total"}
        )
    return TurnRequest(
        agent=agent,
        message=message,
        channel=ChatChannel.openai,
        embed_key_id=ctx.principal.id if _is_embed_key(ctx) else None,
        context={"instructions": "\n\n".join(system_texts)} if system_texts else None,
        history=tuple(history_messages[:-1]),
        token_budget=allowance.tokens,
        on_turn_end=allowance.on_turn_end,
        max_tokens=body.max_completion_tokens or body.max_tokens,
        temperature=body.temperature,
        stop=_stop_sequences(body.stop),
        output=_output_override(ctx, body.response_format, forced),
        reasoning_effort=None if _is_embed_key(ctx) else body.reasoning_effort,
    )


def _output_override(
    ctx: Context, response_format: ResponseFormat | None, forced: ForcedFunction | None
) -> OutputOverride | None:
    """Return the schema of the caller; whoever chats in public gets the agent's own."""
    if forced is not None:
        if _is_embed_key(ctx):
            raise Invalid({forced.path: "needs an access token; embed keys have the agent's output schema"})
        compile_output_schema(forced.parameters, forced.path)
        return OutputOverride(forced.parameters)
    if response_format is None:
        return None
    if response_format.type == "text":
        return None if _is_embed_key(ctx) else OutputOverride(None)
    if _is_embed_key(ctx):
        raise Invalid({"response_format": "needs an access token; embed keys have the agent's output schema"})
    if response_format.type == "json_object":
        return OutputOverride({"type": "object"})
    schema = response_format.json_schema.schema if response_format.json_schema is not None else None
    if schema is None:
        raise Invalid({_SCHEMA_PATH: "is required"})
    compile_output_schema(schema, _SCHEMA_PATH)
    return OutputOverride(schema)


def _stop_sequences(stop: str | list[str] | None) -> tuple[str, ...]:
    if stop is None:
        return ()
    return (stop,) if isinstance(stop, str) else tuple(stop)


def _split_messages(messages: list[CompletionMessage]) -> tuple[list[str], list[Spoken]]:
    """Return the system texts and the conversation; consecutive messages of one role are joined."""
    system_texts: list[str] = []
    history_messages: list[Spoken] = []
    for position, message in enumerate(messages):
        text = _text(message, f"messages.{position}")
        if message.role in {"system", "developer"}:
            system_texts.append(text)
        elif message.role in {"tool", "function"}:
            raise Invalid(
                {f"messages.{position}.role": "is not supported, because the agent uses its own tools"}
            )
        elif history_messages and history_messages[-1].role == message.role:
            history_messages[-1] = Spoken(
                role=history_messages[-1].role, content=f"{history_messages[-1].text()}\n\n{text}"
            )
        else:
            history_messages.append(
                Spoken(role="user" if message.role == "user" else "assistant", content=text)
            )
    return system_texts, history_messages


def _text(message: CompletionMessage, path: str) -> str:
    if message.content is None or isinstance(message.content, str):
        return message.content or ""
    texts = []
    for position, part in enumerate(message.content):
        if part.type != "text":
            raise Invalid({f"{path}.content.{position}.type": "must be text"})
        texts.append(part.text or "")
    return "\n".join(texts)
