"""An agent as a model behind OpenAI's chat completions.

The caller keeps the conversation: its messages are the history, and the last one is the question. The agent
stays what it is, with its own prompt and tools; a system message of the caller is told to it as information.
"""

from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Any

from retinue.adapters.llm import Message as Spoken
from retinue.agents.models import Agent
from retinue.chat import answering, streaming
from retinue.chat.asking import Ask
from retinue.chat.live import TEXT
from retinue.chat.models import Channel
from retinue.chat.schemas import MAX_MESSAGE
from retinue.chat.words import FinishReason
from retinue.embed.failures import hushed, hushed_events
from retinue.embed.openai_schemas import (
    Choice,
    ChunkChoice,
    Completion,
    CompletionAsk,
    CompletionChunk,
    CompletionMessage,
    CompletionReply,
    Delta,
    FinishWord,
)
from retinue.embed.usage import Spending, spending
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.http.replies import EventStream
from retinue.kit.http.sse import Event
from retinue.kit.http.stream_watch import StreamError

_FINISH: dict[str, FinishWord] = {
    FinishReason.length: "length",
    FinishReason.tool_limit: "length",
    FinishReason.content_filter: "content_filter",
}


async def complete(ctx: Context, agent: Agent, body: CompletionAsk) -> Completion:
    async with spending(ctx, agent) as allowed:
        ask = _ask(ctx, agent, body, allowed)
        with hushed() if _is_stranger(ctx) else nullcontext():
            message = await answering.reply_once(ctx, ask)
    assert message.details is not None
    choice = Choice(
        message=CompletionReply(content=message.content),
        finish_reason=_finish(message.details.finish_reason),
    )
    return Completion(
        id=message.id,
        created=int(ctx.clock.time()),
        model=body.model,
        choices=[choice],
        usage=message.details.usage,
    )


async def stream(ctx: Context, agent: Agent, body: CompletionAsk) -> EventStream:
    async with spending(ctx, agent) as allowed:
        source = await streaming.stream(ctx, _ask(ctx, agent, body, allowed), level=TEXT)
    options = body.stream_options
    chunks = _Chunks(body.model, int(ctx.clock.time()), tells_usage=bool(options and options.include_usage))
    events = hushed_events(source.events) if _is_stranger(ctx) else source.events
    return EventStream(lambda: chunks.of(events()), show_error=_shown_error)


def _is_stranger(ctx: Context) -> bool:
    return ctx.principal.kind == "embed_key"


def _shown_error(error: StreamError) -> Event:
    return Event(None, {"error": {"code": error.code, "message": error.message}})


def _finish(reason: str) -> FinishWord:
    return _FINISH.get(reason, "stop")


class _Chunks:
    """The events of a reply as OpenAI's chunks."""

    def __init__(self, model: str, created: int, *, tells_usage: bool) -> None:
        self._model = model
        self._created = created
        self._tells_usage = tells_usage
        self._id = ""

    async def of(self, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        try:
            async for event in events:
                data: Any = event.data
                if event.event == "message_start":
                    self._id = data["message_id"]
                    yield self._chunk(Delta(role="assistant", content=""))
                elif event.event == "content_delta":
                    yield self._chunk(Delta(content=data["delta"]))
                elif event.event == "message_stop":
                    yield self._chunk(Delta(), _finish(data["finish_reason"]))
                    if self._tells_usage:
                        yield Event(None, self._made(choices=[], usage=data["usage"]))
                    yield Event(None, b"[DONE]")
        finally:
            # Whoever stops listening to us must be heard by the turn itself.
            close = getattr(events, "aclose", None)
            if close is not None:
                await close()

    def _chunk(self, delta: Delta, finish_reason: FinishWord | None = None) -> Event:
        choice = ChunkChoice(delta=delta, finish_reason=finish_reason)
        if self._tells_usage:
            return Event(None, self._made(choices=[choice], usage=None))
        return Event(None, self._made(choices=[choice]))

    def _made(self, **more: Any) -> CompletionChunk:
        return CompletionChunk(id=self._id, created=self._created, model=self._model, **more)


def _ask(ctx: Context, agent: Agent, body: CompletionAsk, allowed: Spending) -> Ask:
    _refuse_unsupported(body)
    told, spoken = _read(body.messages)
    if not spoken or spoken[-1].role != "user":
        raise Invalid({"messages": "must end with a message of the user"})
    message = spoken[-1].text()
    if not 0 < len(message) <= MAX_MESSAGE:
        raise Invalid({"messages": f"must end with a message of 1 to {MAX_MESSAGE} characters"})
    if sum(map(len, told)) > MAX_MESSAGE:
        raise Invalid({"messages": f"must have at most {MAX_MESSAGE} characters of system messages"})
    return Ask(
        agent=agent,
        message=message,
        channel=Channel.openai,
        embed_key_id=ctx.principal.id if _is_stranger(ctx) else None,
        context={"instructions": "\n\n".join(told)} if told else None,
        history=tuple(spoken[:-1]),
        token_budget=allowed.tokens,
        at_end=allowed.at_end,
        max_tokens=body.max_completion_tokens or body.max_tokens,
        temperature=body.temperature,
        stop=_stops(body.stop),
    )


def _refuse_unsupported(body: CompletionAsk) -> None:
    wrong = {
        name: "is not supported: the agent has tools of its own"
        for name in ("tools", "functions")
        if getattr(body, name)
    }
    if body.response_format is not None and body.response_format.type != "text":
        wrong["response_format"] = "must be text"
    if wrong:
        raise Invalid(wrong)


def _stops(stop: str | list[str] | None) -> tuple[str, ...]:
    if stop is None:
        return ()
    return (stop,) if isinstance(stop, str) else tuple(stop)


def _read(messages: list[CompletionMessage]) -> tuple[list[str], list[Spoken]]:
    """What the application told, and what was said; what one side said in a row is one message."""
    told: list[str] = []
    spoken: list[Spoken] = []
    for position, message in enumerate(messages):
        text = _text(message, f"messages.{position}")
        if message.role in {"system", "developer"}:
            told.append(text)
        elif message.role in {"tool", "function"}:
            raise Invalid({f"messages.{position}.role": "is not supported: the agent has tools of its own"})
        elif spoken and spoken[-1].role == message.role:
            spoken[-1] = Spoken(role=spoken[-1].role, content=f"{spoken[-1].text()}\n\n{text}")
        else:
            spoken.append(Spoken(role="user" if message.role == "user" else "assistant", content=text))
    return told, spoken


def _text(message: CompletionMessage, where: str) -> str:
    if message.content is None or isinstance(message.content, str):
        return message.content or ""
    texts = []
    for position, part in enumerate(message.content):
        if part.type != "text":
            raise Invalid({f"{where}.content.{position}.type": "must be text"})
        texts.append(part.text or "")
    return "\n".join(texts)
