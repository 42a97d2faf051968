"""Runs that ended long ago go, with the records of their nodes; what waits or ended lately stays."""

from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.workflows.jobs import RETENTION_DAYS, purge_executions
from retinue.workflows.models import NodeRun, WorkflowExecution, WorkflowVersion
from tests.client import Api
from tests.factories.people import People
from tests.factories.workflows import PATH, make_workflow, node, run, start

DAY_S = 86_400


async def test_runs_go_a_while_after_they_ended(
    service: Service, admin: Api, people: People, clock: ManualClock
) -> None:
    tenant_id = admin.user.tenant_id
    workflow = await make_workflow(admin, node("a"))
    waiting = await make_workflow(admin, node("wait", "delay", seconds=300 * DAY_S))
    await run(service, admin, workflow)
    await start(admin, waiting)
    draft = await make_workflow(admin, node("a"), status="draft")
    assert (await admin.post(f"{PATH}/{draft['id']}/execute", {}, query={"draft": "true"})).status == 202
    await service.runner.drain()

    async def kept() -> tuple[int, int, int]:
        async with people.context(tenant_id) as ctx:
            await purge_executions(ctx.detached())
            return (
                await ctx.db.count(WorkflowExecution),
                await ctx.db.count(NodeRun),
                await ctx.db.count(WorkflowVersion, is_draft=True),
            )

    clock.advance((RETENTION_DAYS - 1) * DAY_S)
    assert await kept() == (3, 3, 1)
    clock.advance(2 * DAY_S)
    assert await kept() == (1, 1, 0)
    async with people.context(tenant_id) as ctx:
        (left,) = await ctx.db.all(WorkflowExecution)
    assert left.workflow_id == waiting["id"]
    clock.advance(300 * DAY_S)
    await service.runner.drain()
    assert await kept() == (1, 1, 0), "it has only just ended"
    clock.advance((RETENTION_DAYS + 1) * DAY_S)
    assert await kept() == (0, 0, 0)
