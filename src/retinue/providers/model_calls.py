"""Calls to a model through the tenant's keys.

A model is named `provider/model`, or by its name alone if only one provider has it; `local/…` are the
embedded models, which need no key. The reply names its model in the same form. `via` says on whose behalf the
call is made (`{"agent_id": "agt_…"}`), for the vault's access rules.

This is the one door to the providers (ADR 39): every call has a `hold` that pays for it, is admitted before a
provider is asked, and is booked once.
"""

import functools
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, nullcontext
from typing import TypeVar

from msgspec.structs import replace

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
from retinue.adapters.llm.estimates import MAX_UNLIMITED_REPLY_TOKENS, estimate_request, estimate_texts
from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.providers.call_metrics import observed_call
from retinue.providers.failover import KeyAttempts
from retinue.providers.model_resolution import ModelCandidate
from retinue.providers.model_spans import (
    describe_embeddings,
    describe_reply,
    recorded_stream,
    start_model_span,
)
from retinue.providers.payment import CallPayment
from retinue.providers.reply_redaction import ReplyRedactor
from retinue.providers.response_formats import FormattedCall
from retinue.providers.sound_length import estimate_seconds
from retinue.usage.model_call import PlannedCall, SpendingHold

T = TypeVar("T")
AnswerT = TypeVar("AnswerT", ModelReply, Embeddings, Transcription)
StartStream = Callable[[ModelProvider, ModelCandidate, int | None], AsyncGenerator[T, None]]
CleanPart = Callable[[T, ModelCandidate, ReplyRedactor], tuple[T, ...]]
_NO_ORIGIN: Mapping[str, str] = {}


async def chat(
    ctx: Context,
    request: ChatRequest,
    *,
    hold: SpendingHold,
    via: Mapping[str, str] = _NO_ORIGIN,
    has_fallback: bool = False,
    timeouts: Timeouts | None = None,
) -> ModelReply:
    """Return the whole reply; `has_fallback` says that the caller asks another model if this one fails."""

    async def call_provider(
        client: ModelProvider, candidate: ModelCandidate, guard: ReplyRedactor, reply_tokens: int | None
    ) -> ModelReply:
        limited = _limited(request, reply_tokens)

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
            return await ask(limited)
        return await FormattedCall(ctx, candidate, limited).chat(ask)

    payment = CallPayment(ctx, hold, functools.partial(_measure_chat, request))
    attempts = await KeyAttempts.of(
        ctx, request.model, "chat", via, has_fallback=has_fallback, timeouts=timeouts
    )
    return await _call(ctx, attempts, payment, call_provider)


def stream(
    ctx: Context,
    request: ChatRequest,
    *,
    hold: SpendingHold,
    via: Mapping[str, str] = _NO_ORIGIN,
    has_fallback: bool = False,
    timeouts: Timeouts | None = None,
) -> AsyncGenerator[Delta, None]:
    """Stream text, then the tool calls, then `ReplyFinished`; close the generator to cancel."""

    def start(
        client: ModelProvider, candidate: ModelCandidate, reply_tokens: int | None
    ) -> AsyncGenerator[Delta, None]:
        limited = _limited(request, reply_tokens)

        def ask(asked: ChatRequest) -> AsyncGenerator[Delta, None]:
            deltas = client.stream(replace(asked, model=candidate.model))
            span = start_model_span("chat", candidate, request, is_streaming=True)
            return deltas if span is None else recorded_stream(span, deltas)

        if request.response_format == "text":
            return ask(limited)
        return FormattedCall(ctx, candidate, limited).stream(ask)

    payment = CallPayment(ctx, hold, functools.partial(_measure_chat, request))
    find_keys = functools.partial(
        KeyAttempts.of, ctx, request.model, "chat", via, has_fallback=has_fallback, timeouts=timeouts
    )
    return _stream(ctx, find_keys, payment, start, _clean_delta)


def _measure_chat(request: ChatRequest, model: str) -> PlannedCall:
    return PlannedCall(
        kind="chat", model=model, prompt_tokens=estimate_request(request), reply_tokens=request.max_tokens
    )


def _limited(request: ChatRequest, reply_tokens: int | None) -> ChatRequest:
    """Return the request with the limit that its payment sets, if it is lower than its own."""
    if reply_tokens is None or reply_tokens >= (request.max_tokens or MAX_UNLIMITED_REPLY_TOKENS):
        return request
    return replace(request, max_tokens=reply_tokens)


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
    hold: SpendingHold,
    dimensions: int | None = None,
    via: Mapping[str, str] = _NO_ORIGIN,
) -> Embeddings:
    async def call_provider(
        client: ModelProvider, candidate: ModelCandidate, _guard: ReplyRedactor, _reply_tokens: int | None
    ) -> Embeddings:
        with start_model_span("embeddings", candidate, kind="embedding") or nullcontext() as span:
            embeddings = await client.embed(candidate.model, texts, dimensions=dimensions)
            if span is not None:
                describe_embeddings(span, embeddings)
        return replace(embeddings, model=candidate.id)

    def measure(id: str) -> PlannedCall:
        return PlannedCall(kind="embedding", model=id, prompt_tokens=estimate_texts(texts))

    attempts = await KeyAttempts.of(ctx, model, "embedding", via)
    return await _call(ctx, attempts, CallPayment(ctx, hold, measure), call_provider)


