"""What a bad receiver of traces does to chats: latencies beside a server that exports nothing.

python -m bench.receivers [ROUNDS] [PAUSE_SECONDS]

The receiver hangs, answers 500, or reads one byte a second. Both servers take turns, in shuffled order.
A pause before each round makes a receiver bad for longer: 40 rounds with 14 seconds are ten minutes each.
"""

import asyncio
import random
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import uvloop

from bench.figures import interval
from bench.load import drive
from bench.servers import Server
from bench.trees import HERE, Tree, running

_ROUNDS = 30
_CHATS, _AT_ONCE = 40, 4
_ANSWER = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def hang(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    while await reader.read(65_536):
        pass


async def fail(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(65_536)
    writer.write(_ANSWER)
    await writer.drain()
    writer.close()


async def crawl(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    while await reader.read(1):
        await asyncio.sleep(1)


RECEIVERS: dict[str, Answer] = {"hangs": hang, "answers 500": fail, "reads a byte a second": crawl}


class Timed:
    """A server and how long each of its chats took, in milliseconds."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.latencies: list[float] = []
        self.medians: list[float] = []

    async def chat(self) -> None:
        round_ms = [latency for batch in await self._batches() for latency in batch]
        self.medians.append(statistics.median(round_ms))
        self.latencies += round_ms

    async def _batches(self) -> list[list[float]]:
        async def one_caller() -> list[float]:
            taken = []
            for _ in range(_CHATS // _AT_ONCE):
                started = time.perf_counter()
                if await drive(self.tree.server.port, self.tree.request("one chat at a time"), 1, 1):
                    raise RuntimeError("a chat failed")
                taken.append((time.perf_counter() - started) * 1000)
            return taken

        return await asyncio.gather(*(one_caller() for _ in range(_AT_ONCE)))

    def percentile(self, percent: int) -> float:
        return statistics.quantiles(self.latencies, n=100)[percent - 1]


async def compare(kind: str, answer: Answer, rounds: int, pause_s: int) -> str:
    async with AsyncExitStack() as stack:
        provider = Server("bench.provider")
        stack.callback(provider.stop)
        # A byte of room, so that who does not read makes the sender wait.
        receiver = await asyncio.start_server(answer, "127.0.0.1", 0, limit=2)
        stack.callback(receiver.close)
        endpoint = f"http://127.0.0.1:{receiver.sockets[0].getsockname()[1]}"
        sides = []
        for settings in ({}, {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}):
            asked = f"http://127.0.0.1:{provider.port}"
            tree = running(HERE, asked, RETINUE_WORKER="inline", **settings)
            sides.append(Timed(await stack.enter_async_context(tree)))
        without, exporting = sides
        for side in sides:
            await side.chat()
            side.latencies.clear()
            side.medians.clear()
        began = time.monotonic()
        for _ in range(rounds):
            await asyncio.sleep(pause_s)
            for side in random.sample(sides, 2):
                await side.chat()
        ratios = [one / other for one, other in zip(exporting.medians, without.medians, strict=True)]
        low, high = interval(ratios)
        return (
            f"{kind}, for {time.monotonic() - began:.0f} s: "
            f"p50 {without.percentile(50):.1f} → {exporting.percentile(50):.1f} ms, "
            f"p99 {without.percentile(99):.1f} → {exporting.percentile(99):.1f} ms, "
            f"ratio of medians {statistics.median(ratios):.3f} ({low:.3f} to {high:.3f})"
        )


async def main(rounds: int = _ROUNDS, pause_s: int = 0) -> None:
    for kind, answer in RECEIVERS.items():
        sys.stdout.write(await compare(kind, answer, rounds, pause_s) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(*given))
