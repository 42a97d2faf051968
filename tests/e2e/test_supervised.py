"""`retinue serve --processes 2` is one server: kills, reloads, limits, streams and jobs (S3)."""

import asyncio
import contextlib
import itertools
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.chatting import Shop, StreamClient, serve_talker, set_up
from tests.e2e.commands import run_command
from tests.e2e.load import call
from tests.e2e.processes import ADMIN_PASSWORD
from tests.e2e.speaking import make_table, speak_until_allowed
from tests.e2e.supervised import KeptConnection, KeptLoad, LoadResult, SupervisedServer, stored_rows

KILLS = int(os.environ.get("RETINUE_TEST_WORKER_KILLS", "50"))
RELOADS = int(os.environ.get("RETINUE_TEST_RELOADS", "20"))
A_MINUTE = 300
CLIENTS = 8
SHORT_CLIENTS = 3
# Five deaths of a slot within 30 seconds end the server: here each slot has fewer.
SECONDS_BETWEEN_KILLS = 4.2


@pytest.mark.every_case
async def test_two_processes_are_one_server(tmp_path: Path, database_url: str) -> None:
    may_end = asyncio.Event()
    async with (
        serve_talker(speak_until_allowed(may_end)) as talker,
        SupervisedServer(tmp_path, database_url, RETINUE_BURST="off") as server,
    ):
        await server.start()
        shop = await set_up(server, talker)
        await limits_are_shared(shop)
        await a_reply_is_stopped_from_another_process(shop)
        table_id = await make_table(shop)
        await a_kill_loses_nothing(server, shop, table_id)
        await a_reload_fails_nothing(server, shop, table_id, may_end)
        supervisor = server.process
        assert supervisor is not None
        workers = server.workers
        assert await server.stop() == 0
        await server.end_of(supervisor.pid, *workers)
    assert "Traceback" not in server.log


async def limits_are_shared(shop: Shop) -> None:
    """One tenant's requests over many connections, that is over both processes."""
    email, port = "limited@example.com", shop.server.port
    admin = {"email": email, "password": ADMIN_PASSWORD, "first_name": "A", "last_name": "B"}
    body = {"name": "Limited", "plan": "enterprise", "admin": admin}
    status, tenant = await shop.call("POST", "/api/v1/tenants", body)
    assert status == 201, tenant
    limits = {"requests_per_minute": A_MINUTE, "requests_per_hour": None, "requests_per_day": None}
    status, answer = await shop.call("PUT", f"/api/v1/tenants/{tenant['id']}", {"limits": limits})
    assert status == 200, answer
    status, answer = await call(
        port, "POST", "/auth/login", body={"email": email, "password": ADMIN_PASSWORD}
    )
    assert status == 200, answer
    answers: Counter[int] = Counter()
    left = itertools.count(A_MINUTE + 60, -1)

    async def ask() -> None:
        connection = KeptConnection(port, answer["access_token"])
        while next(left) > 0:
            answers[(await connection.send("GET", "/api/v1/tenant"))[0]] += 1
        connection.close()

    await asyncio.gather(*(ask() for _ in range(16)))
    assert set(answers) == {200, 429}
    assert abs(answers[200] - A_MINUTE) <= A_MINUTE * 0.02


async def a_reply_is_stopped_from_another_process(shop: Shop) -> None:
    """Any process may get the request to stop: each try is a new connection."""
    for _ in range(3):
        client = await StreamClient(shop, "hang").open()
        await client.until(b"id: 3\n")
        status, answer = await shop.call("POST", f"{shop.chat}/{client.ids['message_id']}/stop")
        assert status == 200, answer
        async with asyncio.timeout(30):
            assert b"message_stop" in await client.to_end()
        client.drop(with_reset=False)


async def load_of(shop: Shop, table_id: str, clients: int = CLIENTS) -> KeptLoad:
    load = KeptLoad(shop.server.port, shop.token, table_id, clients)
    load.start()
    await load.at_least(10 * clients)
    return load


async def unless_lost(server: SupervisedServer, shop: Shop, table_id: str, result: LoadResult) -> None:
    assert result.refused == []
    assert result.wrong == []
    assert result.acknowledged <= await stored_rows(server.port, shop.token, table_id)


@contextlib.asynccontextmanager
async def loaded_server(folder: Path, database_url: str) -> AsyncIterator[tuple[SupervisedServer, KeptLoad]]:
    """Yield a server under load, which stops in order and has lost nothing at the end."""
    async with (
        serve_talker(speak_until_allowed(asyncio.Event())) as talker,
        SupervisedServer(folder, database_url) as server,
    ):
        await server.start()
        shop = await set_up(server, talker)
        table_id = await make_table(shop)
        load = await load_of(shop, table_id)
        yield server, load
        await unless_lost(server, shop, table_id, await load.finish())
        assert await server.stop() == 0


