"""Runs that only wait cost nothing."""

import time

import pytest

from retinue.app import Service
from retinue.workflows.models import RunStatus, Workflow, WorkflowExecution
from retinue.workflows.triggers import start_published
from tests.client import Api
from tests.factories.people import People
from tests.factories.workflows import make_workflow, node

WAITING = 10_000


@pytest.mark.slow
async def test_ten_thousand_waiting_runs_cost_the_worker_no_time(
    service: Service, admin: Api, people: People
) -> None:
    made = await make_workflow(
        admin, node("wait", "delay", seconds=86_400), node("after"), links=["wait>after"]
    )
    tenant_id = admin.user.tenant_id
    async with people.context() as ctx:
        tenant = await people.default_tenant()
        limits = {"workflow_executions_per_minute": None, "concurrent_executions": None}
        await ctx.system("test").update(tenant, limits=limits)
    for _ in range(WAITING // 500):
        async with people.context(tenant_id) as ctx:
            workflow = await ctx.db.get(Workflow, made["id"])
            assert workflow is not None
            for _ in range(500):
                await start_published(ctx, workflow, {}, trigger="event")
        await service.runner.drain()
    async with people.context(tenant_id) as ctx:
        assert await ctx.db.count(WorkflowExecution, status=RunStatus.waiting) == WAITING
    before = time.process_time()
    for _ in range(100):
        await service.runner.drain()
    assert (time.process_time() - before) / 100 < 0.01, "a look at what is due is cheap, however much waits"
