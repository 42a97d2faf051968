"""A server on loopback that answers as its documentation says, unless a test gives it faults or answers."""

import abc
import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec

from tests.adapters.llm_replies import Answer


@dataclass
class Request:
    """A request as the client sent it."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes = field(repr=False)

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)


Fault = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class AnsweringServer(abc.ABC):
    """Its `faults` come first, then the `answers` of the test, then its own."""

    def __init__(self) -> None:
        self.port = 0
        self.requests: list[Request] = []
        self.faults: deque[Fault] = deque()
        self.answers: deque[Answer] = deque()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def last(self) -> Request:
        return self.requests[-1]

    @abc.abstractmethod
    def answer(self, request: Request) -> Answer:
        """Return what the documentation says."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with until_hung_up(writer):
            while True:
                request = await read_request(reader)
                self.requests.append(request)
                if self.faults:
                    await self.faults.popleft()(reader, writer)
                    break
                await self.respond(writer, request)

    async def respond(self, writer: asyncio.StreamWriter, request: Request) -> None:
        await write_answer(writer, self.answers.popleft() if self.answers else self.answer(request))


@contextlib.asynccontextmanager
async def until_hung_up(writer: asyncio.StreamWriter) -> AsyncIterator[None]:
    """Take leave of a client at the end, or as soon as it hangs up."""
    try:
        yield
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def read_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    parts = urlsplit(target)
    return Request(method, unquote(parts.path), parse_qs(parts.query), headers, body)


async def write_answer(writer: asyncio.StreamWriter, answer: Answer) -> None:
    head = [f"HTTP/1.1 {answer.status} X", f"Content-Length: {len(answer.body)}"]
    head += [f"{name}: {value}" for name, value in answer.headers.items()]
    writer.write("\r\n".join(head).encode() + b"\r\n\r\n" + answer.body)
    await writer.drain()
