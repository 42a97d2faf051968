"""A listener that only counts who comes: nobody may, unless a test says so."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


@dataclass
class Canary:
    port: int = 0
    connections: int = 0

    async def serve(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(ConnectionError):
            writer.write(_ANSWER)
            await writer.drain()
            writer.close()
            await writer.wait_closed()


@contextlib.asynccontextmanager
async def canary(*addresses: str, port: int = 0) -> AsyncIterator[Canary]:
    waiting = Canary(port)
    servers: list[asyncio.Server] = []
    try:
        for address in addresses or ("127.0.0.1", "::1"):
            servers.append(await asyncio.start_server(waiting.serve, address, waiting.port))
            waiting.port = servers[0].sockets[0].getsockname()[1]
        yield waiting
    finally:
        for server in servers:
            server.close()
