"""Kill -9 between the steps of workflows: every run ends, and what it does in the platform happens once."""

import asyncio
import itertools
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from retinue.kit.events.models import EventEntry
from retinue.kit.jobs.models import Job
from retinue.tables.models import DataTable
from retinue.tables.service import find_rows
from retinue.workflows.models import ENDED_STATUSES, NodeRun, NodeStatus, RunStatus, WorkflowExecution
from tests.e2e.chatting import open_database
from tests.e2e.cluster import ForkedServer
from tests.e2e.crashing import sign_in
from tests.e2e.load import Unreachable, call
from tests.e2e.nursery import Child, Nursery
from tests.e2e.processes import ServerProcess
from tests.factories.workflows import PATH, edges, node
from tests.tools.servers.rest_api import rest_api

pytestmark = pytest.mark.either_database

PLACES = (
    "before_step_commit",
    "after_call_began",
    "before_call_ended",
    "before_job_commit",
    "after_job_commit",
    "after_claim",
    "before_finish",
    "after_finish",
    "before_commit",
    "after_commit",
    "",
)
SEED = int(os.environ.get("RETINUE_TEST_SEED", "1"))
PATIENCE_S = 120
LONGEST_LIFE_S = 10
SURVIVORS_LIFE_S = 0.3
NOT_ENDED = [status for status in RunStatus if status not in ENDED_STATUSES]
STEPS = ("write", "join", "last")
LINKS = ("begin>write", "begin>call", "write>join", "call>join", "join>wait", "wait>last")


class Starter:
    """Starts runs, each of them until the server has promised it: the key sees to it that it is one run."""

    def __init__(self, server: ServerProcess, token: str, workflow_id: str) -> None:
        self.acked: set[str] = set()
        self.refused: list[Any] = []
        self._server = server
        self._token = token
        self._path = f"{PATH}/{workflow_id}/execute"
        self._keys = itertools.count()

    async def start(self, count: int) -> None:
        for _ in range(count):
            await self._start(f"run-{next(self._keys)}")

    async def _start(self, key: str) -> None:
        headers = {"Idempotency-Key": key}
        async with asyncio.timeout(PATIENCE_S):
            while True:
                try:
                    asked = call(
                        self._server.port, "POST", self._path, token=self._token, body={}, headers=headers
                    )
                    status, answer = await asyncio.wait_for(asked, 10)
                except (*Unreachable, TimeoutError):
                    status = 0
                if status == 202:
                    self.acked.add(answer["data"]["execution_id"])
                    return
                if status not in {0, 409, 503}:
                    self.refused.append((status, answer))
                    return
                await asyncio.sleep(0.05)


async def make_workflow(server: ServerProcess, token: str, url: str) -> tuple[str, str]:
    columns = [{"name": "run", "type": "text"}, {"name": "step", "type": "text"}]
    body: dict[str, Any] = {"name": "Steps", "columns": columns}
    status, table = await call(server.port, "POST", "/api/v1/data-tables", token=token, body=body)
    assert status == 201, table
    table_id = table["data"]["id"]

    def write(id: str) -> dict[str, Any]:
        values = {"run": "{{execution.id}}", "step": id}
        return node(id, "data_table", table_id=table_id, operation="insert", values=values)

    body = {
        "name": "Crashing",
        "status": "published",
        "nodes": [
            node("begin"),
            write("write"),
            node("call", "http", url=f"{url}/echo"),
            write("join"),
            node("wait", "delay", seconds=0.3),
            write("last"),
        ],
        "edges": edges(*LINKS),
    }
    status, made = await call(server.port, "POST", PATH, token=token, body=body)
    assert status == 201, made
    return made["data"]["id"], table_id


async def crash(server: ForkedServer, starter: Starter, runs: int, kills: int) -> Counter[str]:
    """The server, which works as well, and a worker die at the next place in turn, or at any moment.

    How often a process died at each place.
    """
    chance = random.Random(SEED)
    hit: Counter[str] = Counter()
    starting: list[asyncio.Task[None]] = []
    for number in range(kills):
        place = PLACES[number % len(PLACES)]
        share = runs * (number + 1) // kills - runs * number // kills
        starting.append(asyncio.create_task(starter.start(share)))
        armed = [
            {"RETINUE_FAILPOINTS": f"{place}:{chance.randint(1, 4)}:kill"} if place else {} for _ in "ab"
        ]
        pair = [await server.launch(**armed[0]), await server.work(**armed[1])]
        life_s = LONGEST_LIFE_S if place else chance.uniform(0.5, 3)
        await asyncio.wait(
            [asyncio.create_task(one.wait(life_s)) for one in pair], return_when=asyncio.FIRST_COMPLETED
        )
        hit[place] += sum([await dies_by_itself(one) for one in pair])
    await server.start()
    await asyncio.gather(*starting)
    return hit


