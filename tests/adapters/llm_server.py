"""A provider of models on loopback: speaks the wire formats of OpenAI and Anthropic, and fails as told."""

import asyncio
import contextlib
import socket
import struct
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from retinue.adapters.llm import ChatRequest, ModelMessage, ProviderAccess, Timeouts, provider_for
from retinue.kit.clock import ManualClock
from retinue.kit.egress import Egress
from retinue.kit.secrets import Secret
from retinue.kit.settings import LOOPBACK
from tests.adapters import llm_as_anthropic, llm_as_openai
from tests.adapters.answering_server import AnsweringServer, Fault, Request, write_answer
from tests.adapters.llm_replies import Answer, Call, Reply
from tests.loopback_server import serve_on_loopback

KEY = "sk-test-9f8e7d6c5b4a/+Zz"
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class ProviderServer(AnsweringServer):
    """Answers with the scripted replies and then `otherwise`, an echo; `faults` come before either."""

    def __init__(self) -> None:
        super().__init__()
        self.connections = 0
        self.replies: deque[Reply] = deque()
        self.hung_up = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.otherwise: Callable[[str], Reply] = lambda heard: Reply(f"You said: {heard}")
        self.cut: Callable[[Sequence[bytes]], Sequence[bytes]] = lambda events: events

    def says(self, text: str = "", *calls: Call, **rest: Any) -> None:
        self.replies.append(Reply(text, calls, **rest))

    def fails(self, *faults: Fault) -> None:
        self.faults.extend(faults)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await super().serve(reader, writer)
        finally:
            self.hung_up.set()

    async def respond(self, writer: asyncio.StreamWriter, request: Request) -> None:
        await self.may_answer.wait()
        await self._send(writer, self.answer(request))

    def answer(self, request: Request) -> Answer:
        is_anthropic = "anthropic-version" in request.headers
        spoken = llm_as_anthropic if is_anthropic else llm_as_openai
        if (refused := spoken.check_key(request, KEY)) is not None:
            return refused
        return spoken.answer(request, self._next_reply)

    def _next_reply(self, heard: str) -> Reply:
        return self.replies.popleft() if self.replies else self.otherwise(heard)

    async def _send(self, writer: asyncio.StreamWriter, answer: Answer) -> None:
        if answer.events is None:
            await write_answer(writer, answer)
            return
        writer.write(STREAM_HEAD)
        for piece in self.cut(answer.events):
            writer.write(chunked(piece))
            await writer.drain()
            await asyncio.sleep(0)
        writer.write(b"0\r\n\r\n")
        await writer.drain()


def chunked(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def in_bytes(events: Sequence[bytes]) -> Sequence[bytes]:
    """Return every byte alone: no character, line or event arrives in one piece."""
    return [bytes([byte]) for byte in b"".join(events)]


def at_once(events: Sequence[bytes]) -> Sequence[bytes]:
    return [b"".join(events)]


def refusing(status: int, body: Any = b"", **headers: str) -> Fault:
    content = body if isinstance(body, bytes) else msgspec.json.encode(body)
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(content)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return sending("\r\n".join(lines).encode() + b"\r\n\r\n" + content)


def streaming(*data: bytes) -> Fault:
    """A stream of exactly these bytes, properly ended."""
    head = STREAM_HEAD.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    return sending(head + b"".join(map(chunked, data)) + b"0\r\n\r\n")


def sending(raw: bytes) -> Fault:
    async def fault(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        await writer.drain()

    return fault


def resetting(raw: bytes = b"", after: asyncio.Event | None = None) -> Fault:
    """Sends something, waits until the test has seen it arrive, and resets the connection."""

    async def fault(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        await writer.drain()
        if after is not None:
            await after.wait()
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return fault


def hanging(raw: bytes = b"") -> Fault:
    """Sends something and then nothing more until the client hangs up."""

    async def fault(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        await writer.drain()
        await reader.read()

    return fault


def flooding(piece: bytes, most: int) -> Fault:
    """Streams a piece again and again until the client hangs up; `most` bytes end a test that would not."""

    async def fault(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD)
        for _ in range(most // len(piece)):
            writer.write(chunked(piece))
            await writer.drain()

    return fault


@contextlib.asynccontextmanager
async def provider_server(provider: ProviderServer | None = None, port: int = 0):
    provider = provider or ProviderServer()
    async with serve_on_loopback(provider.serve, port=port) as provider.port:
        yield provider


@contextlib.asynccontextmanager
async def serve_and_connect(
    provider: str = "openai_compatible", *, key: str = KEY, path: str = "/v1", **timeouts: float
):
    """Yield a server, and a client of it that holds a key."""
    async with provider_server() as server, Egress(LOOPBACK) as egress:
        access = ProviderAccess(provider=provider, api_key=Secret(key), base_url=server.url + path)
        yield server, provider_for(egress, access, ManualClock(), timeouts=Timeouts(**timeouts))


def user(text: str, **rest: Any) -> ChatRequest:
    """A request with one message."""
    rest.setdefault("model", "gpt-4o-mini")
    return ChatRequest(messages=(ModelMessage(role="user", content=text),), **rest)
