"""What keeps a workflow from running, by the path of the part that is wrong."""

from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from retinue.kit import conditions
from retinue.kit.context import Context
from retinue.kit.cron import CronInvalid, parse_cron
from retinue.kit.errors import Invalid
from retinue.kit.events.matching import check_filters, check_pattern
from retinue.kit.json_schemas import compile_schema
from retinue.kit.templates import look_up
from retinue.kit.validation import field_errors
from retinue.notifications.models import Channel
from retinue.workflows.definition import Edge, Node
from retinue.workflows.models import Workflow
from retinue.workflows.node_types import NODE_TYPES
from retinue.workflows.nodes.kinds import Checking, Problems

_MOST_PROBLEMS = 100


async def problems_of(ctx: Context, workflow: Workflow) -> Problems:
    found = await _problems_of_nodes(ctx, workflow.nodes)
    found |= _problems_of_edges(workflow)
    if not found and (stuck := _cycle(workflow)):
        found["edges"] = f"the nodes {', '.join(stuck[:10])} lead back to themselves"
    found |= _problems_of_trigger(workflow.trigger)
    channel_id = workflow.settings.get("on_failure_channel_id")
    if channel_id and await ctx.db.get(Channel, channel_id) is None:
        found["settings.on_failure_channel_id"] = "There is no such channel."
    return dict(list(found.items())[:_MOST_PROBLEMS])


def node_of(path: str) -> str | None:
    """The node that a path leads into."""
    parts = path.split(".")
    return parts[1] if parts[0] == "nodes" and len(parts) > 1 else None


async def _problems_of_nodes(ctx: Context, nodes: list[dict[str, Any]]) -> Problems:
    found: Problems = {}
    seen: set[str] = set()
    for position, raw in enumerate(nodes):
        id = raw.get("id")
        place = f"nodes.{id}" if isinstance(id, str) and id else f"nodes.{position}"
        if isinstance(id, str):
            if id in seen:
                found[f"{place}.id"] = "is the id of another node as well"
                continue
            seen.add(id)
        found |= await _problems_of_node(ctx, raw, place)
    return found


async def _problems_of_node(ctx: Context, raw: dict[str, Any], place: str) -> Problems:
    try:
        node = msgspec.convert(raw, Node)
    except msgspec.ValidationError as error:
        return {f"{place}.{name}": what for name, what in field_errors(error, raw, Node).items()}
    kind = NODE_TYPES.get(node.type)
    if kind is None:
        return {f"{place}.type": f"must be one of {', '.join(NODE_TYPES)}"}
    path = f"{place}.config"
    found = {
        where: what
        for where, what in compile_schema(kind.config_schema, path).errors(node.config, path).items()
        if not _is_template(look_up(where.removeprefix(path), node.config))
    }
    if found:
        return found
    found = await kind.check(Checking(ctx, node, path))
    if node.type == "loop" and not found:
        inner = {**node.config["node"], "id": node.id}
        found = await _problems_of_node(ctx, inner, f"{path}.node")
    return found


def _is_template(value: Any) -> bool:
    return isinstance(value, str) and "{{" in value


def _problems_of_edges(workflow: Workflow) -> Problems:
    found: Problems = {}
    ids = {node.get("id") for node in workflow.nodes if isinstance(node.get("id"), str)}
    for position, raw in enumerate(workflow.edges):
        place = f"edges.{position}"
        try:
            edge = msgspec.convert(raw, Edge)
        except msgspec.ValidationError as error:
            found |= {f"{place}.{name}": what for name, what in field_errors(error, raw, Edge).items()}
            continue
        for end, id in (("from", edge.source), ("to", edge.target)):
            if id not in ids:
                found[f"{place}.{end}"] = "is not the id of a node"
        if isinstance(edge.when, dict):
            found |= conditions.problems_of(edge.when, f"{place}.when")
    return found


def _cycle(workflow: Workflow) -> list[str]:
    """The nodes that are never ready, because each waits for another one of them."""
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


def _problems_of_trigger(trigger: dict[str, Any]) -> Problems:
    config, path = trigger.get("config") or {}, "trigger.config"
    if trigger["type"] == "event":
        return _problems_of_event(config, path)
    return problems_of_schedule(config, path) if trigger["type"] == "schedule" else {}


def _problems_of_event(config: dict[str, Any], path: str) -> Problems:
    name, filters = config.get("event_type"), config.get("filters") or {}
    if not isinstance(name, str):
        return {f"{path}.event_type": "is required"}
    if not isinstance(filters, dict):
        return {f"{path}.filters": "must be an object"}
    try:
        check_pattern(name, f"{path}.event_type")
        check_filters(filters, f"{path}.filters")
    except Invalid as invalid:
        return dict(invalid.details or {})
    return {}


def problems_of_schedule(config: dict[str, Any], path: str) -> Problems:
    """Of what a schedule is made from, wherever it stands."""
    cron, timezone = config.get("cron"), config.get("timezone") or "UTC"
    if not isinstance(cron, str):
        return {f"{path}.cron".lstrip("."): "is required"}
    try:
        parse_cron(cron)
    except CronInvalid as invalid:
        return {f"{path}.cron".lstrip("."): invalid.message}
    try:
        ZoneInfo(str(timezone))
    except (ValueError, OSError):
        # A name that is not there is a KeyError of its own kind, below.
        return {f"{path}.timezone".lstrip("."): "must be a time zone such as Europe/Berlin"}
    except KeyError:
        return {f"{path}.timezone".lstrip("."): "must be a time zone such as Europe/Berlin"}
    return {}
