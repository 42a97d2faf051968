"""Validation of a workflow before it runs: problems by the path of the faulty part."""

from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema import conditions
from retinue.kit.schema.configs import parse_config
from retinue.kit.schema.json_schema import compile_schema
from retinue.kit.text.templates import is_template, lookup_path
from retinue.notifications.models import Channel
from retinue.workflows.definition import Edge, Node
from retinue.workflows.engine.node_type import NODE_TYPES, NodeCheck, Problems
from retinue.workflows.models import Workflow
from retinue.workflows.sub_workflow_graph import problems_of_cycles
from retinue.workflows.trigger_configs import problems_of_trigger

_MAX_PROBLEMS = 100


async def problems_of(ctx: Context, workflow: Workflow) -> Problems:
    found = await _problems_of_nodes(ctx, workflow.nodes)
    found |= _problems_of_edges(workflow)
    if not found and (cycle := _find_cycle(workflow)):
        found["edges"] = f"must not form a cycle, but the nodes {', '.join(cycle[:10])} do"
    if not found:
        found |= await problems_of_cycles(ctx, workflow)
    found |= problems_of_trigger(workflow.trigger)
    channel_id = workflow.settings.get("on_failure_channel_id")
    if channel_id and await ctx.db.get(Channel, channel_id) is None:
        found["settings.on_failure_channel_id"] = "There is no such channel."
    return dict(list(found.items())[:_MAX_PROBLEMS])


def find_node_id(path: str) -> str | None:
    """Return the node that a path leads into, if any."""
    parts = path.split(".")
    return parts[1] if parts[0] == "nodes" and len(parts) > 1 else None


async def _problems_of_nodes(ctx: Context, nodes: list[JsonObject]) -> Problems:
    found: Problems = {}
    seen: set[str] = set()
    for position, raw in enumerate(nodes):
        id = raw.get("id")
        place = f"nodes.{id}" if isinstance(id, str) and id else f"nodes.{position}"
        if isinstance(id, str):
            if id in seen:
                found[f"{place}.id"] = "must be unique, but another node has the same id"
                continue
            seen.add(id)
        found |= await _problems_of_node(ctx, raw, place)
    return found


async def _problems_of_node(ctx: Context, raw: JsonObject, place: str) -> Problems:
    try:
        node = parse_config(raw, Node, place)
    except Invalid as invalid:
        return dict(invalid.details or {})
    kind = NODE_TYPES.get(node.type)
    if kind is None:
        return {f"{place}.type": f"must be one of {', '.join(NODE_TYPES)}"}
    path = f"{place}.config"
    found = {
        field: message
        for field, message in compile_schema(kind.config_schema, path).errors(node.config, path).items()
        if not is_template(lookup_path(field.removeprefix(path), node.config))
    }
    if found:
        return found
    found = await kind.check(NodeCheck(ctx, node, path))
    if node.type == "loop" and not found:
        inner = {**node.config["node"], "id": node.id}
        found = await _problems_of_node(ctx, inner, f"{path}.node")
    return found


def _problems_of_edges(workflow: Workflow) -> Problems:
    found: Problems = {}
    ids = {node.get("id") for node in workflow.nodes if isinstance(node.get("id"), str)}
    for position, raw in enumerate(workflow.edges):
        place = f"edges.{position}"
        try:
            edge = parse_config(raw, Edge, place)
        except Invalid as invalid:
            found |= invalid.details or {}
            continue
        for end, id in (("from", edge.source), ("to", edge.target)):
            if id not in ids:
                found[f"{place}.{end}"] = "is not the id of a node"
        if isinstance(edge.when, dict):
            found |= conditions.find_condition_problems(edge.when, f"{place}.when")
    return found


def _find_cycle(workflow: Workflow) -> list[str]:
    """Return the nodes that never become ready, because they wait for each other."""
    waiting_for = {node["id"]: 0 for node in workflow.nodes}
    after: dict[str, list[str]] = {id: [] for id in waiting_for}
    for edge in workflow.edges:
        waiting_for[edge["to"]] += 1
        after[edge["from"]].append(edge["to"])
    ready = [id for id, count in waiting_for.items() if not count]
    while ready:
        for id in after[ready.pop()]:
            waiting_for[id] -= 1
            if not waiting_for[id]:
                ready.append(id)
    return [id for id, count in waiting_for.items() if count]
