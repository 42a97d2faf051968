"""Bodies that are sent while they are made."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from retinue.kit.errors import Conflict
from retinue.kit.http import byte_streams

HEADERS = [(b"content-type", b"audio/mpeg")]
START = {"type": "http.response.start", "status": 200, "headers": HEADERS}


class Client:
    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.gone = asyncio.Event()
        self.got = asyncio.Event()

    async def send(self, message: Any) -> None:
        self.sent.append(message)
        if message.get("body"):
            self.got.set()

    async def receive(self) -> Any:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def stream(self, chunks: AsyncIterator[bytes]) -> None:
        await byte_streams.stream(self.send, self.receive, chunks, status=200, headers=HEADERS)

    @property
    def bodies(self) -> list[tuple[bytes, bool]]:
        return [(message["body"], message["more_body"]) for message in self.sent[1:]]


async def test_every_chunk_is_sent_as_it_comes_and_the_end_is_said():
    async def made() -> AsyncIterator[bytes]:
        yield b"one"
        assert client.bodies == [(b"one", True)], "it has left before the next is made"
        yield b"two"

    client = Client()
    await client.stream(made())
    assert client.sent[0] == START
    assert client.bodies == [(b"one", True), (b"two", True), (b"", False)]


async def test_a_body_may_be_empty():
    async def made() -> AsyncIterator[bytes]:
        return
        yield b""

    client = Client()
    await client.stream(made())
    assert client.sent[0] == START
    assert client.bodies[-1] == (b"", False)


async def test_a_failure_before_the_first_byte_is_the_callers():
    async def made() -> AsyncIterator[bytes]:
        raise Conflict("Not now.")
        yield b""

    client = Client()
    with pytest.raises(Conflict):
        await client.stream(made())
    assert client.sent == []


@pytest.mark.parametrize("error", [Conflict("Not any more."), ZeroDivisionError()])
async def test_a_later_failure_leaves_the_answer_unfinished(error):
    async def made() -> AsyncIterator[bytes]:
        yield b"one"
        raise error

    client = Client()
    await client.stream(made())
    assert client.bodies == [(b"one", True)], "without an end the server cuts the connection"


async def test_a_client_that_goes_ends_the_work_of_the_producer():
    closed = asyncio.Event()

    async def made() -> AsyncIterator[bytes]:
        try:
            yield b"one"
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            closed.set()

    client = Client()
    task = asyncio.create_task(client.stream(made()))
    await client.got.wait()
    client.gone.set()
    await task
    assert closed.is_set()
    assert client.bodies == [(b"one", True)]


async def test_a_client_that_takes_nothing_any_more_ends_it_too():
    closed = asyncio.Event()

    class Stuck(Client):
        async def send(self, message: Any) -> None:
            await super().send(message)
            if message.get("body") == b"one":
                await asyncio.Event().wait()

    async def made() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"one"
        finally:
            closed.set()

    client = Stuck()
    task = asyncio.create_task(client.stream(made()))
    await client.got.wait()
    client.gone.set()
    await task
    assert closed.is_set()
