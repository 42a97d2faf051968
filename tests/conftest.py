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
from tests.services import SERVICES, SharedRedis, SpreadService, why_not

START = 1_800_000_000.0
MOST_CASES = 6

configure(Settings(log_format="json"))


def pytest_configure() -> None:
    if SERVICES > 1 and why_not():
        raise pytest.UsageError(why_not())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The second pass of `make test`, on PostgreSQL, is for the tests that touch the database.

    Of the cases of one test the first is enough there, unless the test says that each may differ; of the
    tests of the domains, which run on either by the same statements, every third.
    """
    _keep(config, items, _spread(items) if os.environ.get("RETINUE_TEST_HALF") else items)
    if not os.environ.get("RETINUE_TEST_ONLY_DATABASE"):
        return
    touches = {"databases", "database_url"}
    seen: set[str] = set()
    kept = []
    for item in items:
        name = item.nodeid.partition("[")[0]
        if item.get_closest_marker("either_database") is not None or not touches.intersection(
            getattr(item, "fixturenames", ())
        ):
            continue
        is_left_out = name in seen or item.nodeid.startswith(("tests/e2e/", "tests/contract/test_openapi"))
        seen.add(name)
        if not item.nodeid.startswith(("tests/kit/", "tests/contract/")):
            is_left_out = is_left_out or len(seen) % 3 > 0
        if item.get_closest_marker("every_case") is not None and "test_openapi" not in item.nodeid:
            is_left_out = False
        if not is_left_out:
            kept.append(item)
    _keep(config, items, kept)


def _spread(items: list[pytest.Item]) -> list[pytest.Item]:
    """Of the long tables of cases for what is slow to start, `make test` takes some; a campaign takes all."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.nodeid.startswith(("tests/adapters/", "tests/tools/")) and "[" in item.nodeid:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out = {
        id(case)
        for many in cases.values()
        if len(many) > MOST_CASES
        for position, case in enumerate(many)
        if position % -(-len(many) // MOST_CASES)
    }
    return [item for item in items if id(item) not in left_out]


def _keep(config: pytest.Config, items: list[pytest.Item], kept: list[pytest.Item]) -> None:
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
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


@pytest.fixture(scope="session")
def shared_redis() -> Iterator[SharedRedis]:
    """What several services share, started where there are any."""
    redis = SharedRedis()
    redis.start()
    yield redis
    redis.kill()


@pytest.fixture
async def make_service(
    request: pytest.FixtureRequest, databases: Databases, tmp_path: Path, clock: HeldClock
) -> AsyncIterator[ServiceMaker]:
    """Start a service with other settings than the usual ones, on an empty database."""
    started: list[Service] = []
    is_spread = SERVICES > 1 and request.node.get_closest_marker("one_service") is None
    shared: dict[str, Any] = {}
    if is_spread:
        redis: SharedRedis = request.getfixturevalue("shared_redis")
        await redis.empty()
        shared = {"redis_url": redis.url}

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
            **shared,
            **changed,
        }
        more = {"manifests": manifests} if manifests is not None else {}
        if is_spread:
            service: Service = SpreadService(Settings(**chosen), clock, SERVICES, **more)
        else:
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
