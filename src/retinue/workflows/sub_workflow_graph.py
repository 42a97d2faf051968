"""Containment of workflows, by the ids in their `sub_workflow` nodes."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.json_types import JsonObject
from retinue.kit.text.templates import is_template
from retinue.workflows.engine.node_type import Problems
from retinue.workflows.models import Workflow, WorkflowStatus

_workflows = Workflow.__table__
_PUBLISHED: Statement[Workflow] = record_statement(
    Workflow,
    sa.select(_workflows)
    .where(
        in_list(_workflows.c.id, "ids"),
        _workflows.c.status == sa.literal(WorkflowStatus.published.value),
    )
    .order_by(_workflows.c.id),
)


def contained_ids(nodes: list[JsonObject]) -> Iterator[tuple[str, str]]:
    """Yield the path and value of each literal `workflow_id`; those of templates are not known yet."""
    for node in nodes:
        yield from _contained_ids(node, f"nodes.{node.get('id')}")


def _contained_ids(node: Any, path: str) -> Iterator[tuple[str, str]]:
    config = node.get("config") if isinstance(node, dict) else None
    if not isinstance(config, dict):
        return
    if node.get("type") == "loop":
        yield from _contained_ids(config.get("node"), f"{path}.config.node")
    workflow_id = config.get("workflow_id")
    if node.get("type") == "sub_workflow" and isinstance(workflow_id, str) and not is_template(workflow_id):
        yield f"{path}.config.workflow_id", workflow_id


async def problems_of_cycles(ctx: Context, workflow: Workflow) -> Problems:
    """Return a problem for each node through which the workflow would contain itself."""
    entries = list(contained_ids(workflow.nodes))
    if not entries:
        return {}
    graph = await _reachable(ctx, {id for _, id in entries})
    found: Problems = {}
    for path, id in entries:
        path_ids = _find_path(workflow.id, id, graph)
        if path_ids is not None:
            names = " > ".join(graph[step].name for step in path_ids)
            through = f" through {names}" if names else ""
            found[path] = f"leads back to this workflow{through}; a workflow cannot contain itself"
    return found


async def _reachable(ctx: Context, ids: set[str]) -> dict[str, Workflow]:
    """Return the published workflows that can be reached from these ids, loaded level by level."""
    found: dict[str, Workflow] = {}
    visited: set[str] = set()
    while ids:
        visited |= ids
        level = await ctx.db.rows(_PUBLISHED, ids=list_parameter(sorted(ids)))
        found |= {workflow.id: workflow for workflow in level}
        ids = {id for workflow in level for _, id in contained_ids(workflow.nodes)} - visited
    return found


def _find_path(target_id: str, start: str, graph: dict[str, Workflow]) -> list[str] | None:
    """Return the ids on a path from `start` to the wanted workflow, without its own; None without a path."""
    paths = [[start]]
    seen = {start}
    while paths:
        path_ids = paths.pop()
        if path_ids[-1] == target_id:
            return path_ids[:-1]
        if path_ids[-1] in graph:
            following = {id for _, id in contained_ids(graph[path_ids[-1]].nodes)} - seen
            seen |= following
            paths += [[*path_ids, id] for id in sorted(following)]
    return None
