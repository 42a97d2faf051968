import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from scripts.campaign import CRASHES
from tests.databases import SERVER
from tests.e2e.clustered import PROCESSES, ClusteredServer, why_not
from tests.e2e.processes import ServerProcess, drop_database, make_database

Serving = Callable[..., ServerProcess]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Kills are left to the campaign.

    With several processes, the tests that bring processes of their own have nothing else to show.
    """
    for item in items:
        if item.nodeid.startswith(CRASHES):
            item.add_marker(pytest.mark.campaign)
    if PROCESSES == 1:
        return
    if why_not():
        raise pytest.UsageError(why_not())
    for item in items:
        if item.nodeid.startswith("tests/e2e/") and "serving" not in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.skip(reason="chooses its processes itself"))


@pytest.fixture
def serving(tmp_path: Path, database_url: str) -> Serving:
    """A server to be started, with these settings; it may be several processes that look like one."""

    def make(*, kills_workers: bool = True, **env: str) -> ServerProcess:
        if PROCESSES > 1:
            return ClusteredServer(tmp_path, database_url, kills_workers=kills_workers, **env)
        return ServerProcess(tmp_path, database_url, **env)

    return make


@pytest.fixture
async def database_url(worker_id: str) -> AsyncIterator[str]:
    """A new database for server processes: nothing for SQLite, which is a file in the data dir."""
    if not SERVER:
        yield ""
        return
    name = f"retinue_e2e_{os.getpid()}_{worker_id}"
    yield await make_database(SERVER, name)
    await drop_database(SERVER, name)
