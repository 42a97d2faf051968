"""How the routes of workflows are called so that they succeed, and what that may change."""

from tests.contract.writing import Call, Scene, writes
from tests.factories.workflows import Ran, node, some_workflow

_COUNTED = "workflows.execution_count"


async def _ran(scene: Scene) -> Ran:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        return await some_workflow(ctx, scene.user.id)


@writes(workflows=1)
async def create_workflow(scene: Scene) -> Call:
    return Call(scene.me, {"name": "New", "nodes": [node("a")], "edges": []})


@writes("workflows.name workflows.version workflows.updated_at", workflow_versions=1)
async def update_workflow(scene: Scene) -> Call:
    return Call(scene.me, {"name": "Renamed"}, {"workflow_id": (await _ran(scene)).workflow_id})


@writes(_COUNTED, workflow_executions=1)
async def execute_workflow(scene: Scene) -> Call:
    return Call(scene.me, {"wait": 0}, {"workflow_id": (await _ran(scene)).workflow_id})


@writes(_COUNTED, workflow_executions=1)
async def retry_workflow_execution(scene: Scene) -> Call:
    ran = await _ran(scene)
    return Call(
        scene.me,
        {"from_node": "a"},
        {"workflow_id": ran.workflow_id, "workflow_execution_id": ran.workflow_execution_id},
    )


@writes(workflow_schedules=1)
async def create_workflow_schedule(scene: Scene) -> Call:
    body = {"cron": "@daily", "timezone": "Europe/Berlin"}
    return Call(scene.me, body, {"workflow_id": (await _ran(scene)).workflow_id})


@writes(workflows=1)
async def change_many_workflows(scene: Scene) -> Call:
    return Call(scene.me, {"operations": [{"op": "create", "data": {"name": "New"}}]})
