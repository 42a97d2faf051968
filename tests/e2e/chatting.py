"""A server process with an agent, a model that talks as a test says, and raw clients of its streams."""

import asyncio
import contextlib
import json
import re
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import msgspec

from retinue.chat.models import ChatLog, Conversation, Message
from retinue.kit.clock import Clock
from retinue.kit.context import Caller, Context
from retinue.kit.principal import SYSTEM
from retinue.kit.setting_loader import load_settings
from retinue.wiring import close_instance, open_instance, server_settings
from tests.adapters.answering_server import Request, read_request, until_hung_up
from tests.adapters.llm_server import KEY
from tests.e2e.load import call
from tests.e2e.processes import ADMIN_PASSWORD, ServerProcess
from tests.loopback_server import serve_on_loopback

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
NO_LIMITS = {
    "requests_per_minute": None,
    "requests_per_hour": None,
    "requests_per_day": None,
    "chat_per_minute": None,
}

Talk = Callable[["Talker", Request, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Talker:
    """A provider on loopback that takes any number of connections; `talk` answers one question on each."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.port = 0
        self.asked = 0
        self.hang_ups = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with until_hung_up(writer):
            request = await read_request(reader)
            if request.path.endswith("/chat/completions"):
                self.asked += 1
                await self.talk(self, request, reader, writer)
            else:
                writer.write(b"HTTP/1.1 404 X\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
            await writer.drain()


@contextlib.asynccontextmanager
async def serve_talker(talk: Talk) -> AsyncIterator[Talker]:
    talker = Talker(talk)
    async with serve_on_loopback(talker.serve, backlog=2048) as talker.port:
        yield talker


def piece(text: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return b"data: " + msgspec.json.encode({"choices": [choice]}) + b"\n\n"


def whole(text: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    body = msgspec.json.encode({"choices": [choice]})
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Connection: close\r\n\r\n" + body


def hanging(*texts: str) -> Talk:
    """Says these pieces and then nothing more until the other side hangs up."""

    async def talk(
        talker: Talker, _request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(HEAD + b"".join(map(piece, texts)))
        await writer.drain()
        try:
            await reader.read()
        finally:
            talker.hang_ups += 1

    return talk


@dataclass
class Shop:
    server: ServerProcess
    talker: Talker
    token: str
    agent_id: str
    tenant_id: str

    @property
    def chat(self) -> str:
        return f"/api/v1/agents/{self.agent_id}/chat"

    async def call(self, method: str, path: str, body: Any = None, **more: Any) -> tuple[int, Any]:
        return await call(self.server.port, method, path, **{"token": self.token, "body": body, **more})

    @property
    def descriptors(self) -> int:
        return sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in self.server.pids)

    @property
    def resident_bytes(self) -> int:
        assert self.server.process is not None
        status = Path(f"/proc/{self.server.process.pid}/status").read_text()
        (kilobytes,) = re.findall(r"RssAnon:\s+(\d+) kB", status)
        return int(kilobytes) * 1024


async def set_up(server: ServerProcess, talker: Talker) -> Shop:
    """A tenant of the largest plan, whose requests nobody counts, with one agent."""
    shop = Shop(server, talker, "", "", "")
    me = {"email": "admin@example.com", "password": ADMIN_PASSWORD}
    shop.token = (await _call_expecting(shop, 200, "POST", "/auth/login", me))["access_token"]
    shop.tenant_id = (await _call_expecting(shop, 200, "GET", "/api/v1/tenant"))["id"]
    plan = {"plan": "enterprise", "limits": NO_LIMITS}
    await _call_expecting(shop, 200, "PUT", f"/api/v1/tenants/{shop.tenant_id}", plan)
    base_url = f"http://127.0.0.1:{talker.port}/v1"
    key = {"provider": "openai_compatible", "api_key": KEY, "base_url": base_url, "models": ["m"]}
    await _call_expecting(shop, 201, "POST", "/api/v1/api-keys", key)
    agent = {"name": "Support", "primary_model": "openai_compatible/m", "system_prompt": "You are the shop."}
    shop.agent_id = (await _call_expecting(shop, 201, "POST", "/api/v1/agents", agent))["id"]
    return shop


async def _call_expecting(shop: Shop, expected: int, method: str, path: str, body: Any = None) -> Any:
    status, answer = await shop.call(method, path, body)
    assert status == expected, answer
    return answer


@dataclass
class Colleague:
    id: str
    token: str


async def hire(shop: Shop, address: str = "colleague@example.com", role: str = "agent_user") -> Colleague:
    """Invite someone, who registers by the link in the mail and signs in."""
    await _call_expecting(shop, 201, "POST", "/users/invite", {"email": address, "role": role})
    link = await _invitation_token(shop, address)
    person = {"email": address, "password": ADMIN_PASSWORD, "first_name": "Kim", "last_name": "Lee"}
    id = (await _call_expecting(shop, 201, "POST", "/auth/register", {**person, "invite_token": link}))["id"]
    me = {"email": address, "password": ADMIN_PASSWORD}
    return Colleague(id, (await _call_expecting(shop, 200, "POST", "/auth/login", me))["access_token"])


async def _invitation_token(shop: Shop, address: str) -> str:
    outbox = Path(shop.server.env["RETINUE_DATA_DIR"]) / "outbox"
    async with asyncio.timeout(20):
        while True:
            for file in outbox.glob("*.eml"):
                mail = message_from_bytes(file.read_bytes(), policy=policy.default)
                body = mail.get_body(("plain",))
                if mail["To"] == address and body is not None:
                    return re.findall(r"invite_token=([\w-]+)", body.get_content())[0]
            await asyncio.sleep(0.05)


class StreamClient:
    """One stream as it comes, byte by byte."""

    def __init__(
        self,
        shop: Shop,
        message: str = "Hello",
        *,
        conversation_id: str | None = None,
        receive_buffer: int | None = None,
    ) -> None:
        self._shop = shop
        self._body = json.dumps({"message": message, "conversation_id": conversation_id}).encode()
        self._receive_buffer = receive_buffer
        self.got = b""

    async def open(self, token: str = "") -> "StreamClient":
        connection = socket.socket()
        if self._receive_buffer is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self._receive_buffer)
        connection.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", self._shop.server.port))
        except BaseException:
            connection.close()
            raise
        limit = 4096 if self._receive_buffer is not None else 2**16
        self._reader, self._writer = await asyncio.open_connection(sock=connection, limit=limit)
        body = self._body
        head = (
            f"POST {self._shop.chat}/stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\n"
            f"Authorization: Bearer {token or self._shop.token}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self._writer.write(head.encode() + body)
        await self._writer.drain()
        return self

    async def until(self, mark: bytes) -> None:
        async with asyncio.timeout(30):
            while mark not in self.got:
                received = await self._reader.read(256)
                assert received, self.got[-500:]
                self.got += received

    async def read(self, count: int) -> None:
        async with asyncio.timeout(30):
            self.got += await self._reader.readexactly(count)

    async def to_end(self) -> bytes:
        """Return the rest of the stream, until the server closes or cuts the connection."""
        with contextlib.suppress(ConnectionError):
            while received := await self._reader.read(2**16):
                self.got += received
        return self.got

    @property
    def ids(self) -> dict[str, str]:
        """The ids that the first event tells."""
        told = re.search(rb"event: message_start\nid: 1\ndata: (\{.*?\})\n", self.got)
        assert told is not None, self.got
        return msgspec.json.decode(told[1])

    @property
    def text(self) -> str:
        """Return the text that was streamed so far."""
        told = re.findall(rb"event: content_delta\nid: \d+\ndata: (\{.*?\})\n\n", self.got)
        return "".join(msgspec.json.decode(data)["delta"] for data in told)

    def drop(self, *, with_reset: bool) -> None:
        if with_reset:
            connection = self._writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._writer.transport.abort()
        else:
            self._writer.close()


@dataclass
class Kept:
    """The rows of the database."""

    messages: list[Message] = field(default_factory=list)
    conversations: list[Conversation] = field(default_factory=list)
    logs: list[ChatLog] = field(default_factory=list)

    @property
    def replies(self) -> dict[str, Message]:
        return {one.id: one for one in self.messages if one.role == "assistant"}


@contextlib.asynccontextmanager
async def open_database(server: ServerProcess, clock: Clock | None = None) -> AsyncIterator[Context]:
    """The database of a server that may be running or not, now or at another time."""
    settings, _ = load_settings({**server.env, "RETINUE_WORKER": "off"})
    instance = await open_instance(server_settings(settings, [("127.0.0.1", server.port)]), clock)
    try:
        async with Context(instance, SYSTEM, Caller(correlation_id="cor_test")) as ctx:
            yield ctx
    finally:
        await close_instance(instance)


async def read_kept(server: ServerProcess) -> Kept:
    async with open_database(server) as ctx:
        system = ctx.system("a test looks at everything")
        return Kept(await system.all(Message), await system.all(Conversation), await system.all(ChatLog))
