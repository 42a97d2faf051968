"""Kill -9 between the steps of workflows: every run ends, and what it does in the platform happens once."""

import asyncio
import contextlib
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from retinue.kit.jobs.models import Job
from retinue.tables.models import DataTable
from retinue.tables.service import find_rows
from retinue.workflows.models import ENDED, NodeRun, NodeStatus, RunStatus, WorkflowExecution
from tests.e2e.chatting import opened
from tests.e2e.crashing import sign_in
from tests.e2e.load import Unreachable, call
from tests.e2e.processes import ServerProcess
from tests.factories.workflows import PATH, edges, node
from tests.tools.servers.rest_api import rest_api

PLACES = (
    "before_step_commit",
    "after_call_began",
    "before_call_ended",
    "after_job_commit",
    "after_claim",
    "before_job_commit",
    "",
)
KILLS = int(os.environ.get("RETINUE_TEST_KILLS", "3"))
SEED = int(os.environ.get("RETINUE_TEST_SEED", "1"))
PATIENCE_S = 60
MOST_RUNS = 40 + 20 * KILLS
NOT_ENDED = [status for status in RunStatus if status not in ENDED]
STEPS = ("write", "join", "last")
LINKS = ("begin>write", "begin>call", "write>join", "call>join", "join>wait", "wait>last")


class Starters:
    """Start one run after the other until told to stop, across restarts; `acked` are the promised ones."""

    def __init__(self, server: ServerProcess, token: str, workflow_id: str) -> None:
        self.acked: set[str] = set()
        self.refused: list[Any] = []
        self._server = server
        self._token = token
        self._path = f"{PATH}/{workflow_id}/execute"
        self._is_over = False
        self._tasks = [asyncio.create_task(self._work())]

    async def finish(self) -> None:
        self._is_over = True
        await asyncio.gather(*self._tasks)

    async def _work(self) -> None:
        while not self._is_over:
            try:
                asked = call(self._server.port, "POST", self._path, token=self._token, body={})
                status, answer = await asyncio.wait_for(asked, 10)
            except (*Unreachable, TimeoutError):
                await asyncio.sleep(0.02)
                continue
            if status == 202:
                self.acked.add(answer["data"]["execution_id"])
            elif status != 503:
                self.refused.append((status, answer))
            # As many rows as one look at the table can show, however long it goes on.
            if len(self.acked) >= MOST_RUNS:
                return
            await asyncio.sleep(0.1)


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


async def crash(server: ServerProcess, kills: int) -> None:
    """Each start dies at the next place in turn, or at any moment."""
    chance = random.Random(SEED)
    server.kill()
    for number in range(kills):
        place = PLACES[number % len(PLACES)]
        if place:
            server.env["RETINUE_FAILPOINTS"] = f"{place}:{chance.randint(1, 8)}:kill"
        with contextlib.suppress(AssertionError):
            await server.start()
        assert server.process is not None
        if not place:
            await asyncio.sleep(chance.uniform(0.1, 0.6))
            server.kill()
        await asyncio.wait_for(server.process.wait(), PATIENCE_S)
        server.env.pop("RETINUE_FAILPOINTS", None)
    await server.start()


async def until_all_ended(server: ServerProcess) -> None:
    async with opened(server) as ctx:
        system = ctx.apart().system("the checker looks at everything")
        for _ in range(PATIENCE_S * 10):
            open_ones = [await system.count(WorkflowExecution, status=status) for status in NOT_ENDED]
            if not sum(open_ones):
                return
            await asyncio.sleep(0.1)


async def problems(server: ServerProcess, table_id: str, acked: set[str]) -> list[str]:
    """Every broken promise, in words; nothing when all were kept."""
    async with opened(server) as ctx:
        system = ctx.system("the checker looks at everything")
        runs = {one.id: one for one in await system.all(WorkflowExecution)}
        nodes = Counter((one.execution_id, one.status) for one in await system.all(NodeRun))
        jobs = [job for job in await system.all(Job) if job.queue in {"workflows", "workflow_calls"}]
        table = await system.find(DataTable, id=table_id)
        assert table is not None
        ctx.act_in(table.tenant_id)
        written: Counter[tuple[str, str]] = Counter()
        for step in STEPS:
            for row in await find_rows(ctx, table_id, {"step": step}, limit=1000):
                written[row["run"], step] += 1
    broken = [f"acknowledged but not there: {id}" for id in acked - runs.keys()]
    for id, one in runs.items():
        if one.status is not RunStatus.completed:
            broken.append(f"{id} is {one.status}: {one.error}")
        if (one.open, one.active, one.is_running, one.is_due) != (0, 0, False, False):
            broken.append(f"{id} has not let go: {one.open} {one.active} {one.is_running} {one.is_due}")
        if nodes[id, NodeStatus.completed] != 6:
            broken.append(f"{id} has {nodes[id, NodeStatus.completed]} nodes that are done")
        broken += [f"{id}: {written[id, step]} rows" for step in STEPS if written[id, step] != 1]
    if sum(nodes.values()) != 6 * len(runs):
        broken.append(f"{sum(nodes.values())} records of nodes for {len(runs)} runs")
    return broken + [f"left behind: {job.kind} {job.state} {job.last_error}" for job in jobs]


@pytest.mark.slow
async def test_every_run_ends_and_every_step_happens_once_when_the_server_is_killed(
    tmp_path: Path, database_url: str
) -> None:
    async with rest_api() as remote, ServerProcess(tmp_path, database_url) as server:
        await server.start()
        token = await sign_in(server.port)
        workflow_id, table_id = await make_workflow(server, token, remote.url)
        starters = Starters(server, token, workflow_id)
        await asyncio.sleep(0.3)
        await crash(server, KILLS)
        await starters.finish()
        await until_all_ended(server)
        assert await server.stop() == 0
        assert await problems(server, table_id, starters.acked) == []
    assert starters.refused == []
    assert len(starters.acked) > KILLS, "there was load"
