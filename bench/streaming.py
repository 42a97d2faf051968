"""What a streamed reply costs through the OpenAI adapter, beside bare aiohttp and msgspec on the same stream.

python -m bench.streaming
"""

import asyncio
import random
import statistics
import time
from collections.abc import Awaitable, Callable

import aiohttp
import msgspec
import uvloop

from bench.figures import Figure
from bench.provider import CHUNKS
from bench.servers import Server
from retinue.adapters.llm import ChatRequest, ModelMessage, ProviderAccess, ReplyFinished, provider_for
from retinue.kit.clock import SystemClock
from retinue.kit.egress import Egress
from retinue.kit.secrets import Secret
from retinue.kit.settings import LOOPBACK

ROUNDS = 9
STREAMS = 40
AT_ONCE = 4
KEY = "sk-bench-0123456789"


class _Delta(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    delta: _Delta


class _Chunk(msgspec.Struct):
    choices: list[_Choice]


_decode = msgspec.json.Decoder(_Chunk).decode


def bare(session: aiohttp.ClientSession, base_url: str) -> Callable[[], Awaitable[str]]:
    """The text read out of the stream line by line, as aiohttp gives it, with no check of ours."""
    body = msgspec.json.encode(
        {"model": "words", "messages": [{"role": "user", "content": "Hello"}], "stream": True}
    )
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}

    async def read() -> str:
        text = ""
        async with session.post(f"{base_url}/chat/completions", data=body, headers=headers) as response:
            async for line in response.content:
                if line.startswith(b"data: ") and line != b"data: [DONE]\n":
                    for choice in _decode(line[6:]).choices:
                        text += choice.delta.content or ""
        return text

    return read


def ours(egress: Egress, base_url: str) -> Callable[[], Awaitable[str]]:
    access = ProviderAccess(provider="openai_compatible", api_key=Secret(KEY), base_url=base_url)
    provider = provider_for(egress, access, SystemClock())
    request = ChatRequest(model="words", messages=(ModelMessage(role="user", content="Hello"),))

    async def read() -> str:
        text = ""
        async for delta in provider.stream(request):
            if isinstance(delta, ReplyFinished):
                text = delta.reply.text
        return text

    return read


async def _cpu_us(read: Callable[[], Awaitable[str]]) -> float:
    """CPU microseconds of this process for one stream."""

    async def some() -> None:
        for _ in range(STREAMS // AT_ONCE):
            if (await read()).count("word") != CHUNKS:
                raise RuntimeError("a stream lost words")

    before = time.process_time()
    await asyncio.gather(*(some() for _ in range(AT_ONCE)))
    return (time.process_time() - before) / STREAMS * 1e6


async def compare(rounds: int = ROUNDS) -> tuple[float, float]:
    """Microseconds for a stream, ours and bare, on the same server in one run in shuffled order."""
    server = Server("bench.provider")
    try:
        base_url = f"http://127.0.0.1:{server.port}"
        async with Egress(LOOPBACK) as egress, aiohttp.ClientSession() as session:
            sides = {"ours": ours(egress, base_url), "bare": bare(session, base_url)}
            figures: dict[str, list[float]] = {name: [] for name in sides}
            for read in sides.values():
                await _cpu_us(read)
            for _ in range(rounds):
                for name in random.sample(list(sides), len(sides)):
                    figures[name].append(await _cpu_us(sides[name]))
    finally:
        server.stop()
    return statistics.median(figures["ours"]), statistics.median(figures["bare"])


async def measure() -> list[Figure]:
    our_us, bare_us = await compare()
    return [Figure("streamed reply of 50 chunks, CPU", our_us / bare_us, "x bare aiohttp + msgspec", 1.3)]


async def main() -> None:
    our_us, bare_us = await compare()
    print(f"ours {our_us:.0f} us, bare {bare_us:.0f} us, ratio {our_us / bare_us:.2f} (goal 1.3)")


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
