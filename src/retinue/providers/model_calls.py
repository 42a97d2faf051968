"""Calls to a model through the tenant's keys.

A model is named `provider/model`, or by its name alone if only one provider has it; `local/…` are the
embedded models, which need no key. The reply names its model in the same form. `via` says on whose behalf the
call is made (`{"agent_id": "agt_…"}`), for the vault's access rules.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, nullcontext
from typing import TypeVar

from msgspec.structs import replace

from retinue.adapters.embedded.models import LocalKind
from retinue.adapters.llm import (
    Audio,
    ChatRequest,
    Delta,
    Embeddings,
    ModelProvider,
    ModelReply,
    ReplyFinished,
    Timeouts,
    Transcription,
)
from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.providers import key_budgets
from retinue.providers.call_metrics import observed_call
from retinue.providers.failover import KeyAttempts
from retinue.providers.model_resolution import ModelCandidate
from retinue.providers.model_spans import (
    describe_embeddings,
    describe_reply,
    recorded_stream,
    start_model_span,
)
from retinue.providers.reply_redaction import ReplyRedactor
from retinue.providers.response_formats import FormattedCall

T = TypeVar("T")
StartStream = Callable[[ModelProvider, ModelCandidate], AsyncGenerator[T, None]]
CleanPart = Callable[[T, ModelCandidate, ReplyRedactor], tuple[T, ...]]
_NO_ORIGIN: Mapping[str, str] = {}


async def chat(
    ctx: Context,
    request: ChatRequest,
    *,
    via: Mapping[str, str] = _NO_ORIGIN,
    has_fallback: bool = False,
    timeouts: Timeouts | None = None,
) -> ModelReply:
    """Return the whole reply; `has_fallback` says that the caller asks another model if this one fails."""

    async def call_provider(
        client: ModelProvider, candidate: ModelCandidate, guard: ReplyRedactor
    ) -> ModelReply:
        async def ask(asked: ChatRequest) -> ModelReply:
            span = start_model_span("chat", candidate, request)
            if span is None:
                reply = await client.chat(replace(asked, model=candidate.model))
                return replace(guard.clean(reply), model=candidate.id)
            with span:
                reply = guard.clean(await client.chat(replace(asked, model=candidate.model)))
                describe_reply(span, reply)
            return replace(reply, model=candidate.id)

        if request.response_format == "text":
            return await ask(request)
        return await FormattedCall(ctx, candidate, request).chat(ask)

    return await _call(
        ctx, request.model, "chat", via, call_provider, has_fallback=has_fallback, timeouts=timeouts
    )


def stream(
    ctx: Context,
    request: ChatRequest,
    *,
    via: Mapping[str, str] = _NO_ORIGIN,
    has_fallback: bool = False,
    timeouts: Timeouts | None = None,
) -> AsyncGenerator[Delta, None]:
    """Stream text, then the tool calls, then `ReplyFinished`; close the generator to cancel."""

    def start(client: ModelProvider, candidate: ModelCandidate) -> AsyncGenerator[Delta, None]:
        def ask(asked: ChatRequest) -> AsyncGenerator[Delta, None]:
            deltas = client.stream(replace(asked, model=candidate.model))
            span = start_model_span("chat", candidate, request, is_streaming=True)
            return deltas if span is None else recorded_stream(span, deltas)

        if request.response_format == "text":
            return ask(request)
        return FormattedCall(ctx, candidate, request).stream(ask)

    return _stream(
        ctx, request.model, "chat", via, start, _clean_delta, has_fallback=has_fallback, timeouts=timeouts
    )


def _clean_delta(delta: Delta, candidate: ModelCandidate, guard: ReplyRedactor) -> tuple[Delta, ...]:
    passed = guard.redact_delta(delta)
    if type(delta) is not ReplyFinished:
        return passed
    return tuple(
        _with_model_id(part, candidate) if isinstance(part, ReplyFinished) else part for part in passed
    )


async def embed(
    ctx: Context,
    model: str,
    texts: Sequence[str],
    *,
    dimensions: int | None = None,
    via: Mapping[str, str] = _NO_ORIGIN,
) -> Embeddings:
    async def call_provider(
        client: ModelProvider, candidate: ModelCandidate, _guard: ReplyRedactor
    ) -> Embeddings:
        with start_model_span("embeddings", candidate, kind="embedding") or nullcontext() as span:
            embeddings = await client.embed(candidate.model, texts, dimensions=dimensions)
            if span is not None:
                describe_embeddings(span, embeddings)
        return replace(embeddings, model=candidate.id)

    return await _call(ctx, model, "embedding", via, call_provider)


async def transcribe(
    ctx: Context,
    model: str,
    audio: Audio,
    *,
    language: str | None = None,
    prompt: str | None = None,
    via: Mapping[str, str] = _NO_ORIGIN,
) -> Transcription:
    async def call_provider(
        client: ModelProvider, candidate: ModelCandidate, guard: ReplyRedactor
    ) -> Transcription:
        return guard.clean(await client.transcribe(candidate.model, audio, language=language, prompt=prompt))

    return await _call(ctx, model, "transcription", via, call_provider)


def speak(
    ctx: Context,
    model: str,
    text: str,
    *,
    voice: str,
    format: str = "mp3",
    speed: float | None = None,
    via: Mapping[str, str] = _NO_ORIGIN,
) -> AsyncGenerator[bytes, None]:
    """Stream the audio; close the generator to cancel."""

    def start(client: ModelProvider, candidate: ModelCandidate) -> AsyncGenerator[bytes, None]:
        return client.speak(candidate.model, text, voice=voice, format=format, speed=speed)

    return _stream(ctx, model, "speech", via, start, lambda piece, _candidate, _guard: (piece,))


async def _call(
    ctx: Context,
    model: str,
    kind: LocalKind,
    via: Mapping[str, str],
    call_provider: Callable[[ModelProvider, ModelCandidate, ReplyRedactor], Awaitable[T]],
    *,
    has_fallback: bool = False,
    timeouts: Timeouts | None = None,
) -> T:
    """Return the reply of the first key that gives one."""
    attempts = await KeyAttempts.of(ctx, model, kind, via, has_fallback=has_fallback, timeouts=timeouts)
    while (candidate := await attempts.next_candidate()) is not None:
        try:
            async with observed_call(ctx, candidate.id):
                client, guard = await attempts.client(candidate)
                answer = await call_provider(client, candidate, guard)
        except RetinueError as error:
            await attempts.failed(candidate, error)
        else:
            await attempts.answered(candidate)
            await key_budgets.count_key_usage(ctx, candidate.key, candidate.id, answer)
            return answer
    raise attempts.error


async def _stream(
    ctx: Context,
    model: str,
    kind: LocalKind,
    via: Mapping[str, str],
    start: StartStream[T],
    clean: CleanPart[T],
    *,
    has_fallback: bool = False,
    timeouts: Timeouts | None = None,
) -> AsyncGenerator[T, None]:
    """Yield the parts of a reply; until the first one was yielded, another key may be tried."""
    attempts = await KeyAttempts.of(ctx, model, kind, via, has_fallback=has_fallback, timeouts=timeouts)
    while (candidate := await attempts.next_candidate()) is not None:
        has_begun = False
        try:
            client, guard = await attempts.client(candidate)
            async with observed_call(ctx, candidate.id), aclosing(start(client, candidate)) as parts:
                async for part in parts:
                    if not has_begun:
                        has_begun = True
                        await attempts.answered(candidate)
                    if isinstance(part, ReplyFinished):
                        await key_budgets.count_key_usage(ctx, candidate.key, candidate.id, part.reply)
                    for cleaned in clean(part, candidate, guard):
                        yield cleaned
        except RetinueError as error:
            if has_begun:
                raise
            await attempts.failed(candidate, error)
        else:
            return
    raise attempts.error


def _with_model_id(done: ReplyFinished, candidate: ModelCandidate) -> ReplyFinished:
    return ReplyFinished(replace(done.reply, model=candidate.id))
