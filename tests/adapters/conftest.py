"""The shop in three foreign databases; a server is started when the first test asks for it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from retinue.kit.egress import Egress
from tests.adapters.foreign_databases import Foreign, running_mariadb, running_postgresql
from tests.adapters.shop import open_mysql_shop, open_postgresql_shop, open_sqlite_shop


@pytest.fixture(scope="session")
async def postgresql_shop() -> AsyncIterator[Foreign]:
    with running_postgresql() as server:
        await open_postgresql_shop(server)
        yield server


@pytest.fixture(scope="session")
async def mysql_shop() -> AsyncIterator[Foreign]:
    with running_mariadb() as server:
        await open_mysql_shop(server)
        yield server


@pytest.fixture
def sqlite_shop(tmp_path: Path) -> Foreign:
    folder = tmp_path / "databases" / "tenant"
    folder.mkdir(parents=True)
    open_sqlite_shop(folder)
    return Foreign("sqlite", folder=folder)


@pytest.fixture
def shop(request: pytest.FixtureRequest, db_type: str) -> Foreign:
    """The shop in the database a test's parameter `db_type` names."""
    return request.getfixturevalue(f"{db_type}_shop")


@pytest.fixture
async def open_egress() -> AsyncIterator[Egress]:
    """An egress that may call this machine, where the tests' servers are."""
    async with Egress(["127.0.0.0/8"]) as egress:
        yield egress
