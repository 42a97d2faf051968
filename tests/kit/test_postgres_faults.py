"""A database that cannot be used at start: which one, why, and which setting says so."""

import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from retinue.kit.db.databases import database_for
from retinue.kit.errors import CannotStart
from retinue.kit.settings import Settings
from retinue.migrations.upgrade import upgrade
from tests.e2e.commands import run_command
from tests.e2e.processes import ServerProcess, free_port
from tests.postgres_cluster import PASSWORD, USER, needs_cluster, postgres_cluster

pytestmark = [needs_cluster, pytest.mark.either_database]
WRONG = "wr0ng-secret"
RIGHT = quote(PASSWORD, safe="")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with postgres_cluster() as started:
        yield started


async def why_not(url: str) -> str:
    """Return the message that the operator reads."""
    database = database_for(Settings(database_url=url))
    with pytest.raises(CannotStart) as refused:
        await database.open()
    text = str(refused.value)
    assert not any(secret in text for secret in (WRONG, PASSWORD, RIGHT))
    return text


async def test_a_wrong_password(port: int) -> None:
    assert await why_not(f"postgresql://{USER}:{WRONG}@127.0.0.1:{port}/postgres") == (
        f"PostgreSQL at 127.0.0.1:{port}, database postgres, cannot be used: it rejected the password of "
        f"{USER}. Check RETINUE_DATABASE_URL."
    )


async def test_a_database_that_does_not_exist(port: int) -> None:
    assert await why_not(f"postgresql://{USER}:{RIGHT}@127.0.0.1:{port}/nowhere") == (
        f"PostgreSQL at 127.0.0.1:{port}, database nowhere, cannot be used: it has no database of this name. "
        "Check RETINUE_DATABASE_URL."
    )


async def test_tls_that_the_server_does_not_offer(port: int) -> None:
    url = f"postgresql://{USER}:{RIGHT}@127.0.0.1:{port}/postgres?sslmode=require"
    assert "it does not offer TLS, which sslmode asks for" in await why_not(url)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_port_that_nobody_listens_on(host: str) -> None:
    closed = free_port()
    text = await why_not(f"postgres://{USER}:{WRONG}@{host}:{closed}/retinue")
    assert text.startswith(f"PostgreSQL at {host}:{closed}, database retinue, cannot be used: it refused the")


async def test_a_host_that_does_not_exist() -> None:
    text = await why_not(f"postgresql://{USER}:{WRONG}@db.invalid/retinue")
    assert text.startswith("PostgreSQL at db.invalid:5432, database retinue, cannot be used: ")
    assert any(reason in text for reason in ("there is no host of this name", "host was not found")), text


async def test_a_server_that_never_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        text = await why_not(f"postgresql://{USER}:{WRONG}@127.0.0.1:{silent.getsockname()[1]}/retinue")
    assert "it did not answer in time" in text


@pytest.mark.parametrize("password", ["pa/ss", "pa:ss@wr0ng-secret/x"])
async def test_a_url_that_cannot_be_read_shows_nothing_of_the_password(password: str) -> None:
    text = await why_not(f"postgresql://{USER}:{password}@127.0.0.1:1/retinue")
    assert "pa" not in text.replace("password", "").replace("PostgreSQL", "").replace("special", "")
    assert "RETINUE_DATABASE_URL" in text


async def test_a_wrong_direct_url_is_named_before_anything_is_migrated(port: int, tmp_path: Path) -> None:
    url = f"postgresql://{USER}:{RIGHT}@127.0.0.1:{port}/postgres"
    direct = f"postgresql://{USER}:{WRONG}@127.0.0.1:{port}/postgres"
    settings = Settings(database_url=url, database_direct_url=direct, data_dir=tmp_path)
    with pytest.raises(CannotStart, match=r"rejected the password .* Check RETINUE_DATABASE_DIRECT_URL"):
        await upgrade(settings)


async def test_a_command_says_it_in_one_line(port: int, tmp_path: Path) -> None:
    server = ServerProcess(tmp_path, f"postgresql://{USER}:{WRONG}@127.0.0.1:{port}/postgres")
    ran = await run_command(server, "migrate")
    assert ran.code == 1
    where = f"PostgreSQL at 127.0.0.1:{port}, database postgres, cannot be used"
    said = f"retinue: {where}: it rejected the password of {USER}. Check RETINUE_DATABASE_URL."
    assert ran.errors.strip().splitlines() == [said]