async def a_kill_loses_nothing(server: SupervisedServer, shop: Shop, table_id: str) -> None:
    load = await load_of(shop, table_id, SHORT_CLIENTS)
    killed = server.kill_worker(0)
    await load.at_least(20)
    await server.all_alive()
    assert killed not in server.workers
    await load.at_least(20)
    result = await load.finish()
    assert len(result.cut) <= SHORT_CLIENTS, "only what was on the connections of the killed process"
    await unless_lost(server, shop, table_id, result)


async def a_reload_fails_nothing(
    server: SupervisedServer, shop: Shop, table_id: str, may_end: asyncio.Event
) -> None:
    """A reply that has begun goes on to its end, in the process that began it."""
    load = await load_of(shop, table_id, SHORT_CLIENTS)
    client = await StreamClient(shop, "slowly").open()
    await client.until(b"id: 3\n")
    before = server.workers
    done = await server.reload()
    assert done.code == 0, done.errors
    await load.at_least(20)
    result = await load.finish()
    assert result.cut == []
    await unless_lost(server, shop, table_id, result)
    may_end.set()
    rest = await client.to_end()
    client.drop(with_reset=False)
    assert b'"finish_reason":"stop"' in rest
    assert b"server_shutdown" not in rest
    await server.end_of(*before)
    assert len(server.workers) == server.processes
    await server.all_alive()


@pytest.mark.slow
@pytest.mark.either_database
async def test_a_reload_with_a_bad_setting_changes_nothing(tmp_path: Path, database_url: str) -> None:
    setting = tmp_path / "sample"
    setting.write_text("1.0")
    async with SupervisedServer(tmp_path, database_url, RETINUE_TRACE_SAMPLE_FILE=str(setting)) as server:
        await server.start()
        before = server.workers
        setting.write_text("plenty")
        # Noticed by the command itself, and by the server if the command has other settings.
        others = {"RETINUE_TRACE_SAMPLE_FILE": str(tmp_path / "other")}
        (tmp_path / "other").write_text("1.0")
        for code, env in ((2, {}), (1, others)):
            done = await run_command(server, "reload", **env)
            assert done.code == code
            assert "RETINUE_TRACE_SAMPLE must be a number from 0 to 1" in done.errors
            assert server.workers == before
        setting.write_text("0.5")
        done = await server.reload()
        assert done.code == 0, done.errors
        assert await server.stop() == 0
    assert (await run_command(server, "reload")).code == 1


@pytest.mark.slow
@pytest.mark.every_case
async def test_many_kills_lose_nothing(tmp_path: Path, database_url: str) -> None:
    async with loaded_server(tmp_path, database_url) as (server, load):
        for number in range(KILLS):
            began = asyncio.get_running_loop().time()
            server.kill_worker(number)
            await load.at_least(20)
            await server.all_alive()
            left = began + SECONDS_BETWEEN_KILLS - asyncio.get_running_loop().time()
            await asyncio.sleep(max(0.0, left))
        assert len((await load.finish()).cut) <= CLIENTS * KILLS


@pytest.mark.slow
@pytest.mark.every_case
async def test_many_reloads_fail_nothing(tmp_path: Path, database_url: str) -> None:
    async with loaded_server(tmp_path, database_url) as (server, load):
        for _ in range(RELOADS):
            done = await server.reload()
            assert done.code == 0, done.errors
            await load.at_least(20)
        assert (await load.finish()).cut == []


@pytest.mark.slow
@pytest.mark.either_database
async def test_a_server_whose_processes_keep_dying_ends(tmp_path: Path, database_url: str) -> None:
    async with SupervisedServer(tmp_path, database_url) as server:
        await server.start()
        assert server.process is not None
        async with asyncio.timeout(60):
            while server.process.returncode is None:
                for pid in sorted(server.workers)[-1:]:
                    os.kill(pid, signal.SIGKILL)
                await asyncio.sleep(0.1)
        assert server.process.returncode == 1


@pytest.mark.slow
@pytest.mark.either_database
async def test_nothing_outlives_a_killed_supervisor(tmp_path: Path, database_url: str) -> None:
    async with SupervisedServer(tmp_path, database_url) as server:
        await server.start()
        workers: list[Any] = server.workers
        server.kill()
        await server.end_of(*workers)
