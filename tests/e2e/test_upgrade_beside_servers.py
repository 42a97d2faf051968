"""A migration that the running servers would not survive waits until they are stopped or dead."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from retinue.kit.settings import Settings
from retinue.migrations.upgrade import head, read_revision
from tests.databases import SERVER
from tests.e2e.commands import Ran, run_command
from tests.e2e.load import call
from tests.e2e.newer_version import REVISION, make_newer_version
from tests.e2e.processes import ServerProcess, drop_database, free_port, launch_process, make_database

pytestmark = pytest.mark.every_case
REFUSED = "is not safe beside a server of the version before (9001). Stop all servers and workers"


@pytest.fixture
async def url(worker_id: str) -> AsyncIterator[str]:
    if not SERVER:
        yield ""
        return
    name = f"retinue_beside_{os.getpid()}_{worker_id}"
    yield await make_database(SERVER, name)
    await drop_database(SERVER, name)


def settings_of(server: ServerProcess) -> Settings:
    return Settings(
        data_dir=Path(server.env["RETINUE_DATA_DIR"]),
        database_url=server.env.get("RETINUE_DATABASE_URL", ""),
    )


async def revision(server: ServerProcess) -> str | None:
    return await read_revision(settings_of(server))


async def assert_serves(server: ServerProcess) -> None:
    status, _ = await call(server.port, "GET", "/health")
    assert status == 200


def assert_refused(ran: Ran) -> None:
    assert (ran.code, REFUSED in ran.errors) == (1, True), ran


@pytest.mark.parametrize(
    "processes",
    [pytest.param("1", id="alone"), pytest.param("2", id="several", marks=pytest.mark.campaign)],
)
async def test_a_running_server_is_noticed_until_it_is_killed(
    tmp_path: Path, url: str, processes: str
) -> None:
    newer = make_newer_version(tmp_path, is_safe=False)
    server = ServerProcess(tmp_path, url, RETINUE_PROCESSES=processes)
    await server.start()
    backup = tmp_path / "before.tar"
    for command in (("upgrade", "--backup", str(backup)), ("upgrade", "--without-backup"), ("migrate",)):
        assert_refused(await run_command(server, *command, **newer))
    # Neither does a new server migrate under the old one.
    assert_refused(await run_command(server, "serve", "--port", str(free_port()), **newer))
    assert not backup.exists()
    assert await revision(server) == head()
    await assert_serves(server)
    server.kill()
    await server.ended(60)
    ran = await run_command(server, "upgrade", "--backup", str(backup), **newer)
    assert (ran.code, f"migrated to revision {REVISION}" in ran.output) == (0, True), ran
    assert await revision(server) == REVISION


@pytest.mark.campaign
async def test_a_worker_counts_as_well(tmp_path: Path, url: str) -> None:
    newer = make_newer_version(tmp_path, is_safe=False)
    server = ServerProcess(tmp_path, url, RETINUE_WORKER="off", RETINUE_LOG_LEVEL="info")
    log = tmp_path / "worker.log"
    worker = await launch_process(log, server.worker_env, "-m", "retinue.cli", "worker")
    while "worker_ready" not in log.read_text():
        assert worker.returncode is None, log.read_text()
        await run_command(server, "version")
    assert_refused(await run_command(server, "migrate", **newer))
    worker.terminate()
    assert await worker.wait() == 0
    ran = await run_command(server, "migrate", **newer)
    assert (ran.code, await revision(server)) == (0, REVISION), ran


async def test_a_migration_that_is_safe_does_not_wait(tmp_path: Path, url: str) -> None:
    newer = make_newer_version(tmp_path, is_safe=True)
    server = ServerProcess(tmp_path, url)
    await server.start()
    due = await run_command(server, "upgrade", "--check", **newer)
    assert (due.code, "Servers may go on meanwhile." in due.output) == (3, True), due
    ran = await run_command(server, "migrate", **newer)
    assert (ran.code, await revision(server)) == (0, REVISION), ran
    await assert_serves(server)
    await server.stop()


@pytest.mark.campaign
async def test_commands_beside_each_other_are_no_servers(tmp_path: Path, url: str) -> None:
    """New processes that start together: one migrates, and none takes another for an old server."""
    server = ServerProcess(tmp_path, url)
    assert (await run_command(server, "migrate")).code == 0
    newer = make_newer_version(tmp_path, is_safe=False)
    logs = [tmp_path / f"worker-{number}.log" for number in range(3)]
    env = {**server.worker_env, **newer, "RETINUE_LOG_LEVEL": "info"}
    workers = [await launch_process(log, env, "-m", "retinue.cli", "worker") for log in logs]
    while not all("worker_ready" in log.read_text() for log in logs):
        assert [worker.returncode for worker in workers] == [None] * 3, [log.read_text() for log in logs]
        await run_command(server, "version")
    assert await revision(server) == REVISION
    for worker in workers:
        worker.terminate()
        assert await worker.wait() == 0
