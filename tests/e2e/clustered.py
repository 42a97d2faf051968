"""Several servers and workers with the face of one server, for the tests that start one.

`RETINUE_TEST_PROCESSES=3` is three servers behind a balancer, and two workers, on PostgreSQL and Redis.
"""

import asyncio
import contextlib
import os
import random
from pathlib import Path
from typing import Self

from tests.databases import SERVER
from tests.e2e.balancing import Balancer
from tests.e2e.cluster import ForkedServer
from tests.e2e.nursery import Child, Nursery
from tests.e2e.processes import START_S, ServerProcess
from tests.redis_server import BINARY, RedisServer

PROCESSES = int(os.environ.get("RETINUE_TEST_PROCESSES") or 1)
WORKERS = 2
SEED = int(os.environ.get("RETINUE_TEST_SEED", "1"))


def why_not() -> str:
    """Return why several processes cannot be started; empty if they can."""
    if not SERVER:
        return "RETINUE_TEST_PROCESSES: several processes share the PostgreSQL of RETINUE_TEST_DATABASE_URL"
    if BINARY is None:
        return "RETINUE_TEST_PROCESSES: several processes share Redis, and there is no redis-server to start"
    return ""


class ClusteredServer(ServerProcess):
    """`kill` takes a process at random, a server or a worker; `start` starts whatever does not run."""

    def __init__(self, folder: Path, database_url: str, *, kills_workers: bool = True, **env: str) -> None:
        super().__init__(folder, database_url, RETINUE_WORKER="off", **env)
        self.env["RETINUE_BASE_URL"] = f"http://127.0.0.1:{self.port}"
        self._log = folder / "children.log"
        self._kills_workers = kills_workers
        self._chance = random.Random(SEED)
        self._open = contextlib.AsyncExitStack()
        self._is_open = False
        self._nursery = Nursery(folder)
        self._servers = [ForkedServer(self._nursery, folder) for _ in range(PROCESSES)]
        self._workers: list[Child | None] = [None] * WORKERS
        self._last_born: Child | None = None
        for one in self._servers:
            one.env = self.env

    @property
    def pids(self) -> list[int]:
        return [one.pid for one in self._children]

    @property
    def _living(self) -> list[ForkedServer]:
        return [one for one in self._servers if one.child is not None and one.child.is_alive]

    @property
    def _children(self) -> list[Child]:
        """The servers that run."""
        return [one.child for one in self._living if one.child is not None]

    async def start(self) -> None:
        if not self._is_open:
            await self._prepare()
        for child in (*self._children, *filter(None, self._workers)):
            if child.was_killed:
                assert await child.wait(START_S)
        # The first of them makes the database and the keys that all share.
        for one in self._servers:
            if one not in self._living:
                try:
                    await one.start()
                finally:
                    self._last_born = one.child
        for place, worker in enumerate(self._workers):
            if worker is None or not worker.is_alive:
                self._workers[place] = self._last_born = await self._servers[0].work()

    async def _prepare(self) -> None:
        redis = RedisServer()
        redis.start()
        self._open.callback(redis.kill)
        self.env["RETINUE_REDIS_URL"] = redis.url
        await self._open.enter_async_context(self._nursery)
        await self._open.enter_async_context(Balancer(self.port, lambda: [one.port for one in self._living]))
        self._is_open = True

    def kill(self) -> None:
        mortal = self._children
        if self._kills_workers:
            mortal += [one for one in self._workers if one is not None and one.is_alive]
        self._chance.choice(mortal).kill()

    async def ended(self, seconds: float) -> bool:
        assert self._last_born is not None
        return await self._last_born.wait(seconds)

    async def stop(self) -> int:
        running = self._children + [one for one in self._workers if one is not None]
        return 0 if all(await asyncio.gather(*(one.stop() for one in running))) else 1

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()
        self._is_open = False
