"""A customer's server on loopback: it keeps what it was sent and answers as told."""

import asyncio
import contextlib
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class Received:
    """One request as it arrived: the body is its very bytes."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def retry_count(self) -> str | None:
        return self.headers.get("x-service-retry-count")


@dataclass
class Receiver:
    """`answers` of a path are given first, one for each request; then `default`.

    What begins with /hanging waits for `release`; `forward` takes everything and says the status.
    """

    url: str = ""
    received: list[Received] = field(default_factory=list)
    answers: defaultdict[str, list[tuple[int, dict[str, str], bytes]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    default: int = 200
    release: asyncio.Event = field(default_factory=asyncio.Event)
    arrival: asyncio.Event = field(default_factory=asyncio.Event)
    forward: Callable[["Received"], Awaitable[int]] | None = None

    async def until(self, path: str, count: int) -> None:
        """Wait until this many requests have arrived at the path, at most ten seconds."""
        async with asyncio.timeout(10):
            while len(self.at(path)) < count:
                self.arrival.clear()
                await self.arrival.wait()

    def at(self, path: str) -> list[Received]:
        return [one for one in self.received if one.path == path]

    @property
    def last(self) -> Received:
        return self.received[-1]

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.received.append(Received(request.path, headers, body))
        self.arrival.set()
        if self.forward is not None:
            return web.Response(status=await self.forward(self.last))
        if request.path.startswith("/hanging"):
            await self.release.wait()
        waiting = self.answers[request.path]
        status, more, content = waiting.pop(0) if waiting else (self.default, {}, b"")
        return web.Response(status=status, headers=more, body=content)


@contextlib.asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    runner = web.ServerRunner(web.Server(receiver.answer), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield receiver
    finally:
        receiver.release.set()
        await runner.cleanup()
