"""SIGHUP never ends a process: a server is replaced without a failed request, anything else goes on."""

import asyncio
import os
import signal
import sqlite3
from pathlib import Path

import pytest

from tests.e2e.chatting import StreamClient, serve_talker, set_up
from tests.e2e.commands import run_command
from tests.e2e.load import Unreachable, call
from tests.e2e.processes import ServerProcess, launch_process
from tests.e2e.speaking import make_table, speak_until_allowed
from tests.e2e.supervised import KeptLoad, SupervisedServer, children_of, stored_rows

PATIENCE_S = 120
CLIENTS = 3


@pytest.mark.either_database
async def test_a_single_process_replaces_itself(tmp_path: Path, database_url: str) -> None:
    """Twice: the first time it becomes a supervisor, then it is one."""
    may_end = asyncio.Event()
    async with (
        serve_talker(speak_until_allowed(may_end)) as talker,
        ServerProcess(tmp_path, database_url) as server,
    ):
        await server.start()
        shop = await set_up(server, talker)
        table_id = await make_table(shop)
        client = await StreamClient(shop, "slowly").open()
        await client.until(b"id: 3\n")
        load = KeptLoad(server.port, shop.token, table_id, CLIENTS)
        load.start()
        await load.at_least(10)
        assert server.process is not None
        pid = server.process.pid
        for _ in range(2):
            done = await run_command(server, "reload")
            assert (done.code, done.output) == (0, f"1 process of the server {pid} replaced.\n"), done.errors
            await load.at_least(10)
        result = await load.finish()
        assert (result.refused, result.cut, result.wrong) == ([], [], [])
        assert result.acknowledged <= await stored_rows(server.port, shop.token, table_id)
        may_end.set()
        rest = await client.to_end()
        client.drop(with_reset=False)
        assert b'"finish_reason":"stop"' in rest
        assert b"server_shutdown" not in rest
        assert server.process.returncode is None
        assert await server.stop() == 0
    assert "Traceback" not in server.log


@pytest.mark.either_database
async def test_a_reload_that_fails_leaves_the_single_process_as_it_was(
    tmp_path: Path, database_url: str
) -> None:
    setting = tmp_path / "sample"
    setting.write_text("1.0")
    async with ServerProcess(tmp_path, database_url, RETINUE_TRACE_SAMPLE_FILE=str(setting)) as server:
        await server.start()
        setting.write_text("plenty")
        (tmp_path / "other").write_text("1.0")
        done = await run_command(server, "reload", RETINUE_TRACE_SAMPLE_FILE=str(tmp_path / "other"))
        assert done.code == 1
        assert "what ran before goes on" in done.errors
        assert (await call(server.port, "GET", "/health"))[0] == 200
        setting.write_text("0.5")
        assert (await run_command(server, "reload")).code == 0
        assert await server.stop() == 0


@pytest.mark.either_database
@pytest.mark.campaign
async def test_a_successor_that_cannot_start_does_not_close_the_address(tmp_path: Path) -> None:
    async with ServerProcess(tmp_path) as server:
        await server.start()
        with sqlite3.connect(tmp_path / "data" / "retinue.db") as database:
            (revision,) = database.execute("SELECT version_num FROM alembic_version").fetchone()
            database.execute("UPDATE alembic_version SET version_num = '9999'")
        assert (await run_command(server, "reload")).code == 1
        assert (await call(server.port, "GET", "/health"))[0] == 200
        with sqlite3.connect(tmp_path / "data" / "retinue.db") as database:
            database.execute("UPDATE alembic_version SET version_num = ?", [revision])
        assert (await run_command(server, "reload")).code == 0
        assert (await call(server.port, "GET", "/health"))[0] == 200
        assert await server.stop() == 0


@pytest.mark.either_database
async def test_a_stop_during_a_reload_ends_the_server(tmp_path: Path) -> None:
    async with ServerProcess(tmp_path, RETINUE_LOG_LEVEL="info") as server:
        await server.start()
        process = await begin_reload(server)
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), PATIENCE_S) == 0
    assert "reload_given_up" in server.log
    assert "Traceback" not in server.log


