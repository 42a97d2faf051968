from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from sqlalchemy.schema import CreateTable, DropTable

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import SystemClock
from retinue.kit.db.session import Db, SystemDb
from retinue.kit.db.statements import DIALECTS
from retinue.kit.db.unit_of_work import UnitOfWork
from tests.client import Api
from tests.databases import Databases
from tests.factories.people import People
from tests.kit.planted import Planted
from tests.kit.records import Box, Lid
from tests.kit.workshop import Workshop, workshop_on

Doors = Callable[..., tuple[UnitOfWork, Db]]


@pytest.fixture
async def test_tables(service: Service) -> AsyncIterator[None]:
    """The tables of tests/kit/records.py, beside the real ones."""
    database = service.instance.database
    dialect = DIALECTS[database.dialect]
    connection = await database.begin()
    for record in (Box, Lid):
        await connection.execute(str(CreateTable(record.__table__).compile(dialect=dialect)), [])
    await database.commit(connection)
    yield
    connection = await database.begin()
    for record in (Lid, Box):
        await connection.execute(str(DropTable(record.__table__).compile(dialect=dialect)), [])
    await database.commit(connection)


@pytest.fixture
def door(service: Service, test_tables: None) -> Doors:
    """Opens a unit of work and a tenant's door into it."""

    def open_door(
        tenant_id: str = "ten_a", *, reads_outside_transaction: bool = False
    ) -> tuple[UnitOfWork, Db]:
        instance = service.instance
        unit = UnitOfWork(instance.database, reads_outside_transaction=reads_outside_transaction)
        return unit, Db(unit, instance.clock, instance.ring, tenant_id)

    return open_door


@pytest.fixture
def system_door(service: Service, test_tables: None) -> Callable[[], tuple[UnitOfWork, SystemDb]]:
    def open_door() -> tuple[UnitOfWork, SystemDb]:
        instance = service.instance
        unit = UnitOfWork(instance.database, reads_outside_transaction=False)
        return unit, SystemDb(unit, instance.clock, instance.ring)

    return open_door


@pytest.fixture
def planted() -> Planted:
    """Routes of the tests' own; a module that wants them makes its `service` with `planted.manifest`."""
    return Planted()


@pytest.fixture
async def me(people: People) -> Api:
    """Someone who may do most of what there is to do, signed in."""
    return await people.signed_in(Role.agent_developer)


@pytest.fixture
async def workshop(databases: Databases, tmp_path: Path) -> AsyncIterator[Workshop]:
    """A runner, and jobs of the tests' own."""
    async with workshop_on(databases, tmp_path) as made:
        yield made


@pytest.fixture
async def live(databases: Databases, tmp_path: Path) -> AsyncIterator[Workshop]:
    """A workshop where time passes by itself."""
    async with workshop_on(databases, tmp_path, SystemClock()) as made:
        yield made