async def dies_by_itself(child: Child) -> bool:
    """Return whether it died at its place; kill it if it outlived its partner."""
    if await child.wait(SURVIVORS_LIFE_S):
        return True
    child.kill()
    assert await child.wait(PATIENCE_S)
    return False


async def until_all_ended(server: ServerProcess) -> None:
    async with open_database(server) as ctx:
        system = ctx.detached().system("the checker looks at everything")
        for _ in range(PATIENCE_S * 10):
            open_ones = [await system.count(WorkflowExecution, status=status) for status in NOT_ENDED]
            if not sum(open_ones):
                return
            await asyncio.sleep(0.1)


async def problems(server: ServerProcess, table_id: str, acked: set[str]) -> list[str]:
    """Return every broken promise in words; none if all were kept."""
    async with open_database(server) as ctx:
        system = ctx.system("the checker looks at everything")
        runs = {one.id: one for one in await system.all(WorkflowExecution)}
        nodes = Counter((one.execution_id, one.status) for one in await system.all(NodeRun))
        told = Counter(
            (one.data["execution_id"], one.type)
            for one in await system.all(EventEntry)
            if one.type.startswith("workflow.execution.")
        )
        jobs = [job for job in await system.all(Job) if job.queue in {"workflows", "workflow_calls"}]
        table = await system.find(DataTable, id=table_id)
        assert table is not None
        ctx.bind_tenant(table.tenant_id)
        written: Counter[tuple[str, str]] = Counter()
        for step in STEPS:
            for row in await find_rows(ctx, table_id, {"step": step}, limit=1000):
                written[row["run"], step] += 1
    broken = [f"acknowledged but not there: {id}" for id in acked - runs.keys()]
    broken += [f"there but not asked for: {id}" for id in runs.keys() - acked]
    for id, one in runs.items():
        if one.status is not RunStatus.completed:
            broken.append(f"{id} is {one.status}: {one.error}")
        if (one.open, one.active, one.is_running, one.is_due) != (0, 0, False, False):
            broken.append(f"{id} has not let go: {one.open} {one.active} {one.is_running} {one.is_due}")
        if nodes[id, NodeStatus.completed] != 6:
            broken.append(f"{id} has {nodes[id, NodeStatus.completed]} nodes that are done")
        broken += [f"{id}: {written[id, step]} rows" for step in STEPS if written[id, step] != 1]
        counts = [
            told[id, f"workflow.execution.{name}"] for name in ("started", "node_completed", "completed")
        ]
        if counts != [1, 6, 1]:
            broken.append(f"{id}: started, nodes and end were told {counts} times")
    if sum(nodes.values()) != 6 * len(runs):
        broken.append(f"{sum(nodes.values())} records of nodes for {len(runs)} runs")
    return broken + [f"left behind: {job.kind} {job.state} {job.last_error}" for job in jobs]


@pytest.mark.parametrize(
    ("runs", "kills"), [(16, 4), pytest.param(100, 3 * len(PLACES), marks=pytest.mark.slow)]
)
async def test_every_run_ends_and_every_step_happens_once_when_workers_are_killed(
    tmp_path: Path, database_url: str, runs: int, kills: int
) -> None:
    async with rest_api() as remote, Nursery(tmp_path) as nursery:
        server = ForkedServer(nursery, tmp_path, database_url)
        await server.start()
        token = await sign_in(server.port)
        workflow_id, table_id = await make_workflow(server, token, remote.url)
        starter = Starter(server, token, workflow_id)
        server.kill()
        hit = await crash(server, starter, runs, kills)
        worker = await server.work()
        await until_all_ended(server)
        assert await worker.stop()
        assert await server.stop() == 0
        assert await problems(server, table_id, starter.acked) == []
    assert starter.refused == []
    assert len(starter.acked) == runs
    assert sum(hit.values()) >= kills // 2, hit
