"""Asking a model, by whichever of the tenant's keys answers.

A model is named `provider/model`, or by its name alone where one provider has it. What answers says its model
in the same words. `via` names in whose course it happens (`{"agent_id": "agt_…"}`), for the vault's rules.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TypeVar

from msgspec.structs import replace

from retinue.adapters.llm import (
    Audio,
    ChatReply,
    ChatRequest,
    Delta,
    Done,
    Embeddings,
    Provider,
    Transcription,
)
from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.providers.echoes import EchoGuard
from retinue.providers.failover import Tries
from retinue.providers.resolving import Candidate

T = TypeVar("T")
Start = Callable[[Provider, Candidate, EchoGuard], AsyncGenerator[T, None]]
_NOBODY: Mapping[str, str] = {}


async def chat(ctx: Context, request: ChatRequest, *, via: Mapping[str, str] = _NOBODY) -> ChatReply:
    async def ask(client: Provider, candidate: Candidate, guard: EchoGuard) -> ChatReply:
        reply = await client.chat(replace(request, model=candidate.model))
        return replace(guard.clean(reply), model=candidate.id)

    return await _ask(ctx, request.model, via, ask)


def stream(
    ctx: Context, request: ChatRequest, *, via: Mapping[str, str] = _NOBODY
) -> AsyncGenerator[Delta, None]:
    """Text as it comes, then each tool call, then `Done`; close the generator to hang up."""

    async def start(client: Provider, candidate: Candidate, guard: EchoGuard) -> AsyncGenerator[Delta, None]:
        async with aclosing(client.stream(replace(request, model=candidate.model))) as deltas:
            async for delta in deltas:
                for cleaned in guard.pass_on(delta):
                    yield _named(cleaned, candidate) if isinstance(cleaned, Done) else cleaned

    return _stream(ctx, request.model, via, start)


async def embed(
    ctx: Context,
    model: str,
    texts: Sequence[str],
    *,
    dimensions: int | None = None,
    via: Mapping[str, str] = _NOBODY,
) -> Embeddings:
    async def ask(client: Provider, candidate: Candidate, _guard: EchoGuard) -> Embeddings:
        found = await client.embed(candidate.model, texts, dimensions=dimensions)
        return replace(found, model=candidate.id)

    return await _ask(ctx, model, via, ask)


async def transcribe(
    ctx: Context,
    model: str,
    audio: Audio,
    *,
    language: str | None = None,
    prompt: str | None = None,
    via: Mapping[str, str] = _NOBODY,
) -> Transcription:
    async def ask(client: Provider, candidate: Candidate, guard: EchoGuard) -> Transcription:
        return guard.clean(await client.transcribe(candidate.model, audio, language=language, prompt=prompt))

    return await _ask(ctx, model, via, ask)


def speak(
    ctx: Context,
    model: str,
    text: str,
    *,
    voice: str,
    format: str = "mp3",
    speed: float | None = None,
    via: Mapping[str, str] = _NOBODY,
) -> AsyncGenerator[bytes, None]:
    """The sound as it comes; close the generator to hang up."""

    def start(client: Provider, candidate: Candidate, _guard: EchoGuard) -> AsyncGenerator[bytes, None]:
        return client.speak(candidate.model, text, voice=voice, format=format, speed=speed)

    return _stream(ctx, model, via, start)


async def _ask(
    ctx: Context,
    model: str,
    via: Mapping[str, str],
    ask: Callable[[Provider, Candidate, EchoGuard], Awaitable[T]],
) -> T:
    async def start(client: Provider, candidate: Candidate, guard: EchoGuard) -> AsyncGenerator[T, None]:
        yield await ask(client, candidate, guard)

    (answer,) = [answer async for answer in _stream(ctx, model, via, start)]
    return answer


async def _stream(
    ctx: Context, model: str, via: Mapping[str, str], start: Start[T]
) -> AsyncGenerator[T, None]:
    """The parts of an answer; until the first of them has gone on, another key may still give it."""
    tries = await Tries.of(ctx, model, via)
    while (candidate := await tries.next()) is not None:
        has_begun = False
        try:
            client, guard = await tries.client(candidate)
            async with aclosing(start(client, candidate, guard)) as parts:
                async for part in parts:
                    if not has_begun:
                        has_begun = True
                        await tries.answered(candidate)
                    yield part
        except RetinueError as error:
            if has_begun:
                raise
            await tries.failed(candidate, error)
        else:
            return
    raise tries.error


def _named(done: Done, candidate: Candidate) -> Done:
    return Done(replace(done.reply, model=candidate.id))
