"""One instance as several processes on one database: servers and workers that start in no time."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from tests.e2e.load import Unreachable, call
from tests.e2e.nursery import Child, Nursery
from tests.e2e.processes import START_S, ServerProcess


class ForkedServer(ServerProcess):
    """The same server, from the nursery; what it says is in `children.log` beside its data."""

    def __init__(
        self, nursery: Nursery, folder: Path, database_url: str = "", *, mutant: str = "", **env: str
    ) -> None:
        super().__init__(folder, database_url, **env)
        self._nursery = nursery
        self._mutant = mutant
        self.child: Child | None = None

    async def launch(self, **env: str) -> Child:
        """Start the process without waiting until it is ready, which it may never be."""
        self.child = await self._nursery.start(
            {**self.env, **env}, "serve", "--port", str(self.port), mutant=self._mutant
        )
        return self.child

    async def work(self, **env: str) -> Child:
        """Start a worker beside the server, with the same settings."""
        return await self._nursery.start({**self.worker_env, **env}, "worker")

    async def start(self) -> None:
        child = await self.launch()
        for _ in range(START_S * 50):
            assert child.is_alive, "the server did not start"
            with contextlib.suppress(*Unreachable):
                status, _ = await call(self.port, "GET", "/health")
                if status == 200:
                    return
            await asyncio.sleep(0.02)
        raise AssertionError("the server was not ready in time")

    def kill(self) -> None:
        assert self.child is not None
        self.child.kill()

    async def ended(self, seconds: float) -> bool:
        assert self.child is not None
        return await self.child.wait(seconds)

    async def stop(self) -> int:
        assert self.child is not None
        return 0 if await self.child.stop() else 1


class Cluster:
    """Several servers; requests go to each in turn, as a load balancer sends them."""

    def __init__(self, servers: list[ForkedServer], workers: list[Child]) -> None:
        self.servers = servers
        self.workers = workers
        self._turns = itertools.count()
        self.token = ""

    @property
    def next_server(self) -> ForkedServer:
        living = [one for one in self.servers if one.child is not None and one.child.is_alive]
        return living[next(self._turns) % len(living)]

    async def call(self, method: str, path: str, body: Any = None, **more: Any) -> tuple[int, Any]:
        asked = {"token": self.token, "body": body, **more}
        return await call(self.next_server.port, method, path, **asked)

    async def made(self, path: str, body: Any = None, *, expected: int = 201) -> Any:
        status, answer = await self.call("POST", path, body if body is not None else {})
        assert status == expected, answer
        return answer.get("data", answer)

    async def read(self, path: str) -> Any:
        status, answer = await self.call("GET", path)
        assert status == 200, answer
        return answer


@contextlib.asynccontextmanager
async def cluster(
    folder: Path, database_url: str, *, servers: int = 3, workers: int = 2, **env: str
) -> AsyncIterator[Cluster]:
    async with Nursery(folder) as nursery:
        first = ForkedServer(nursery, folder, database_url, RETINUE_WORKER="off", **env)
        first.env["RETINUE_BASE_URL"] = f"http://127.0.0.1:{first.port}"
        # The first one makes the database and the keys that all of them share.
        await first.start()
        made = Cluster([first], [])
        for _ in range(1, servers):
            another = ForkedServer(nursery, folder)
            another.env = first.env
            await another.start()
            made.servers.append(another)
        made.workers += [await first.work() for _ in range(workers)]
        yield made
