"""R8: migrations make exactly the declared schema, also when started twice or killed."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa

from retinue.kit.settings import Settings
from retinue.migrations.upgrade import head
from tests.contract.migrating import differences, migrate, on_connection, revision
from tests.databases import SERVER
from tests.e2e.commands import run_command
from tests.e2e.load import call
from tests.e2e.processes import ADMIN_PASSWORD, ROOT, ServerProcess, drop_database, make_database

pytestmark = pytest.mark.every_case

# For each statement: empty, migrate until the kill, migrate again.
PATIENCE_S = 30
NEWER = "UPDATE alembic_version SET version_num = '9999'"


@pytest.fixture
async def empty_url(worker_id: str) -> AsyncIterator[str]:
    """An empty database: nothing for SQLite, which is a file in the data dir."""
    if not SERVER:
        yield ""
        return
    name = f"retinue_migrations_{os.getpid()}_{worker_id}"
    yield await make_database(SERVER, name)
    await drop_database(SERVER, name)


@pytest.fixture
def settings(tmp_path: Path, empty_url: str) -> Settings:
    return Settings(data_dir=tmp_path / "data", database_url=empty_url)


async def change(settings: Settings, sql: str) -> None:
    await on_connection(settings, lambda connection: connection.exec_driver_sql(sql) and None)


async def test_the_migrations_make_exactly_what_the_records_declare(settings: Settings) -> None:
    assert await migrate(settings)
    assert await differences(settings) == []
    assert await revision(settings) == head()


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE ghosts (id TEXT)",
        "DROP TABLE recovery_codes",
        "ALTER TABLE users ADD COLUMN nickname TEXT",
        "ALTER TABLE users DROP COLUMN language",
        "CREATE INDEX ghost ON users (language)",
        "DROP INDEX ix_users_tenant_id_role",
        "DROP TABLE chunk_words",
    ],
)
async def test_any_difference_would_be_seen(settings: Settings, sql: str) -> None:
    await migrate(settings)
    await change(settings, sql)
    assert await differences(settings)


async def snapshot(settings: Settings) -> dict[str, list[Any]]:
    """Every row of every table."""

    def read(connection: sa.Connection) -> dict[str, list[Any]]:
        names = sorted(sa.inspect(connection).get_table_names())
        return {
            name: sorted(map(tuple, connection.exec_driver_sql(f'SELECT * FROM "{name}"'))) for name in names
        }

    return await on_connection(settings, read)


async def test_migrating_again_does_nothing(settings: Settings) -> None:
    await migrate(settings)
    before = await snapshot(settings)
    assert "users" in before
    assert not await migrate(settings)
    assert await snapshot(settings) == before


@pytest.mark.slow
async def test_a_database_of_a_newer_version_is_left_alone_and_told_about(
    tmp_path: Path, settings: Settings
) -> None:
    await migrate(settings)
    await change(settings, NEWER)
    before = await snapshot(settings)
    server = ServerProcess(tmp_path, settings.database_url)
    told = f"the database is at revision 9999, this version knows up to {head()}"
    for arguments in (["serve", "--port", "0"], ["worker"], ["migrate"], ["audit", "verify"]):
        ran = await run_command(server, *arguments)
        assert (ran.code, ran.output) == (1, ""), (arguments, ran)
        assert told in ran.errors
        assert "Traceback" not in ran.errors
    assert await snapshot(settings) == before


async def test_two_servers_that_start_at_once_on_an_empty_database_both_come_up(
    tmp_path: Path, settings: Settings
) -> None:
    address = {"RETINUE_BASE_URL": "http://127.0.0.1:8080"}
    servers = [ServerProcess(tmp_path, settings.database_url, **address) for _ in range(2)]
    await asyncio.gather(*(server.start() for server in servers))
    body = {"email": "admin@example.com", "password": ADMIN_PASSWORD}
    tokens = []
    for server in servers:
        status, answer = await call(server.port, "POST", "/auth/login", body=body)
        assert status == 200, answer
        tokens.append(answer["access_token"])
    for server, token in zip(servers, reversed(tokens), strict=True):
        status, answer = await call(server.port, "GET", "/users", token=token)
        assert (status, answer.get("total")) == (200, 1), answer
        assert (await call(server.port, "GET", "/health"))[1]["vault"] == "open"
    assert [await server.stop() for server in servers] == [0, 0]
    assert await differences(settings) == []


async def kill_at(settings: Settings, statements: list[int]) -> list[dict[str, Any]]:
    """Kill a migration at these statements; return the reports of all processes."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.contract.migrating",
        str(settings.data_dir), settings.database_url, *map(str, statements),
        cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, errors = await asyncio.wait_for(process.communicate(), PATIENCE_S * len(statements))
    assert process.returncode == 0, errors.decode()
    assert b"Traceback" not in errors, errors.decode()
    return [msgspec.json.decode(line) for line in output.splitlines()]


async def count_statements(settings: Settings) -> int:
    _, counted, ended, *_ = await kill_at(settings, [0])
    assert ended == {"at": 0, "ended": 0}
    return int(counted["statements"])


async def check_kills(settings: Settings, statements: list[int]) -> None:
    told = await kill_at(settings, statements)
    for number, at in enumerate(statements):
        emptied, killed, finished, ended = told[4 * number : 4 * number + 4]
        assert (emptied, killed) == ({"at": at, "ended": 0}, {"at": at, "ended": -9})
        assert (finished["left"], finished["migrated"]) == (None, True), "one transaction: all or nothing"
        assert finished["revision"] == head()
        assert finished["differences"] == []
        assert finished["again"] is False
        assert ended == {"at": at, "ended": 0}


@pytest.mark.slow
async def test_a_migration_that_was_killed_is_completed_by_the_next_start(settings: Settings) -> None:
    total = await count_statements(settings)
    assert total > 40
    await check_kills(settings, [1, total // 3, total - 1, total])


@pytest.mark.slow
async def test_a_migration_may_be_killed_anywhere(settings: Settings) -> None:
    """At every seventh of some 450 statements: they are one transaction, and a kill takes seconds."""
    total = await count_statements(settings)
    await check_kills(settings, list(range(1, total + 1, 7)))
