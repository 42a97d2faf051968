"""A service behind our real server, in this loop, and a client of it that reads event streams."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Self

from retinue.kit.http.server import ConnectionLimits, serve
from tests.kit.planted import PATIENCE_S


@dataclass
class Listening:
    port: int
    task: asyncio.Task[None]
    clients: list["StreamClient"] = field(default_factory=list)

    async def request(
        self, method: str, path: str, *, token: str = "", body: bytes = b"", **headers: str
    ) -> "StreamClient":
        client = await StreamClient.connected(self.port)
        self.clients.append(client)
        await client.ask(method, path, token, body, headers)
        return client


@contextlib.asynccontextmanager
async def listening(service: Any) -> AsyncIterator[Listening]:
    bound: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    ready = asyncio.Event()
    task = asyncio.create_task(
        serve(
            service,
            host="127.0.0.1",
            port=0,
            limits=ConnectionLimits(uncounted_peers=("127.0.0.0/8",)),
            on_bound=lambda addresses: bound.set_result(addresses[0][1]),
            on_ready=ready.set,
            shutting_down=service.instance.shutting_down,
            shutdown_grace_s=2,
            lifespan=False,
        )
    )
    await asyncio.wait_for(ready.wait(), PATIENCE_S)
    server = Listening(bound.result(), task)
    try:
        yield server
    finally:
        for client in server.clients:
            client.close()
        service.instance.shutting_down.set()
        await asyncio.wait_for(task, PATIENCE_S)


class StreamClient:
    """One connection with one request, and its answer as it comes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.status = 0
        self.headers: dict[str, str] = {}

    @classmethod
    async def connected(cls, port: int) -> Self:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def ask(self, method: str, path: str, token: str, body: bytes, headers: dict[str, str]) -> None:
        """Send the request and read the head of its answer."""
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}"]
        if token:
            lines.append(f"Authorization: Bearer {token}")
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self._writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        first, *rest = (await self._until(b"\r\n\r\n")).decode().split("\r\n")
        self.status = int(first.split()[1])
        pairs = [line.split(": ", 1) for line in rest if line]
        self.headers = {name.lower(): value for name, value in pairs}
        assert len(self.headers) == len(pairs), pairs

    async def _until(self, mark: bytes) -> bytes:
        async with asyncio.timeout(PATIENCE_S):
            return await self._reader.readuntil(mark)

    async def json(self) -> Any:
        async with asyncio.timeout(PATIENCE_S):
            return json.loads(await self._reader.readexactly(int(self.headers["content-length"])))

    async def _chunk(self) -> bytes:
        size = int(await self._until(b"\r\n"), 16)
        async with asyncio.timeout(PATIENCE_S):
            return (await self._reader.readexactly(size + 2))[:-2]

    async def frames(self) -> AsyncIterator[str]:
        """Yield the text between two blank lines, until the stream ends in order."""
        text = ""
        while chunk := await self._chunk():
            text += chunk.decode()
            *frames, text = text.split("\n\n")
            for frame in frames:
                yield frame
        assert text == ""

    async def next_event(self) -> tuple[str, Any]:
        async for name, data in self.events():
            return name, data
        raise EOFError("the stream has ended")

    async def events(self) -> AsyncIterator[tuple[str, Any]]:
        """Names and data of the events, without heartbeats."""
        async for frame in self.frames():
            if frame.startswith(":"):
                continue
            lines = dict(line.split(": ", 1) for line in frame.split("\n"))
            yield lines["event"], json.loads(lines["data"])

    async def rest(self) -> list[tuple[str, Any]]:
        return [event async for event in self.events()]

    def close(self) -> None:
        self._writer.transport.abort()
