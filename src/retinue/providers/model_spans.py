"""Spans of model calls: one for every attempt, with the key's provider and what it reported."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from retinue.adapters.llm import ChatRequest, Delta, Embeddings, ModelReply, ModelUsage, ReplyFinished
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
        span.set(
            {
                names.OPERATION: operation,
                names.PROVIDER: candidate.id.partition("/")[0],
                names.REQUEST_MODEL: candidate.model,
                names.REQUEST_TEMPERATURE: request.temperature if request is not None else None,
                names.REQUEST_MAX_TOKENS: request.max_tokens if request is not None else None,
                names.REQUEST_STREAM: is_streaming,
            }
        )
    return span


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
