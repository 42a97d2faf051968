"""One service for each test, on SQLite or on the PostgreSQL of `RETINUE_TEST_DATABASE_URL`."""

import contextlib
import gc
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.kit.db.errors import DatabaseUnavailable
from retinue.kit.logging import configure_logging
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from tests.adapters.llm_server import ProviderServer, provider_server
from tests.cached_answers import compared_with_fresh_ones
from tests.client import Api
from tests.databases import Databases
from tests.e2e.processes import kill_what_is_left
from tests.factories.people import ADMIN_EMAIL, ADMIN_PASSWORD, People
from tests.pgbouncer import database_settings
from tests.pgbouncer import why_not as why_no_pooler
from tests.sampling import CostlyTables
from tests.services import SERVICES, SharedRedis, SpreadService, services_for, why_not

START = 1_800_000_000.0
_DATABASE_FIXTURES = {"databases", "database_url"}

configure_logging(Settings(log_format="json"))


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(CostlyTables())
    if SERVICES > 1 and why_not():
        raise pytest.UsageError(why_not())
    if why_no_pooler():
        raise pytest.UsageError(why_no_pooler())


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Everything that collecting makes stays: the collector of garbage would walk through it in vain."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()


# Last, because the first case of a test is the first that `-m` has left.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On the second pass of `make test`, keep the first case of each test that may differ on PostgreSQL."""
    if not os.environ.get("RETINUE_TEST_ONLY_DATABASE"):
        return
    seen: set[str] = set()
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        name = item.nodeid.partition("[")[0]
        is_wanted = _may_differ(item) and (name not in seen or _has(item, "every_case"))
        (kept if is_wanted else left_out).append(item)
        seen.add(name)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


def _may_differ(item: pytest.Item) -> bool:
    touches_database = not _DATABASE_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
    return touches_database and not _has(item, "either_database")


def _has(item: pytest.Item, marker: str) -> bool:
    return item.get_closest_marker(marker) is not None


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


@pytest.fixture(autouse=True)
def _cached_answers_are_true(request: pytest.FixtureRequest) -> Iterator[None]:
    # A test with this fixture counts what a request reads.
    with contextlib.nullcontext() if "reads" in request.fixturenames else compared_with_fresh_ones():
        yield


@pytest.fixture(autouse=True)
def _logs_go_where_they_went() -> Iterator[None]:
    """A command that a test runs logs into the stream of that test, which is closed after it."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.fixture
def no_console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server whose console is not built, whatever this checkout has."""
    monkeypatch.setattr("retinue.console.files.WEB", tmp_path)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


async def broken_jobs(service: Service) -> list[tuple[str, str]]:
    """Jobs that failed for a reason nobody foresaw: of such errors only the name of the class is kept."""
    try:
        rows = await service.instance.database.fetch("SELECT kind, last_error FROM jobs", [])
    except DatabaseUnavailable:
        return []  # The test has stopped it.
    return [(kind, error) for kind, error in rows if re.fullmatch(r"[A-Z]\w+", error or "")]


ServiceMaker = Callable[..., Awaitable[Service]]


@pytest.fixture(scope="session")
def shared_redis() -> Iterator[SharedRedis]:
    """The Redis that several services share; started if a test has several."""
    redis = SharedRedis()
    redis.start()
    yield redis
    redis.kill()


@pytest.fixture
async def make_service(
    request: pytest.FixtureRequest, databases: Databases, tmp_path: Path, clock: ManualClock
) -> AsyncIterator[ServiceMaker]:
    """Start a service with other settings than the usual ones, on an empty database."""
    started: list[Service] = []
    whole: list[Service] = []
    count = services_for(request.node)
    shared: dict[str, Any] = {}
    if count > 1:
        redis: SharedRedis = request.getfixturevalue("shared_redis")
        await redis.empty()
        shared = {"redis_url": redis.url}

    async def make(*, manifests: Any = None, **changed: Any) -> Service:
        chosen = {
            "data_dir": tmp_path,
            **database_settings(await databases.fresh(tmp_path)),
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
        if count > 1:
            service: Service = SpreadService(Settings(**chosen), clock, count, **more)
        else:
            service = Service(Settings(**chosen), clock, **more)
        await service.start()
        started.append(service)
        if manifests is None:
            whole.append(service)
        return service

    yield make
    for service in whole:
        assert await broken_jobs(service) == []
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


@pytest.fixture
async def provider() -> AsyncIterator[ProviderServer]:
    """A provider of models on loopback, which says what the test tells it."""
    async with provider_server() as server:
        yield server
