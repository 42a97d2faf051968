"""Behind PgBouncer in transaction mode: no state of a session is relied on, and what is missing is said."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from retinue.cli.backups.create import create_backup
from retinue.cli.doctor.service_checks import check_services
from retinue.kit.db import postgres, postgres_listener
from retinue.kit.db.errors import DatabaseUnavailable
from retinue.kit.db.postgres import PostgresDatabase
from retinue.kit.errors import CannotStart
from retinue.kit.settings import Settings
from retinue.migrations.upgrade import head, read_revision, upgrade
from tests.client import Api
from tests.databases import SERVER, Databases
from tests.e2e.processes import drop_database, make_database
from tests.factories.agents import agent_body
from tests.factories.people import People
from tests.pgbouncer import PgBouncer, needs_pgbouncer

pytestmark = [needs_pgbouncer, pytest.mark.one_service("brings its own pooler")]
SESSIONS = 2
CALLS = 40


@pytest.fixture(scope="module")
def pooler() -> Iterator[PgBouncer]:
    made = PgBouncer(SESSIONS)
    made.start()
    yield made
    made.stop()


@pytest.fixture
async def direct(databases: Databases, tmp_path: Path) -> str:
    return await databases.fresh(tmp_path)


async def answers_of(database: PostgresDatabase) -> list[int]:
    """Read many numbers at once, each with a statement of its own, from more connections than sessions."""

    async def read(number: int) -> int:
        for _ in range(100):
            try:
                return int((await database.fetch(f"SELECT {number} + $1::int", [1]))[0][0])
            except DatabaseUnavailable:
                continue
        raise AssertionError("never answered")

    return await asyncio.gather(*(read(number) for number in range(CALLS)))


async def test_a_service_with_a_direct_connection_is_told_of_new_work(
    make_service: Any, pooler: PgBouncer, direct: str
) -> None:
    service = await make_service(
        database_url=pooler.url(direct), database_direct_url=direct, worker="inline", database_pool=6
    )
    people = People(service)
    admin = await people.super_admin()
    created = await asyncio.gather(
        *(admin.post("/api/v1/agents", json=agent_body(name=f"Agent {number}")) for number in range(CALLS))
    )
    assert {answer.status for answer in created} == {201}
    assert (await admin.get("/api/v1/agents")).json()["pagination"]["total"] == CALLS
    async with asyncio.timeout(20):
        while (await Api(service).get("/health")).json()["direct_connection"] != "ok":
            await asyncio.sleep(0.05)
    assert (await Api(service).get("/health")).json()["worker"] == "ok"


async def test_without_a_direct_connection_health_doctor_and_backup_say_so(
    make_service: Any, pooler: PgBouncer, direct: str, tmp_path: Path
) -> None:
    service = await make_service(database_url=pooler.url(direct), database_direct_url="")
    answer = await Api(service).get("/health")
    assert (answer.status, answer.json()["direct_connection"]) == (200, "missing")
    found = {finding.name: finding async for finding in check_services(service.settings)}
    assert found["direct_connection"].status == "warn"
    assert "RETINUE_DATABASE_DIRECT_URL" in found["direct_connection"].hint
    with pytest.raises(CannotStart, match="RETINUE_DATABASE_DIRECT_URL"):
        await asyncio.to_thread(create_backup, service.settings, tmp_path / "backup.tar", None, 0)


async def test_a_direct_url_that_leads_to_another_database_is_found(
    pooler: PgBouncer, direct: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_listener, "_MAX_SILENCE_SECONDS", 0.2)
    database = PostgresDatabase(pooler.url(direct), direct_url=SERVER)
    await database.open()
    try:
        async with asyncio.timeout(30):
            while database.direct_connection() != "unavailable":
                await database.wait_for_change(0.1)
    finally:
        await database.close()


@pytest.fixture
async def empty(pooler: PgBouncer, worker_id: str) -> AsyncIterator[str]:
    name = f"retinue_pooled_{os.getpid()}_{worker_id}"
    yield pooler.url(await make_database(SERVER, name))
    await drop_database(SERVER, name)


@pytest.mark.slow
async def test_an_empty_database_is_migrated_through_the_pooler(empty: str, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, database_url=empty)
    assert await upgrade(settings)
    assert await read_revision(settings) == head()


async def test_a_pooler_that_was_not_recognized_costs_retries_and_never_a_wrong_answer(
    pooler: PgBouncer, direct: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nobody_between(_connection: asyncpg.Connection) -> bool:
        return False

    monkeypatch.setattr(postgres, "is_pooled", nobody_between)
    databases = [PostgresDatabase(pooler.url(direct), pool_size=6) for _ in range(2)]
    for database in databases:
        await database.open()
    try:
        for _ in range(3):
            for numbers in await asyncio.gather(*(answers_of(database) for database in databases)):
                assert numbers == list(range(1, CALLS + 1))
        assert [database._keeps_statements for database in databases] == [False, False]
    finally:
        for database in databases:
            await database.close()


async def test_no_two_connections_give_a_statement_the_same_name(direct: str) -> None:
    connections = [await postgres.connect(direct, keeps_statements=True) for _ in range(2)]
    names = []
    for connection in connections:
        await connection.fetch("SELECT $1::int", 1)
        names += [row[0] for row in await connection.fetch("SELECT name FROM pg_prepared_statements")]
        await connection.close()
    spaces = {name.split("_")[4] for name in names}
    assert (len(spaces), {len(space) for space in spaces}) == (2, {16})
