"""What a call by name costs over a kept connection, beside aiohttp; and a name server that is far away.

python -m bench.outgoing
"""

import asyncio
import random
import statistics
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import NamedTuple, Self, cast

import aiohttp
import uvloop

from bench.figures import Figure
from bench.servers import Server
from retinue.kit.egress import Egress, SystemResolver
from retinue.kit.egress.system_resolver import look_up
from retinue.kit.settings import LOOPBACK

ROUNDS = 40
CALLS = 200
AT_ONCE = 4
NAME_SERVER_SECONDS = 0.02
MIN_CALLS_PER_SECOND = 1500

Call = Callable[[], Coroutine[object, object, bytes]]


def ours(egress: Egress, url: str) -> Call:
    async def call() -> bytes:
        async with egress.request("GET", url, timeout_s=10) as response:
            return await response.read()

    return call


def theirs(session: aiohttp.ClientSession, url: str) -> Call:
    async def call() -> bytes:
        async with session.get(url) as response:
            return await response.read()

    return call


class _Bytes(asyncio.Protocol):
    """The least a call can cost on this event loop: the request out, the response in, nothing parsed."""

    def __init__(self, port: int) -> None:
        self._request = f"GET / HTTP/1.1\r\nHost: localhost:{port}\r\nAccept: */*\r\n\r\n".encode()
        self._arrived: asyncio.Future[bytes] | None = None

    @classmethod
    async def connect(cls, port: int) -> Self:
        loop = asyncio.get_running_loop()
        _, line = await loop.create_connection(lambda: cls(port), "127.0.0.1", port)
        return line

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        # The body may arrive apart from its headers.
        if data.endswith(b"}") and self._arrived is not None:
            self._arrived.set_result(data)

    async def call(self) -> bytes:
        self._arrived = asyncio.get_running_loop().create_future()
        self._transport.write(self._request)
        return await self._arrived


async def _repeat(call: Call, count: int) -> None:
    for _ in range(count):
        if not (await call()).endswith(b"}"):
            raise RuntimeError("a call lost its response")


async def _cpu_us(calls: Sequence[Call]) -> float:
    """CPU microseconds of this process for one call, with all of these repeated at the same time."""
    before = time.process_time()
    await asyncio.gather(*(_repeat(call, CALLS // AT_ONCE) for call in calls))
    return (time.process_time() - before) / CALLS * 1e6


class Costs(NamedTuple):
    """CPU microseconds of this process for one call."""

    ours: float
    aiohttp: float
    bytes: float


async def compare(port: int, rounds: int = ROUNDS) -> list[Costs]:
    """Return the costs of each round, whose parts are measured right after each other, in shuffled order."""
    url = f"http://localhost:{port}/"
    lines = [await _Bytes.connect(port) for _ in range(AT_ONCE)]
    measured = []
    async with Egress(LOOPBACK) as egress, aiohttp.ClientSession() as session:
        clients: dict[str, Sequence[Call]] = {
            "ours": [ours(egress, url)] * AT_ONCE,
            "aiohttp": [theirs(session, url)] * AT_ONCE,
            "bytes": [line.call for line in lines],
        }
        for number in range(rounds + 1):
            order = random.sample(list(clients), len(clients))
            costs = Costs(**{name: await _cpu_us(clients[name]) for name in order})
            # The first round only opens the connections.
            if number:
                measured.append(costs)
    return measured


async def calls_per_second(port: int, seconds: float = 3.0) -> float:
    """Calls by name in a second, with a name server 20 ms away that is asked again whenever it must be."""

    def look_up_slowly(host: str) -> tuple[str, ...]:
        time.sleep(NAME_SERVER_SECONDS)
        return look_up(host)

    async with Egress(LOOPBACK, resolver=SystemResolver(look_up_slowly)) as egress:
        call = ours(egress, f"http://localhost:{port}/")
        started, count = time.perf_counter(), 0
        while time.perf_counter() - started < seconds:
            await asyncio.gather(*(_repeat(call, 50) for _ in range(8)))
            count += 400
        return count / (time.perf_counter() - started)


async def measure() -> list[Figure]:
    server = Server("bench.upstream")
    try:
        rounds = await compare(server.port)
        per_second = await calls_per_second(server.port)
    finally:
        server.stop()
    # Compared within each round, because another process may slow a whole round down.
    ratio = statistics.median(one.ours / one.aiohttp for one in rounds)
    above_bytes = statistics.median((one.ours - one.bytes) / (one.aiohttp - one.bytes) for one in rounds)
    typical = [statistics.median(costs) for costs in zip(*rounds, strict=True)]
    return [
        Figure("call by name on a kept connection, client CPU", ratio, "x aiohttp", 0.5),
        Figure("the same, above what the bytes cost any client", above_bytes, "x aiohttp", None),
        Figure("call by name on a kept connection, ours", typical[0], "us", None),
        Figure("call by name on a kept connection, aiohttp", typical[1], "us", None),
        Figure("request and response as mere bytes", typical[2], "us", None),
        Figure("call by name, name server 20 ms away", 1000 / per_second, "ms", 1000 / MIN_CALLS_PER_SECOND),
    ]


async def main() -> None:
    for figure in await measure():
        print(f"{figure.name}: {figure.value:.3g} {figure.unit} {figure.limit}")


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
