"""Runs that only wait cost nothing."""

import time

import pytest

from retinue.app import Service
from retinue.approvals.models import Approval
from retinue.kit.clock import ManualClock
from retinue.workflows.models import RunStatus, Workflow, WorkflowExecution
from retinue.workflows.triggers import start_published
from tests.client import Api
from tests.factories.people import People
from tests.factories.workflows import make_workflow, node

WAITING = 10_000


WAYS = {
    "delay": node("wait", "delay", seconds=86_400),
    "approval": node("wait", "approval", approvers={"roles": ["tenant_admin"]}, expires_in_s=864_000),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
async def test_ten_thousand_waiting_runs_cost_the_worker_no_time(
    service: Service, admin: Api, people: People, clock: ManualClock, way: str
) -> None:
    made = await make_workflow(admin, WAYS[way], node("after"), links=["wait>after"])
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
        assert await ctx.db.count(Approval) == (WAITING if way == "approval" else 0)
    # What is due once in a while has its turn first, so that the rest of the hour is like any other.
    await service.runner.drain()
    before = time.process_time()
    for _ in range(100):
        # As long as it takes for every job of the platform itself that looks for something late.
        clock.advance(30)
        await service.runner.drain()
    spent = (time.process_time() - before) / 100
    assert spent < 0.05, "a look at what is due is cheap, however much waits"
