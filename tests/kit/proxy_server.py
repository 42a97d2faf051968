"""A forward proxy on loopback that notes what it is asked for and opens every tunnel it can."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from tests.loopback_server import serve_on_loopback


class ProxyServer:
    def __init__(self, answer: bytes | None) -> None:
        self._answer = answer
        self.port = 0
        self.heads: list[str] = []
        self.refused: set[str] = set()
        """Targets to which the proxy has no way."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def targets(self) -> list[str]:
        return [head.split(" ")[1] for head in self.heads]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
            if self._answer is not None:
                writer.write(self._answer)
                await writer.drain()
                await reader.read(1)
                return
            host, _, port = self.targets[-1].rpartition(":")
            if self.targets[-1] in self.refused:
                writer.write(b"HTTP/1.1 502 Bad Gateway\r\n\r\n")
                return
            # A name leads to the address that plays the public one.
            address = host.strip("[]") if host[-1].isdigit() or host.endswith("]") else "127.0.0.2"
            there_reader, there_writer = await asyncio.open_connection(address, int(port))
            writer.write(b"HTTP/1.1 200 Connection established\r\nX-Proxy: test\r\n\r\n")
            try:
                await asyncio.gather(_pipe(reader, there_writer), _pipe(there_reader, writer))
            finally:
                there_writer.transport.abort()


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


@contextlib.asynccontextmanager
async def proxying(answer: bytes | None = None) -> AsyncIterator[ProxyServer]:
    """Run a proxy; with `answer`, it says the same to every request and opens no tunnel."""
    proxy = ProxyServer(answer)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await proxy.serve(reader, writer)
        finally:
            writer.close()

    async with serve_on_loopback(serve) as proxy.port:
        yield proxy
