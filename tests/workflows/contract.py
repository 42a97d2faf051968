"""Objects and calls of workflows for the contract tests."""

import json

from retinue.workflows.models import (
    Workflow,
    WorkflowDraft,
    WorkflowExecution,
    WorkflowSchedule,
    WorkflowVersion,
)
from tests.contract.knowledge import FAR, Call, DomainContract, Scene, World
from tests.factories.providers import add_key_for
from tests.factories.workflows import Ran, node, some_workflow


async def _make(world: World) -> dict[str, str]:
    open_run = {"status": "waiting", "started_at": FAR}
    made = await some_workflow(world.ctx, world.owner.id, world.name, **open_run)
    return {**made._asdict(), "version": "1"}


CONTRACT = DomainContract(
    records=(Workflow, WorkflowDraft, WorkflowVersion, WorkflowExecution, WorkflowSchedule), make=_make
)


_COUNTED = "workflows.execution_count"


async def _ran(scene: Scene) -> Ran:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        return await some_workflow(ctx, scene.user.id)


@CONTRACT.writes(workflows=1)
async def create_workflow(scene: Scene) -> Call:
    return Call(scene.me, {"name": "New", "nodes": [node("a")], "edges": []})


@CONTRACT.writes("workflows.name workflows.version workflows.updated_at", workflow_versions=1)
async def update_workflow(scene: Scene) -> Call:
    return Call(scene.me, {"name": "Renamed"}, {"workflow_id": (await _ran(scene)).workflow_id})


@CONTRACT.writes(workflow_drafts=1)
async def save_workflow_draft(scene: Scene) -> Call:
    return Call(scene.me, {"content": {"name": "Drafted"}}, {"workflow_id": (await _ran(scene)).workflow_id})


@CONTRACT.writes()
async def publish_workflow(scene: Scene) -> Call:
    return Call(scene.me, {"from_draft": False}, {"workflow_id": (await _ran(scene)).workflow_id})


@CONTRACT.writes()
async def validate_workflow_content(scene: Scene) -> Call:
    return Call(scene.me, {"nodes": [node("a")], "edges": []})


@CONTRACT.writes("provider_keys.last_used_at")
async def generate_workflow(scene: Scene) -> Call:
    await add_key_for(scene.me, scene.provider, models=["test-model"])
    scene.provider.says(json.dumps({"name": "Flow", "nodes": [node("a")], "edges": []}))
    return Call(scene.me, {"prompt": "Greet people", "model": "test-model"})


@CONTRACT.writes("provider_keys.last_used_at")
async def explain_workflow(scene: Scene) -> Call:
    await add_key_for(scene.me, scene.provider, models=["test-model"])
    scene.provider.says('{"summary": "It greets.", "nodes": []}')
    path = {"workflow_id": (await _ran(scene)).workflow_id}
    return Call(scene.me, {"model": "test-model", "language": "en"}, path)


@CONTRACT.writes(_COUNTED, workflow_executions=1)
async def execute_workflow(scene: Scene) -> Call:
    return Call(scene.me, {"wait": 0}, {"workflow_id": (await _ran(scene)).workflow_id})


@CONTRACT.writes(workflow_versions=1, workflow_executions=1)
async def try_workflow_node(scene: Scene) -> Call:
    body = {"node": node("b"), "outputs": {"a": 1}, "wait": 0}
    return Call(scene.me, body, {"workflow_id": (await _ran(scene)).workflow_id})


@CONTRACT.writes(_COUNTED, workflow_executions=1)
async def retry_workflow_execution(scene: Scene) -> Call:
    ran = await _ran(scene)
    return Call(
        scene.me,
        {"from_node": "a"},
        {"workflow_id": ran.workflow_id, "workflow_execution_id": ran.workflow_execution_id},
    )


@CONTRACT.writes(workflow_schedules=1)
async def create_workflow_schedule(scene: Scene) -> Call:
    body = {"cron": "@daily", "timezone": "Europe/Berlin"}
    return Call(scene.me, body, {"workflow_id": (await _ran(scene)).workflow_id})


@CONTRACT.writes("workflow_schedules.input workflow_schedules.updated_at")
async def update_workflow_schedule(scene: Scene) -> Call:
    ran = await _ran(scene)
    return Call(
        scene.me, {"input": "other"}, {"workflow_id": ran.workflow_id, "schedule_id": ran.schedule_id}
    )


@CONTRACT.writes()
async def preview_schedule(scene: Scene) -> Call:
    return Call(scene.me, {"cron": "@daily", "timezone": "Europe/Berlin"})


@CONTRACT.writes(workflows=1)
async def change_many_workflows(scene: Scene) -> Call:
    return Call(scene.me, {"operations": [{"op": "create", "data": {"name": "New"}}]})
