"""Servers of tests on loopback: each connection has a task of its own, and all of them end with the test."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def serve_on_loopback(
    serve: Serve,
    address: str = "127.0.0.1",
    port: int = 0,
    *,
    backlog: int = 100,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[int]:
    """Yield the port."""
    handlers: set[asyncio.Future[None]] = set()
    writers: list[asyncio.StreamWriter] = []

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        handlers.add(asyncio.ensure_future(serve(reader, writer)))

    server = await asyncio.start_server(accept, address, port, backlog=backlog, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for handler in handlers:
            handler.cancel()
        await asyncio.gather(*handlers, return_exceptions=True)
        # A handler that was cancelled before its first step has closed nothing.
        for writer in writers:
            writer.transport.abort()