async def transcribe(
    ctx: Context,
    model: str,
    audio: Audio,
    *,
    hold: SpendingHold,
    language: str | None = None,
    prompt: str | None = None,
    via: Mapping[str, str] = _NO_ORIGIN,
) -> Transcription:
    async def call_provider(
        client: ModelProvider, candidate: ModelCandidate, guard: ReplyRedactor, _reply_tokens: int | None
    ) -> Transcription:
        return guard.clean(await client.transcribe(candidate.model, audio, language=language, prompt=prompt))

    def measure(id: str) -> PlannedCall:
        return PlannedCall(kind="transcription", model=id, seconds=estimate_seconds(audio))

    attempts = await KeyAttempts.of(ctx, model, "transcription", via)
    return await _call(ctx, attempts, CallPayment(ctx, hold, measure), call_provider)


def speak(
    ctx: Context,
    model: str,
    text: str,
    *,
    hold: SpendingHold,
    voice: str,
    format: str = "mp3",
    speed: float | None = None,
    via: Mapping[str, str] = _NO_ORIGIN,
) -> AsyncGenerator[bytes, None]:
    """Stream the audio; close the generator to cancel."""

    def start(
        client: ModelProvider, candidate: ModelCandidate, _reply_tokens: int | None
    ) -> AsyncGenerator[bytes, None]:
        return client.speak(candidate.model, text, voice=voice, format=format, speed=speed)

    def measure(id: str) -> PlannedCall:
        return PlannedCall(kind="speech", model=id, characters=len(text))

    find_keys = functools.partial(KeyAttempts.of, ctx, model, "speech", via)
    payment = CallPayment(ctx, hold, measure)
    return _stream(ctx, find_keys, payment, start, lambda piece, _candidate, _guard: (piece,))


async def _call(
    ctx: Context,
    attempts: KeyAttempts,
    payment: CallPayment,
    call_provider: Callable[[ModelProvider, ModelCandidate, ReplyRedactor, int | None], Awaitable[AnswerT]],
) -> AnswerT:
    """Return the reply of the first key that gives one."""
    try:
        while (candidate := await _next_paid(attempts, payment)) is not None:
            try:
                async with observed_call(ctx, candidate.id):
                    client, guard = await attempts.client(candidate)
                    answer = await call_provider(client, candidate, guard, payment.reply_tokens)
            except RetinueError as error:
                await attempts.failed(candidate, error)
            else:
                await payment.book(candidate, answer)
                await attempts.answered(candidate)
                return answer
        raise attempts.error
    finally:
        await payment.release()


async def _stream(
    ctx: Context,
    find_keys: Callable[[], Awaitable[KeyAttempts]],
    payment: CallPayment,
    start: StartStream[T],
    clean: CleanPart[T],
) -> AsyncGenerator[T, None]:
    """Yield the parts of a reply; until the first one was yielded, another key may be tried."""
    attempts = await find_keys()
    try:
        while (candidate := await _next_paid(attempts, payment)) is not None:
            has_begun = False
            try:
                client, guard = await attempts.client(candidate)
                answering = start(client, candidate, payment.reply_tokens)
                async with observed_call(ctx, candidate.id), aclosing(answering) as parts:
                    async for part in parts:
                        if not has_begun:
                            has_begun = True
                            await _begun(attempts, payment, candidate, part)
                        if isinstance(part, ReplyFinished):
                            await payment.book(candidate, part.reply)
                        for cleaned in clean(part, candidate, guard):
                            yield cleaned
            except RetinueError as error:
                if has_begun:
                    raise
                await attempts.failed(candidate, error)
            else:
                return
        raise attempts.error
    finally:
        await payment.release()


async def _next_paid(attempts: KeyAttempts, payment: CallPayment) -> ModelCandidate | None:
    """Return the candidate to try now, whose call is paid for; None if no attempt is left.

    Raise if the hold does not pay. A key whose budgets do not pay is passed over.
    """
    while (candidate := await attempts.next_candidate()) is not None:
        await payment.forget_key()
        if payment.is_limited:
            await payment.admit(candidate)
        if not payment.is_key_limited_for(candidate):
            return candidate
        try:
            await payment.admit_key(candidate)
        except RetinueError as error:
            await attempts.failed(candidate, error)
        else:
            return candidate
    return None


async def _begun(
    attempts: KeyAttempts, payment: CallPayment, candidate: ModelCandidate, first: object
) -> None:
    """Note that a key answers; sound is paid for as a whole, however much of it is listened to."""
    if isinstance(first, bytes):
        await payment.book(candidate)
    await attempts.answered(candidate)


def _with_model_id(done: ReplyFinished, candidate: ModelCandidate) -> ReplyFinished:
    return ReplyFinished(replace(done.reply, model=candidate.id))
