"""One service for each test, on SQLite or on the PostgreSQL of `RETINUE_TEST_DATABASE_URL`."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from retinue.app import Service
from retinue.kit.clock import HeldClock
from retinue.kit.logging import configure
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from tests.client import Api
from tests.databases import Databases
from tests.e2e.processes import kill_what_is_left
from tests.factories.people import ADMIN_EMAIL, ADMIN_PASSWORD, People

START = 1_800_000_000.0

configure(Settings(log_format="json"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The second pass of `make test`, on PostgreSQL, is for the tests that touch the database."""
    if not os.environ.get("RETINUE_TEST_ONLY_DATABASE"):
        return
    touches = {"databases", "database_url"}
    kept = [item for item in items if touches.intersection(getattr(item, "fixturenames", ()))]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept


@pytest.fixture(scope="session")
async def databases(tmp_path_factory: Any, worker_id: str) -> AsyncIterator[Databases]:
    made = Databases(tmp_path_factory.mktemp("template"), worker_id)
    await made.prepare()
    yield made
    await made.drop()


@pytest.fixture(autouse=True)
def _no_server_outlives_its_test() -> Iterator[None]:
    yield
    kill_what_is_left()


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock(START)


ServiceMaker = Callable[..., Awaitable[Service]]


@pytest.fixture
async def make_service(databases: Databases, tmp_path: Path, clock: HeldClock) -> AsyncIterator[ServiceMaker]:
    """Start a service with other settings than the usual ones, on an empty database."""
    started: list[Service] = []

    async def make(*, manifests: Any = None, **changed: Any) -> Service:
        chosen = {
            "data_dir": tmp_path,
            "database_url": await databases.fresh(tmp_path),
            "base_url": "http://127.0.0.1:8080",
            "admin_email": ADMIN_EMAIL,
            "admin_password": Secret(ADMIN_PASSWORD),
            "password_cost": (8, 1, 1),
            "worker": "off",
            "database_pool": 5,
            **changed,
        }
        more = {"manifests": manifests} if manifests is not None else {}
        service = Service(Settings(**chosen), clock, **more)
        await service.start()
        started.append(service)
        return service

    yield make
    for service in started:
        await service.stop()


@pytest.fixture
async def service(make_service: ServiceMaker) -> Service:
    return await make_service()


@pytest.fixture
def api(service: Service) -> Api:
    """A caller who is not signed in."""
    return Api(service)


@pytest.fixture
def people(service: Service) -> People:
    """Makes tenants and signed-in users."""
    return People(service)


@pytest.fixture
async def admin(people: People) -> Api:
    """The super administrator, signed in."""
    return await people.super_admin()
