"""Spans of model calls: one for every attempt, with the key's provider and what it reported."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import lru_cache
from urllib.parse import urlsplit

from retinue.adapters.llm import (
    ChatRequest,
    Delta,
    Embeddings,
    ModelReply,
    ModelUsage,
    ReplyFinished,
    ResponseSchema,
)
from retinue.adapters.llm.profiles import PROFILES
from retinue.kit.tracing import names
from retinue.kit.tracing.names import SpanKind
from retinue.kit.tracing.recorder import ActiveSpan, start_span
from retinue.providers.model_resolution import ModelCandidate

_NO_USAGE = ModelUsage(0, 0)


def start_model_span(
    operation: str,
    candidate: ModelCandidate,
    request: ChatRequest | None = None,
    *,
    kind: SpanKind = "model",
    is_streaming: bool | None = None,
) -> ActiveSpan | None:
    span = start_span(f"{operation} {candidate.model}", kind)
    if span is not None:
        key = candidate.key
        host, port = _server_of(key.provider, key.base_url) if key is not None else (None, None)
        span.set(
            {
                names.OPERATION: operation,
                names.PROVIDER: candidate.id.partition("/")[0],
                names.SERVER_ADDRESS: host,
                names.SERVER_PORT: port,
                names.REQUEST_MODEL: candidate.model,
                names.REQUEST_TEMPERATURE: request.temperature if request is not None else None,
                names.REQUEST_MAX_TOKENS: request.max_tokens if request is not None else None,
                names.REQUEST_STREAM: is_streaming,
            }
        )
        # A reply that is asked for again because the first one did not match its schema.
        if request is not None and isinstance(request.response_format, ResponseSchema):
            span.set({names.OUTPUT_ATTEMPT: request.response_format.attempt})
    return span


@lru_cache(256)
def _server_of(provider: str, base_url: str | None) -> tuple[str | None, int | None]:
    """Return the host and port that the provider is called at."""
    try:
        address = urlsplit(base_url or PROFILES[provider].base_url or "")
        return address.hostname, address.port or {"http": 80, "https": 443}.get(address.scheme)
    except (KeyError, ValueError):
        return None, None


def describe_reply(span: ActiveSpan, reply: ModelReply) -> None:
    usage = reply.usage or _NO_USAGE
    span.set(
        {
            names.RESPONSE_MODEL: reply.model,
            names.RESPONSE_FINISH_REASONS: [reply.finish_reason],
            names.INPUT_TOKENS: usage.prompt_tokens or None,
            names.OUTPUT_TOKENS: usage.completion_tokens or None,
            names.CACHE_READ_TOKENS: usage.cached_tokens or None,
            names.CACHE_WRITE_TOKENS: usage.cache_write_tokens or None,
            names.REASONING_TOKENS: usage.reasoning_tokens or None,
        }
    )


def describe_embeddings(span: ActiveSpan, embeddings: Embeddings) -> None:
    usage = embeddings.usage
    span.set(
        {
            names.RESPONSE_MODEL: embeddings.model,
            names.INPUT_TOKENS: usage.prompt_tokens if usage is not None else None,
        }
    )


async def recorded_stream(
    span: ActiveSpan, deltas: AsyncGenerator[Delta, None]
) -> AsyncGenerator[Delta, None]:
    """Pass a streamed reply on, and end the span with it."""
    has_begun = False
    try:
        async with aclosing(deltas):
            async for delta in deltas:
                if not has_begun:
                    has_begun = True
                    span.set({names.TIME_TO_FIRST_CHUNK: round(span.elapsed_seconds, 6)})
                if type(delta) is ReplyFinished:
                    describe_reply(span, delta.reply)
                yield delta
    except BaseException as error:
        span.end(error)
        raise
    finally:
        span.end()
