"""A server that a test kills and starts again, the cable to it, and a provider that breaks off."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from tests.adapters.llm_as_openai import event
from tests.adapters.llm_server import STREAM_HEAD, chunked
from tests.browser.site import Site
from tests.e2e.processes import ServerProcess, free_port

# Longer than the longest pause between two looks at a server that was gone for a while.
RECOVERY_MS = 90_000
WORDS = [f"word{n} " for n in range(80)]
_CHUNK = {"id": "c", "object": "chat.completion.chunk", "model": "m"}


def speak_and_wait(
    words: Sequence[str], gate: asyncio.Event | None = None, *, is_cut: bool = False
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """Return a provider that says these words, waits for the gate, and then finishes or hangs up."""

    async def speak(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD)
        for word in words:
            said = {"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]}
            writer.write(chunked(event({**_CHUNK, **said})))
        await writer.drain()
        if gate is not None:
            await gate.wait()
        if is_cut:
            return
        end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        writer.write(chunked(event({**_CHUNK, **end})) + chunked(b"data: [DONE]\n\n") + b"0\r\n\r\n")
        await writer.drain()

    return speak


class Cable:
    """The connection between a browser and a server: it can be pulled out, and put in again."""

    def __init__(self, site: Site) -> None:
        self.port = free_port()
        self._server_port = site.server.port
        self._open: set[asyncio.StreamWriter] = set()
        self._listener: asyncio.Server | None = None

    async def plug_in(self) -> None:
        self._listener = await asyncio.start_server(self._connect, "127.0.0.1", self.port)

    async def pull(self) -> None:
        assert self._listener is not None
        self._listener.close()
        for writer in list(self._open):
            writer.transport.abort()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there = await asyncio.open_connection("127.0.0.1", self._server_port)
        self._open |= {writer, there}
        await asyncio.gather(self._pass_on(reader, there), self._pass_on(there_reader, writer))
        self._open -= {writer, there}

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()


@asynccontextmanager
async def connect_by_cable(site: Site) -> AsyncIterator[tuple[Site, Cable]]:
    """Yield the site as it is seen through a cable."""
    cable = Cable(site)
    await cable.plug_in()
    outside = Site(site.server)
    outside.url, outside.token = f"http://127.0.0.1:{cable.port}", site.token
    try:
        yield outside, cable
    finally:
        await cable.pull()


@asynccontextmanager
async def mortal_site(folder: Path) -> AsyncIterator[Site]:
    server = ServerProcess(folder, RETINUE_DEFAULT_PLAN="enterprise")
    server.env["RETINUE_BASE_URL"] = f"http://127.0.0.1:{server.port}"
    async with server:
        await server.start()
        yield await Site(server).sign_in()


async def kill(site: Site) -> None:
    site.server.kill()
    assert await site.server.ended(15)
