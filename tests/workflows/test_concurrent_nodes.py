"""Nodes that end at the same time in different workers: their joins run once, and all of them run."""

import asyncio
from typing import Any

from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.workflows.models import NodeRun, RunStatus, WorkflowExecution
from tests.client import Api
from tests.factories.people import People
from tests.factories.workflows import make_workflow, node, start

RUNS = 12
PATIENCE_S = 60


async def test_two_joins_that_race_never_lose_or_double_a_successor(
    service: Service, admin: Api, people: People, table: dict[str, Any], clock: ManualClock
) -> None:
    def write(id: str) -> dict[str, Any]:
        return node(id, "data_table", table_id=table["id"], operation="insert", values={"name": id})

    left, right = ("a", "b", "c", "d"), ("c", "d", "e")
    workflow = await make_workflow(
        admin,
        node("begin"),
        *map(write, sorted({*left, *right})),
        write("left"),
        write("right"),
        write("last"),
        links=[
            *(f"begin>{id}" for id in sorted({*left, *right})),
            *(f"{id}>left" for id in left),
            *(f"{id}>right" for id in right),
            "left>last",
            "right>last",
        ],
    )
    for _ in range(RUNS):
        await start(admin, workflow)
    elsewhere = Service(service.settings, clock)
    await elsewhere.start()
    await asyncio.gather(service.runner.start(), elsewhere.runner.start())
    try:
        async with asyncio.timeout(PATIENCE_S), people.context(admin.user.tenant_id) as ctx:
            looking = ctx.detached()
            while await looking.db.count(WorkflowExecution, status=RunStatus.completed) < RUNS:
                await asyncio.sleep(0.05)
    finally:
        await asyncio.gather(service.runner.stop(), elsewhere.runner.stop())
        await elsewhere.stop()
    async with people.context(admin.user.tenant_id) as ctx:
        runs = [(one.execution_id, one.node_id) for one in await ctx.db.all(NodeRun)]
    assert len(runs) == len(set(runs)) == RUNS * 9
    page = await admin.get(f"/api/v1/data-tables/{table['id']}/rows", query={"per_page": 1000})
    names = [row["name"] for row in page.json()["data"]]
    assert {name: names.count(name) for name in set(names)} == dict.fromkeys(
        ("a", "b", "c", "d", "e", "left", "right", "last"), RUNS
    )
