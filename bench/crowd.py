"""A thousand streams on one process: how long the first word takes, and what a silent stream costs."""

import asyncio
import resource
import statistics
import time
from typing import Any

import msgspec

from bench.chat import LONG_STREAM, Side
from bench.figures import Figure
from bench.load import request_bytes
from bench.servers import Server

STREAMS = 1000
WARMING = 100
MEASURED = 300
# Together shorter than a stream, so that everyone who came is still there at the end.
GATHERING_S = 20.0
MEASURING_S = 10.0
FIRST_WORD_MS = 100
IDLE_KB = 40


class Listener(asyncio.Protocol):
    """Asks for one stream, and notes when its first word came."""

    def __init__(self, request: bytes, sign: bytes) -> None:
        self._request = request
        self._sign = sign
        self._seen = b""
        self.waited_s: float | None = None
        self.has_word = asyncio.get_running_loop().create_future()
        self.is_over = False

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self._asked = time.perf_counter()
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        if self.waited_s is None:
            self._seen += data
            if self._sign not in self._seen:
                return
            self.waited_s = time.perf_counter() - self._asked
            self.has_word.set_result(None)
        if data.endswith(b"0\r\n\r\n"):
            self.is_over = True
            self.transport.close()

    def connection_lost(self, _error: Exception | None) -> None:
        self.is_over = True
        if not self.has_word.done():
            self.has_word.set_exception(ConnectionError(f"no word came, but {self._seen[-300:]!r}"))


async def _listen(port: int, request: bytes, sign: bytes) -> Listener:
    listener = Listener(request, sign)
    await asyncio.get_running_loop().create_connection(lambda: listener, "127.0.0.1", port)
    return listener


async def _in_turn(port: int, request: bytes, sign: bytes, count: int, within_s: float) -> list[Listener]:
    """So many streams, begun evenly over some time."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    listeners = []
    for number in range(count):
        await asyncio.sleep(max(0, began + number * within_s / count - loop.time()))
        listeners.append(await _listen(port, request, sign))
    await asyncio.gather(*(listener.has_word for listener in listeners))
    return listeners


async def _hang_up(listeners: list[Listener], server: Server | None = None) -> None:
    """Leave, and wait until the server has stored what was left half said."""
    for listener in listeners:
        listener.transport.close()
    await asyncio.sleep(3)
    if server is not None:
        await _until_idle(server)


async def _until_idle(server: Server) -> None:
    for _ in range(60):
        before = server.cpu_seconds()
        await asyncio.sleep(0.5)
        if server.cpu_seconds() - before < 0.02:
            break


async def _first_words_ms(port: int, request: bytes, sign: bytes, crowd: int = STREAMS) -> list[float]:
    """Waiting times of streams that begin while a crowd of others is being told its words."""
    listeners = await _in_turn(port, request, sign, crowd, GATHERING_S * crowd / STREAMS)
    measured = await _in_turn(port, request, sign, MEASURED, MEASURING_S)
    still_there = sum(not listener.is_over for listener in listeners)
    await _hang_up(listeners + measured)
    if still_there < crowd:
        raise RuntimeError(f"only {still_there} of {crowd} streams were still there at the end")
    return sorted(listener.waited_s * 1000 for listener in measured if listener.waited_s is not None)


async def _idle_kb(server: Server, request: bytes) -> float:
    """Memory for each of a thousand streams that have said one word and then nothing."""
    await _hang_up(await _in_turn(server.port, request, b"content_delta", WARMING, 2), server)
    before = server.resident_mb()
    listeners = await _in_turn(server.port, request, b"content_delta", STREAMS, GATHERING_S)
    await asyncio.sleep(1)
    used = server.resident_mb() - before
    await _hang_up(listeners, server)
    return used * 1024 / STREAMS


async def measure(side: Side, provider: str) -> list[Figure]:
    """Run it last: nothing of the server's memory before counts then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    port = int(provider.rpartition(":")[2])
    asked = msgspec.json.encode({"model": "slow", "stream": True})
    direct = request_bytes("POST", "/chat/completions", body=asked)
    try:
        idle_kb = await _idle_kb(side.server, side.request(LONG_STREAM, "silent"))
        alone_ms = statistics.median(await _first_words_ms(port, direct, b"word0", crowd=0))
        waited_ms = await _first_words_ms(
            side.server.port, side.request(LONG_STREAM, "slow"), b"content_delta"
        )
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    p99_ms = waited_ms[int(len(waited_ms) * 0.99)] - alone_ms
    return [
        Figure(f"first word among {STREAMS} streams, added, p99", p99_ms, "ms", FIRST_WORD_MS),
        Figure("the same, p50", statistics.median(waited_ms) - alone_ms, "ms", FIRST_WORD_MS),
        Figure(f"memory of an idle stream, of {STREAMS}", idle_kb, "kB", IDLE_KB),
    ]
