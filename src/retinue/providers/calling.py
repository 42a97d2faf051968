"""Asking a model, by whichever of the tenant's keys answers.

A model is named `provider/model`, or by its name alone where one provider has it; `local/…` are the embedded
ones, which need no key. What answers says its model in the same words. `via` names in whose course it happens
(`{"agent_id": "agt_…"}`), for the vault's rules.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TypeVar

from msgspec.structs import replace

from retinue.adapters.embedded.models import LocalKind
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
from retinue.providers import spending
from retinue.providers.echoes import EchoGuard
from retinue.providers.failover import Tries
from retinue.providers.resolving import Candidate

T = TypeVar("T")
Start = Callable[[Provider, Candidate], AsyncGenerator[T, None]]
Clean = Callable[[T, Candidate, EchoGuard], tuple[T, ...]]
_NOBODY: Mapping[str, str] = {}


async def chat(ctx: Context, request: ChatRequest, *, via: Mapping[str, str] = _NOBODY) -> ChatReply:
    async def ask(client: Provider, candidate: Candidate, guard: EchoGuard) -> ChatReply:
        reply = await client.chat(replace(request, model=candidate.model))
        return replace(guard.clean(reply), model=candidate.id)

    return await _ask(ctx, request.model, "chat", via, ask)


def stream(
    ctx: Context, request: ChatRequest, *, via: Mapping[str, str] = _NOBODY
) -> AsyncGenerator[Delta, None]:
    """Text as it comes, then each tool call, then `Done`; close the generator to hang up."""

    def start(client: Provider, candidate: Candidate) -> AsyncGenerator[Delta, None]:
        return client.stream(replace(request, model=candidate.model))

    return _stream(ctx, request.model, "chat", via, start, _cleaned)


def _cleaned(delta: Delta, candidate: Candidate, guard: EchoGuard) -> tuple[Delta, ...]:
    passed = guard.pass_on(delta)
    if type(delta) is not Done:
        return passed
    return tuple(_named(part, candidate) if isinstance(part, Done) else part for part in passed)


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

    return await _ask(ctx, model, "embedding", via, ask)


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

    return await _ask(ctx, model, "transcription", via, ask)


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

    def start(client: Provider, candidate: Candidate) -> AsyncGenerator[bytes, None]:
        return client.speak(candidate.model, text, voice=voice, format=format, speed=speed)

    return _stream(ctx, model, "speech", via, start, lambda piece, _candidate, _guard: (piece,))


async def _ask(
    ctx: Context,
    model: str,
    kind: LocalKind,
    via: Mapping[str, str],
    ask: Callable[[Provider, Candidate, EchoGuard], Awaitable[T]],
) -> T:
    """The answer of the first key that gives one."""
    tries = await Tries.of(ctx, model, kind, via)
    while (candidate := await tries.next()) is not None:
        try:
            client, guard = await tries.client(candidate)
            answer = await ask(client, candidate, guard)
        except RetinueError as error:
            await tries.failed(candidate, error)
        else:
            await tries.answered(candidate)
            await spending.count(ctx, candidate.key, candidate.id, answer)
            return answer
    raise tries.error


async def _stream(
    ctx: Context, model: str, kind: LocalKind, via: Mapping[str, str], start: Start[T], clean: Clean[T]
) -> AsyncGenerator[T, None]:
    """The parts of an answer; until the first of them has gone on, another key may still give it."""
    tries = await Tries.of(ctx, model, kind, via)
    while (candidate := await tries.next()) is not None:
        has_begun = False
        try:
            client, guard = await tries.client(candidate)
            async with aclosing(start(client, candidate)) as parts:
                async for part in parts:
                    if not has_begun:
                        has_begun = True
                        await tries.answered(candidate)
                    if isinstance(part, Done):
                        await spending.count(ctx, candidate.key, candidate.id, part.reply)
                    for cleaned in clean(part, candidate, guard):
                        yield cleaned
        except RetinueError as error:
            if has_begun:
                raise
            await tries.failed(candidate, error)
        else:
            return
    raise tries.error


def _named(done: Done, candidate: Candidate) -> Done:
    return Done(replace(done.reply, model=candidate.id))