@pytest.mark.either_database
@pytest.mark.parametrize("phase", ["the fork server is prepared", "a worker starts"])
@pytest.mark.campaign
async def test_a_stop_during_a_reload_ends_several_processes_at_once(tmp_path: Path, phase: str) -> None:
    """An open stream keeps the workers for the grace period: they refuse new work from the signal on."""
    may_end = asyncio.Event()
    async with (
        serve_talker(speak_until_allowed(may_end)) as talker,
        SupervisedServer(tmp_path, RETINUE_LOG_LEVEL="info", RETINUE_SHUTDOWN_GRACE="60") as server,
    ):
        await server.start()
        client = await StreamClient(await set_up(server, talker), "slowly").open()
        await client.until(b"id: 3\n")
        process = server.process
        assert process is not None
        (old_fork_server,), workers = children_of(process.pid), set(server.workers)
        process.send_signal(signal.SIGHUP)
        async with asyncio.timeout(PATIENCE_S):
            while not (started := set(children_of(process.pid)) - {old_fork_server}):
                await asyncio.sleep(0.005)
            (fork_server,) = started
            # Until its program runs, its parent waits for it.
            while "fork_server" not in Path(f"/proc/{fork_server}/cmdline").read_text():
                await asyncio.sleep(0.005)
            while phase == "a worker starts" and not children_of(fork_server):
                await asyncio.sleep(0.005)
        if phase == "the fork server is prepared":
            # It would be prepared before anybody notices.
            os.kill(fork_server, signal.SIGSTOP)
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(10):
            await server.end_of(fork_server)
            while await _readiness(server.port) != 503:
                await asyncio.sleep(0.02)
        assert set(server.workers) <= workers
        may_end.set()
        assert b'"finish_reason":"stop"' in await client.to_end()
        client.drop(with_reset=False)
        assert await asyncio.wait_for(process.wait(), PATIENCE_S) == 0
    assert "reload_given_up" in server.log
    assert not [word for word in ("reload_failed", "worker_killed", "Traceback") if word in server.log]


@pytest.mark.either_database
@pytest.mark.campaign
async def test_a_reload_during_a_reload_is_another_one(tmp_path: Path) -> None:
    """The second reload may bring newer code than the first one started with, so both happen."""
    async with ServerProcess(tmp_path, RETINUE_LOG_LEVEL="info") as server:
        await server.start()
        process = await begin_reload(server)
        # As the command does, which would not be there in time.
        process.send_signal(signal.SIGHUP)
        async with asyncio.timeout(PATIENCE_S):
            while server.log.count("reload_ended") < 2:
                await asyncio.sleep(0.02)
        assert (await call(server.port, "GET", "/health"))[0] == 200
        assert await server.stop() == 0
    assert "Traceback" not in server.log


@pytest.mark.either_database
@pytest.mark.campaign
async def test_a_stop_during_the_second_reload_of_a_single_process(tmp_path: Path) -> None:
    async with ServerProcess(tmp_path, RETINUE_LOG_LEVEL="info") as server:
        await server.start()
        assert (await run_command(server, "reload")).code == 0
        assert server.process is not None
        server.process.send_signal(signal.SIGHUP)
        async with asyncio.timeout(PATIENCE_S):
            while server.log.count("reload_started") < 2:
                await asyncio.sleep(0.01)
        server.process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(server.process.wait(), PATIENCE_S) == 0
    assert "reload_given_up" in server.log
    assert not [word for word in ("reload_failed", "Traceback") if word in server.log]


@pytest.mark.either_database
@pytest.mark.campaign
async def test_a_hangup_ends_neither_a_worker_nor_a_process_of_several(
    tmp_path: Path, database_url: str
) -> None:
    async with SupervisedServer(tmp_path, database_url) as server:
        await server.start()
        assert server.process is not None
        before = [*server.workers, *children_of(server.process.pid)]
        for pid in before:
            os.kill(pid, signal.SIGHUP)
        worker = await launch_process(
            tmp_path / "worker.log", server.worker_env, "-m", "retinue.cli", "worker"
        )
        async with asyncio.timeout(PATIENCE_S):
            # Once it handles SIGTERM, it runs.
            while not _handles(worker.pid, signal.SIGTERM):
                await asyncio.sleep(0.02)
        worker.send_signal(signal.SIGHUP)
        await server.all_alive()
        assert [*server.workers, *children_of(server.process.pid)] == before
        assert worker.returncode is None
        worker.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(worker.wait(), PATIENCE_S) == 0
        assert await server.stop() == 0


async def begin_reload(server: ServerProcess) -> asyncio.subprocess.Process:
    """Ask for a reload and return the process once it says that it began."""
    assert server.process is not None
    server.process.send_signal(signal.SIGHUP)
    async with asyncio.timeout(PATIENCE_S):
        while "reload_started" not in server.log:
            await asyncio.sleep(0.01)
    return server.process


async def _readiness(port: int) -> int:
    """Return the status; 0 if the connection was one of the process that has ended just now."""
    try:
        return (await call(port, "GET", "/health/ready"))[0]
    except Unreachable:
        return 0


def _handles(pid: int, number: signal.Signals) -> bool:
    caught = Path(f"/proc/{pid}/status").read_text().partition("SigCgt:")[2].split()[0]
    return bool(int(caught, 16) >> (number - 1) & 1)
