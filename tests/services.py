"""One instance as several services: each request of a test is answered by the next of them.

`RETINUE_TEST_SERVICES=3` makes three where a test asks for one; a test marked `several_services` always has
three. They share what processes share, which is the database, Redis and the data folder, and the clock that
the test holds; the jobs are run by two of them.
"""

import asyncio
import contextlib
import itertools
import os
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from redis.asyncio import Redis

from retinue.app import Service
from retinue.kit import failpoints
from retinue.kit.clock import Clock
from retinue.kit.context.instance import Instance
from retinue.kit.jobs.runner import Runner
from retinue.kit.limits import Limiter
from retinue.kit.settings import Settings
from retinue.kit.vault import KEY_FILE
from tests.databases import SERVER
from tests.redis_server import BINARY, RedisServer

SERVICES = int(os.environ.get("RETINUE_TEST_SERVICES") or 1)
SEVERAL = max(SERVICES, 3)
WORKERS = 2
# A loaded machine is no outage.
_PATIENCE_S = 5.0


def services_for(item: pytest.Item) -> int:
    """Return how many services a test has, by its markers."""
    if item.get_closest_marker("one_service") is not None:
        return 1
    return SEVERAL if item.get_closest_marker("several_services") is not None else SERVICES


def why_not() -> str:
    """Return why several services cannot be started; empty if they can."""
    if not SERVER:
        return "RETINUE_TEST_SERVICES: several services share the PostgreSQL of RETINUE_TEST_DATABASE_URL"
    if BINARY is None:
        return "RETINUE_TEST_SERVICES: several services share Redis, and there is no redis-server to start"
    return ""


@contextlib.contextmanager
def _failpoints_kept() -> Iterator[None]:
    """Restores the failpoints after a start, which arms those of the settings."""
    kept = [(table, dict(table)) for table in (failpoints._armed, failpoints._hits)]
    failpoints.arm("")
    try:
        yield
    finally:
        for table, before in kept:
            table.clear()
            table.update(before)


class SharedRedis:
    """The Redis of the tests of one process, empty for each of them."""

    def __init__(self) -> None:
        self._server = RedisServer()
        self.url = self._server.url

    def start(self) -> None:
        self._server.start()

    async def empty(self) -> None:
        async with Redis.from_url(self.url) as client:
            await client.flushall()

    def kill(self) -> None:
        self._server.kill()


class SpreadService(Service):
    """The first service, with the others behind it, which are started when they are first asked."""

    def __init__(self, settings: Settings, clock: Clock, count: int, **more: Any) -> None:
        super().__init__(settings, clock, shutting_down=asyncio.Event(), **more)
        self._make = lambda: Service(settings, clock, shutting_down=self._shutting_down, **more)
        self._count = count
        self._others: dict[int, Service] = {}
        self._changes: list[Callable[[Service], None]] = []
        self._starting = asyncio.Lock()
        self._turns = itertools.count()

    async def start(self) -> None:
        await super().start()
        self._adjust(self.instance)
        self.runner = RunnersByTurns(self, self.runner)
        self.refresher = Refreshers(self, self.refresher)

    async def stop(self) -> None:
        others, self._others = list(self._others.values()), {}
        await asyncio.gather(*(one.stop() for one in others))
        await super().stop()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await super().__call__(scope, receive, send)
            return
        asked = await self.at(next(self._turns) % self._count)
        await asked.app(scope, receive, send)

    async def at(self, position: int) -> Service:
        if not position:
            return self
        async with self._starting:
            if position not in self._others:
                made = self._make()
                with _failpoints_kept():
                    await made.start()
                self._adjust(made.instance)
                for change in self._changes:
                    change(made)
                self._others[position] = made
            return self._others[position]

    @property
    def started(self) -> Iterator[Service]:
        return iter([self, *self._others.values()])

    def change(self, change: Callable[[Service], None]) -> None:
        self._changes.append(change)
        for one in self.started:
            change(one)

    def _adjust(self, instance: Instance) -> None:
        """The windows in Redis go by the clock of the test as well."""
        limiter: Limiter = instance.limiter
        limiter._patience = _PATIENCE_S
        assert limiter._shared is not None
        limiter._shared._clock = self._clock


class RunnersByTurns:
    """The worker of a test: two runners, each of another service, that take turns."""

    def __init__(self, service: SpreadService, first: Runner) -> None:
        self._service = service
        self._first = first

    def __getattr__(self, name: str) -> Any:
        return getattr(self._first, name)

    async def drain(self) -> int:
        """Run due jobs as `Runner.drain` does, in turn: one runner may take what another made due."""
        runners = [
            (await self._service.at(number)).runner if number else self._first for number in range(WORKERS)
        ]
        ran = idle = 0
        busy: set[Runner] = set()
        for runner in itertools.cycle(runners):
            turn = await runner._turn()
            for job in turn.jobs:
                await runner._run_alone(job)
            ran += len(turn.jobs)
            # How its jobs ended is what a runner records in the turn after.
            idle = 0 if turn.jobs or runner in busy or not turn.sleep_s else idle + 1
            busy = busy | {runner} if turn.jobs else busy - {runner}
            if idle == len(runners):
                return ran
        raise AssertionError("unreachable")


class Refreshers:
    """Refreshes the keys of all processes when a test refreshes those of one."""

    def __init__(self, service: SpreadService, first: Any) -> None:
        self._service = service
        self._first = first

    def _all(self) -> list[Any]:
        return [self._first, *(one.refresher for one in self._service.started if one is not self._service)]

    async def check(self) -> None:
        for one in self._all():
            await one.check()

    async def stop(self) -> None:
        for one in self._all():
            await one.stop()


def in_each(service: Service, change: Callable[[Service], None]) -> None:
    """Change something in every process of a service, also in those that are not started yet."""
    if isinstance(service, SpreadService):
        service.change(change)
    else:
        change(service)


async def start_all(service: Service) -> None:
    """Start every process now, for a test that breaks what a start needs."""
    if isinstance(service, SpreadService):
        for position in range(service._count):
            await service.at(position)


def instances_of(service: Service) -> list[Instance]:
    """Return the instances of every started process."""
    if isinstance(service, SpreadService):
        return [one.instance for one in service.started]
    return [service.instance]


@contextlib.asynccontextmanager
async def at_work(service: Service) -> AsyncIterator[None]:
    """Run the jobs that come up meanwhile, however long a busy machine needs for what asks for them."""
    is_over = asyncio.Event()
    # A process that both sides start at once would be started twice.
    await start_all(service)

    async def work() -> None:
        while not is_over.is_set():
            await service.runner.drain()
            await asyncio.sleep(0.01)

    working = asyncio.create_task(work())
    try:
        yield
    finally:
        # Not cancelled: what is cut off in the middle leaves its connections open.
        is_over.set()
        await working


@contextlib.asynccontextmanager
async def restarted_without_key(service: Service, clock: Clock) -> AsyncIterator[Service]:
    """Yield the same instance, started again after its key was lost."""
    await start_all(service)
    (service.settings.data_dir / KEY_FILE).rename(service.settings.data_dir / "aside")
    started = Service(service.settings, clock)
    await started.start()
    yield started
    await started.stop()
