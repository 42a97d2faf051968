"""Kill -9 while a caller waits: the repeated request gets the result of the first one's run."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from retinue.kit.events.models import EventEntry
from retinue.workflows.models import WorkflowExecution
from tests.e2e.chatting import open_database
from tests.e2e.cluster import ForkedServer
from tests.e2e.crashing import sign_in
from tests.e2e.load import Unreachable, call
from tests.e2e.nursery import Nursery
from tests.factories.workflows import PATH, edges, node

PATIENCE_S = 60
KEY = {"Idempotency-Key": "once"}
WAITING = {
    "name": "Waiting",
    "status": "published",
    "nodes": [node("begin"), node("wait", "delay", seconds=0.5), node("end", "end")],
    "edges": edges("begin>wait", "wait>end"),
}


class Caller:
    def __init__(self, server: ForkedServer, token: str) -> None:
        self.server = server
        self.token = token

    async def post(self, path: str, body: Any, **headers: str) -> tuple[int, Any]:
        return await call(self.server.port, "POST", path, token=self.token, body=body, headers=headers)

    async def post_until_answered(self, path: str, body: Any) -> tuple[int, Any]:
        """Post repeatedly under one key until it is answered, as a client does."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                status, answer = await self.post(path, body, **KEY)
                if status != 409:
                    return status, answer
                await asyncio.sleep(0.1)

    async def killed_at(self, place: str, path: str, body: Any) -> None:
        """The request reaches the place, and the server dies there."""
        assert await self.server.stop() == 0
        await self.server.launch(RETINUE_FAILPOINTS=f"{place}:kill")
        async with asyncio.timeout(PATIENCE_S):
            while not await self.server.ended(0):
                try:
                    status, answer = await self.post(path, body, **KEY)
                except Unreachable:
                    await asyncio.sleep(0.02)
                else:
                    raise AssertionError(f"answered with {status}: {answer}")
        await self.server.start()


@asynccontextmanager
async def serve_caller(folder: Path, database_url: str) -> AsyncIterator[Caller]:
    async with Nursery(folder) as nursery:
        server = ForkedServer(nursery, folder, database_url)
        await server.start()
        yield Caller(server, await sign_in(server.port))
        assert await server.stop() == 0


async def test_a_run_that_was_started_before_the_kill_is_the_one_that_is_waited_for(
    tmp_path: Path, database_url: str
) -> None:
    async with serve_caller(tmp_path, database_url) as caller:
        status, made = await caller.post(PATH, WAITING)
        assert status == 201, made
        path, body = f"{PATH}/{made['data']['id']}/execute", {"wait": 20}
        await caller.killed_at("after_step:1", path, body)
        status, answer = await caller.post_until_answered(path, body)
        assert (status, answer["data"]["status"]) == (200, "completed"), answer
        async with open_database(caller.server) as ctx:
            system = ctx.system("the test looks at everything")
            runs = [one.id for one in await system.all(WorkflowExecution)]
            started = await system.count(EventEntry, type="workflow.execution.started")
    assert runs == [answer["data"]["id"]]
    assert started == 1
