import os
from collections.abc import AsyncIterator

import pytest

from tests.databases import SERVER
from tests.e2e.processes import drop_database, make_database


@pytest.fixture
async def database_url(worker_id: str) -> AsyncIterator[str]:
    """A new database for server processes: nothing for SQLite, which is a file in the data dir."""
    if not SERVER:
        yield ""
        return
    name = f"retinue_e2e_{os.getpid()}_{worker_id}"
    yield await make_database(SERVER, name)
    await drop_database(SERVER, name)
