"""Workflows through the API, and their executions."""

from typing import Any, NamedTuple

from retinue.app import Service
from retinue.kit.context import Context
from retinue.workflows.models import (
    RunStatus,
    Workflow,
    WorkflowExecution,
    WorkflowSchedule,
    WorkflowStatus,
    WorkflowVersion,
)
from tests.client import Api, Response

PATH = "/api/v1/workflows"


def node(id: str, type: str = "transform", /, **more: Any) -> dict[str, Any]:
    """Return a node; further keywords are its configuration."""
    outer = {name: more.pop(name) for name in ("retry", "timeout_ms", "on_error", "name") if name in more}
    if type == "transform" and not more:
        more = {"set": {"from": id}}
    return {"id": id, "type": type, "config": more, **outer}


def edges(*pairs: str) -> list[dict[str, Any]]:
    """`"a>b"`, or `"a>b:true"` with a branch."""
    found = []
    for pair in pairs:
        ends, _, when = pair.partition(":")
        source, target = ends.split(">")
        found.append({"from": source, "to": target, **({"when": when} if when else {})})
    return found


async def make_workflow(api: Api, *nodes: dict[str, Any], links: Any = (), **more: Any) -> dict[str, Any]:
    """Create a workflow; it is published by default."""
    body = {"name": "Flow", "status": "published", "nodes": list(nodes), "edges": edges(*links), **more}
    answer = await api.post(PATH, body)
    assert answer.status == 201, answer
    return answer.json()["data"]


async def execute(api: Api, workflow: dict[str, Any], input: Any = None, **more: Any) -> Response:
    body = {} if input is None else {"input": input}
    return await api.post(f"{PATH}/{workflow['id']}/execute", {**body, **more})


async def start(api: Api, workflow: dict[str, Any], input: Any = None) -> str:
    answer = await execute(api, workflow, input)
    assert answer.status == 202, answer
    return answer.json()["data"]["execution_id"]


async def execution(api: Api, workflow: dict[str, Any], id: str) -> dict[str, Any]:
    answer = await api.get(f"{PATH}/{workflow['id']}/executions/{id}")
    assert answer.status == 200, answer
    return answer.json()["data"]


async def executions(api: Api, workflow: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
    answer = await api.get(f"{PATH}/{workflow['id']}/executions", query={"per_page": 100, **query})
    assert answer.status == 200, answer
    return answer.json()["data"]


async def run(service: Service, api: Api, workflow: dict[str, Any], input: Any = None) -> dict[str, Any]:
    """Start a run, work until nothing is due, and return its execution."""
    id = await start(api, workflow, input)
    await service.runner.drain()
    return await execution(api, workflow, id)


def by_node(execution: dict[str, Any]) -> dict[str, Any]:
    return {run["node_id"]: run for run in execution["nodes"] if run["item"] is None}


def statuses(execution: dict[str, Any]) -> dict[str, str]:
    return {id: run["status"] for id, run in by_node(execution).items()}


class Ran(NamedTuple):
    workflow_id: str
    workflow_execution_id: str
    schedule_id: str


async def some_workflow(ctx: Context, created_by: str, name: str = "Flow", **more: Any) -> Ran:
    """A published workflow that has run once and will again, straight into the database."""
    nodes = [node("a", "delay", seconds=600)]
    made = {"name": name, "nodes": nodes, "edges": [], "created_by": created_by}
    workflow = await ctx.db.insert(Workflow(**made, status=WorkflowStatus.published))
    version = await ctx.db.insert(WorkflowVersion(**made, workflow_id=workflow.id, version=1))
    ran = WorkflowExecution(
        workflow_id=workflow.id,
        version_id=version.id,
        version=1,
        trigger="manual",
        input={"name": name},
        run_as=created_by,
        **{"status": RunStatus.failed, **more},
    )
    await ctx.db.insert(ran)
    schedule = WorkflowSchedule(workflow_id=workflow.id, cron="@yearly", input=name, created_by=created_by)
    await ctx.db.insert(schedule)
    return Ran(workflow.id, ran.id, schedule.id)
