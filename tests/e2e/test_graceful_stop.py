"""A stop lets replies end: with one process and with several, until the grace period or a second signal."""

import asyncio
import contextlib
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.llm_server import Request
from tests.e2e.chatting import Shop, StreamClient, Talk, Talker, serve_talker, set_up, whole
from tests.e2e.load import Unreachable, call
from tests.e2e.processes import ServerProcess
from tests.e2e.speaking import speak_until_allowed
from tests.e2e.supervised import SupervisedServer

PATIENCE_S = 120
LONG_GRACE_S = 600
PROCESSES = pytest.mark.parametrize("processes", [1, 2], ids=["one_process", "two_processes"])


def stopping_server(folder: Path, url: str, processes: int, grace_s: int) -> ServerProcess:
    grace = str(grace_s)
    if processes == 1:
        return ServerProcess(folder, url, RETINUE_SHUTDOWN_GRACE=grace)
    return SupervisedServer(folder, url, processes=processes, RETINUE_SHUTDOWN_GRACE=grace)


def speak_either_way(may_end: asyncio.Event) -> Talk:
    """Speak as `speak_until_allowed` does, also to requests without a stream."""
    speak = speak_until_allowed(may_end)

    async def talk(
        talker: Talker, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if request.json.get("stream"):
            await speak(talker, request, reader, writer)
        else:
            await may_end.wait()
            writer.write(whole("one two end"))

    return talk


def send(server: ServerProcess, number: signal.Signals) -> None:
    assert server.process is not None
    server.process.send_signal(number)


async def wait_until_unready(server: ServerProcess) -> Any:
    """Wait until a new connection is told that the server is not ready; return the answer."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with contextlib.suppress(*Unreachable):
                status, answer = await asyncio.wait_for(call(server.port, "GET", "/health/ready"), 5)
                if status == 503:
                    return answer
            await asyncio.sleep(0.02)


async def open_stream(shop: Shop, message: str) -> StreamClient:
    client = await StreamClient(shop, message).open()
    await client.until(b"id: 3\n")
    return client


async def refusal_of_a_turn(shop: Shop) -> tuple[int, Any]:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with contextlib.suppress(*Unreachable, TimeoutError):
                return await asyncio.wait_for(shop.call("POST", shop.chat, {"message": "Hello"}), 5)


@PROCESSES
@pytest.mark.either_database
async def test_replies_end_before_the_server_does(tmp_path: Path, database_url: str, processes: int) -> None:
    may_end = asyncio.Event()
    server = stopping_server(tmp_path, database_url, processes, LONG_GRACE_S)
    async with serve_talker(speak_either_way(may_end)) as talker, server:
        await server.start()
        shop = await set_up(server, talker)
        client = await open_stream(shop, "slowly")
        blocking = asyncio.create_task(shop.call("POST", shop.chat, {"message": "slowly"}))
        status, accepted = await shop.call("POST", f"{shop.chat}/async", {"message": "slowly"})
        assert status == 202, accepted
        async with asyncio.timeout(PATIENCE_S):
            while talker.asked < 3:
                await asyncio.sleep(0.02)
        send(server, signal.SIGTERM)
        assert (await wait_until_unready(server))["status"] == "stopping"
        status, refused = await refusal_of_a_turn(shop)
        assert (status, refused["error"]["code"]) == (503, "server_shutdown")
        may_end.set()
        assert b'"finish_reason":"stop"' in await client.to_end()
        client.drop(with_reset=False)
        status, answer = await blocking
        assert (status, answer["message"]["content"]) == (200, "one two end"), answer
        assert server.process is not None
        assert await asyncio.wait_for(server.process.wait(), PATIENCE_S) == 0
        await server.start()
        status, job = await shop.call("GET", f"/api/v1/jobs/{accepted['job_id']}")
        assert (status, job["status"], job["attempt"]) == (200, "completed", 1)
    assert "Traceback" not in server.log


@PROCESSES
@pytest.mark.either_database
async def test_a_reply_that_outlasts_the_grace_is_told_why_it_ends(
    tmp_path: Path, database_url: str, processes: int
) -> None:
    server = stopping_server(tmp_path, database_url, processes, grace_s=1)
    async with serve_talker(speak_until_allowed(asyncio.Event())) as talker, server:
        await server.start()
        client = await open_stream(await set_up(server, talker), "hang")
        send(server, signal.SIGTERM)
        assert b'"code":"server_shutdown"' in await client.to_end()
        client.drop(with_reset=False)
        assert server.process is not None
        assert await asyncio.wait_for(server.process.wait(), PATIENCE_S) == 0


@PROCESSES
@pytest.mark.either_database
async def test_a_second_signal_waits_for_no_reply(tmp_path: Path, database_url: str, processes: int) -> None:
    server = stopping_server(tmp_path, database_url, processes, LONG_GRACE_S)
    async with serve_talker(speak_until_allowed(asyncio.Event())) as talker, server:
        await server.start()
        client = await open_stream(await set_up(server, talker), "hang")
        send(server, signal.SIGTERM)
        await wait_until_unready(server)
        send(server, signal.SIGTERM)
        async with asyncio.timeout(PATIENCE_S):
            assert b'"code":"server_shutdown"' in await client.to_end()
        client.drop(with_reset=False)
        assert server.process is not None
        assert await asyncio.wait_for(server.process.wait(), PATIENCE_S) == 0
