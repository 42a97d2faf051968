"""What a workflow costs: all the CPU of a run of five nodes that do nothing. `bench --only workflows`."""

import asyncio
import tempfile
import time

from bench.figures import Figure, settings_of_run
from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.jobs.runner import Runner
from retinue.kit.principal import SYSTEM
from retinue.tenants.models import Plan, Tenant
from retinue.wiring import close_instance, open_instance
from retinue.workflows.models import RunStatus, Workflow, WorkflowExecution
from retinue.workflows.schemas import WorkflowCreate
from retinue.workflows.service import create
from retinue.workflows.triggers import start_published

RUNS = 1000
GOAL_US = 5000
_PATIENCE_S = 300

_NODES = [{"id": f"n{number}", "type": "transform", "config": {"set": {"n": number}}} for number in range(5)]
_EDGES = [{"from": f"n{number}", "to": f"n{number + 1}"} for number in range(4)]


async def measure(url: str) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        settings = settings_of_run(folder, url)
        instance = await open_instance(settings)
        try:
            return await _measure(instance)
        finally:
            await close_instance(instance)


def _context(instance: Instance, tenant_id: str = "") -> Context:
    ctx = Context(instance, SYSTEM, Caller(correlation_id="cor_bench"))
    if tenant_id:
        ctx.bind_tenant(tenant_id)
    return ctx


async def _measure(instance: Instance) -> list[Figure]:
    unlimited = {"workflow_executions_per_minute": None, "concurrent_executions": None}
    async with _context(instance) as ctx:
        tenant = await ctx.system("bench").insert(
            Tenant(name="Bench", plan=Plan.enterprise, limits=unlimited)
        )
    async with _context(instance, tenant.id) as ctx:
        body = WorkflowCreate(name="Bench", status="published", nodes=_NODES, edges=_EDGES)
        workflow = await create(ctx, body)
    before = time.process_time()
    for _ in range(RUNS):
        await _start(instance, tenant.id, workflow)
    runner = Runner(instance)
    await runner.start()
    async with asyncio.timeout(_PATIENCE_S):
        while await _open_ones(instance, tenant.id):
            await asyncio.sleep(0.25)
    spent = time.process_time() - before
    await runner.stop()
    return [Figure("a run of five nodes, CPU in all", spent / RUNS * 1e6, "us", GOAL_US)]


async def _start(instance: Instance, tenant_id: str, workflow: Workflow) -> None:
    async with _context(instance, tenant_id) as ctx:
        await start_published(ctx, workflow, {}, trigger="event")


async def _open_ones(instance: Instance, tenant_id: str) -> int:
    ctx = _context(instance, tenant_id).detached()
    return RUNS - await ctx.db.count(WorkflowExecution, status=RunStatus.completed)
