"""Validation of a workflow before it runs: problems by the path of the faulty part."""

from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema import conditions
from retinue.kit.schema.configs import parse_config
from retinue.kit.schema.fields import find_missing_condition_values
from retinue.kit.schema.json_schema import compile_schema
from retinue.kit.text.templates import is_template, lookup_path
from retinue.notifications.models import Channel
from retinue.workflows.definition import Edge, Node
from retinue.workflows.engine.node_type import NODE_TYPES, NodeCheck, NodeType, Problems
from retinue.workflows.models import Workflow
from retinue.workflows.sub_workflow_graph import problems_of_cycles
from retinue.workflows.trigger_configs import problems_of_trigger
from retinue.workflows.unknown_keys import problems_of_configs, problems_of_edges

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


async def problems_on_writing(ctx: Context, nodes: list[JsonObject]) -> Problems:
    """Return what not even a draft may contain; a node that is incomplete is no problem yet."""
    found: Problems = {}
    for position, raw in enumerate(nodes):
        found |= await _problems_of_written_node(ctx, raw, _place_of(position, raw))
    return dict(list(found.items())[:_MAX_PROBLEMS])


async def _problems_of_written_node(ctx: Context, raw: JsonObject, place: str) -> Problems:
    try:
        node = parse_config(raw, Node, place)
    except Invalid:
        return {}
    kind = NODE_TYPES.get(node.type)
    if kind is None or _schema_problems(kind, node, f"{place}.config"):
        return {}
    inner = node.config.get("node") if node.type == "loop" else None
    if isinstance(inner, dict):
        return await _problems_of_written_node(ctx, {**inner, "id": node.id}, f"{place}.config.node")
    return await kind.check_on_write(NodeCheck(ctx, node, f"{place}.config"))


def _schema_problems(kind: NodeType, node: Node, path: str) -> Problems:
    """Return the differences from the type's schema; a template may stand for any value."""
    return {
        field: message
        for field, message in compile_schema(kind.config_schema, path).errors(node.config, path).items()
        if not is_template(lookup_path(field.removeprefix(path), node.config))
    }


def find_node_id(path: str) -> str | None:
    """Return the node that a path leads into, if any."""
    parts = path.split(".")
    return parts[1] if parts[0] == "nodes" and len(parts) > 1 else None


def problems_on_publishing(workflow: Workflow) -> Problems:
    """Return what a stored version runs with, but a new one may not have (ADR 42).

    These are keys in configs and conditions that have no effect, and comparisons with nothing.
    """
    return (
        problems_of_configs(workflow.nodes, _place_of)
        | problems_of_edges(workflow.edges)
        | problems_of_missing_values(workflow.nodes, workflow.edges)
    )


def problems_of_missing_values(nodes: list[JsonObject], edges: list[JsonObject]) -> Problems:
    """Return a problem for each comparison without a value; a draft may still lack it."""
    found: Problems = {}
    for position, node in enumerate(nodes):
        found |= missing_values_of(node, _place_of(position, node))
    for position, edge in enumerate(edges):
        found |= conditions.find_missing_values(edge.get("when"), f"edges.{position}.when")
    return found


def missing_values_of(node: JsonObject, place: str) -> Problems:
    config = node.get("config")
    if not isinstance(config, dict):
        return {}
    path = f"{place}.config"
    if node.get("type") == "condition":
        return conditions.find_missing_values(config.get("condition", config), path)
    if node.get("type") == "approval":
        return find_missing_condition_values(config.get("fields"), f"{path}.fields")
    repeated = config.get("node") if node.get("type") == "loop" else None
    return missing_values_of(repeated, f"{path}.node") if isinstance(repeated, dict) else {}


def _place_of(position: int, node: JsonObject) -> str:
    id = node.get("id")
    return f"nodes.{id}" if isinstance(id, str) and id else f"nodes.{position}"


async def _problems_of_nodes(ctx: Context, nodes: list[JsonObject]) -> Problems:
    found: Problems = {}
    seen: set[str] = set()
    for position, raw in enumerate(nodes):
        id = raw.get("id")
        place = _place_of(position, raw)
        if isinstance(id, str):
            if id in seen:
                found[f"{place}.id"] = "must be unique, but another node has the same id"
                continue
            seen.add(id)
        found |= await problems_of_node(ctx, raw, place)
    return found


async def problems_of_node(ctx: Context, raw: JsonObject, place: str) -> Problems:
    try:
        node = parse_config(raw, Node, place)
    except Invalid as invalid:
        return dict(invalid.details or {})
    kind = NODE_TYPES.get(node.type)
    if kind is None:
        return {f"{place}.type": f"must be one of {', '.join(NODE_TYPES)}"}
    path = f"{place}.config"
    found = _schema_problems(kind, node, path)
    if found:
        return found
    found = await kind.check(NodeCheck(ctx, node, path))
    if node.type == "loop" and not found:
        inner = {**node.config["node"], "id": node.id}
        found = await problems_of_node(ctx, inner, f"{path}.node")
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
