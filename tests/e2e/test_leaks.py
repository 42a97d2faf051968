"""No planted secret is found anywhere: not in an answer, the log, the database, its journal or a backup."""

import sqlite3
from pathlib import Path

import pytest

from tests.canaries import hits, read_everything_stored
from tests.e2e.conftest import Serving
from tests.e2e.load import call
from tests.e2e.planting import Planter, echoing_api
from tests.e2e.processes import ADMIN_PASSWORD, ServerProcess


async def sign_in(server: ServerProcess) -> str:
    body = {"email": "admin@example.com", "password": ADMIN_PASSWORD}
    status, answer = await call(server.port, "POST", "/auth/login", body=body)
    assert status == 200, answer
    return answer["access_token"]


def back_up(database: Path) -> bytes:
    """Return the bytes of a copy that is made while the server runs."""
    copy = database.with_name("backup.db")
    with sqlite3.connect(database) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    target.close()
    source.close()
    return copy.read_bytes()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::aiohttp.web_exceptions.NotAppKeyWarning")
async def test_no_planted_secret_is_found_anywhere(
    tmp_path: Path, database_url: str, serving: Serving
) -> None:
    async with (
        echoing_api() as api,
        serving(RETINUE_LOG_LEVEL="debug", RETINUE_BURST="on") as server,
    ):
        await server.start()
        planter = Planter(server.port, await sign_in(server), api)
        await planter.plant_credentials()
        await planter.plant_tools()
        await planter.plant_provider_keys()
        data = tmp_path / "data"
        running = await read_everything_stored(data, database_url)
        backup = b"" if database_url else back_up(data / "retinue.db")
        assert await server.stop() == 0
    stopped = await read_everything_stored(data, database_url)
    assert len(planter.secrets) >= 200
    assert b"cred_" in stopped
    assert b"told" in b"".join(planter.answers)
    for name, place in {
        "answers": b"\n".join(planter.answers),
        "log": server.log.encode(),
        "running database": running,
        "backup": backup,
        "stopped database": stopped,
    }.items():
        assert hits(place, planter.secrets) == [], name
