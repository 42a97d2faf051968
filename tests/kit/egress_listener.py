"""A listener on a loopback address that counts what reaches it and answers byte for byte as a test says."""

import asyncio
import contextlib
import errno
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from retinue.kit.egress import Resolver
from tests.loopback_server import serve_on_loopback

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


def reply(body: bytes = b"ok", status: int = 200, **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Listener:
    def __init__(self, answer: bytes | Answer) -> None:
        self._answer = answer
        self.address = ""
        self.port = 0
        self.connections = 0
        self.heads: list[str] = []
        self.bodies: list[bytes] = []
        self.sent = 0
        self.hangs_up = True
        """True if the connection ends after an answer that is written step by step."""

    @property
    def url(self) -> str:
        return f"http://{self.address}:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                await self._take_request(reader)
                if not isinstance(self._answer, bytes):
                    await self._answer(writer)
                    if self.hangs_up:
                        break
                    continue
                writer.write(self._answer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError, ssl.SSLError):
                await writer.wait_closed()

    async def _take_request(self, reader: asyncio.StreamReader) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"(?i)content-length: (\d+)", head)
        self.heads.append(head)
        self.bodies.append(await reader.readexactly(int(length[1])) if length else b"")

    async def flood(self, writer: asyncio.StreamWriter, piece: bytes, most: int) -> None:
        """Send a piece again and again until the other side hangs up; `most` ends a test that would not."""
        while self.sent < most:
            writer.write(piece)
            self.sent += len(piece)
            await writer.drain()


@contextlib.asynccontextmanager
async def listening(
    answer: bytes | Answer = b"", address: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
):
    listener = Listener(answer or reply())
    listener.address = address
    async with serve_on_loopback(listener.serve, address, port, tls=tls) as listener.port:
        yield listener


@contextlib.asynccontextmanager
async def listening_at_both(
    answer: bytes | Answer = b"", address: str = "127.0.0.2", second: str = "127.0.0.1"
) -> AsyncIterator[tuple[Listener, Listener]]:
    """Listen at one port of two addresses; the answer is the first one's.

    Another test may hold the port at the second address only, and then another port is tried.
    """
    while True:
        async with contextlib.AsyncExitStack() as stack:
            first = await stack.enter_async_context(listening(answer, address))
            try:
                other = await stack.enter_async_context(listening(address=second, port=first.port))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                continue
            yield first, other
            return


class ScriptedResolver(Resolver):
    """Gives the next of its answers at each question, and the last one ever after."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def resolve(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
