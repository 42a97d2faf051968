"""Nodes that act inside the platform, in the transaction that ends them, so exactly once."""

from typing import Any

from retinue.kit.context import Context
from retinue.kit.events.declare import EVENT_TYPES
from retinue.kit.events.filters import is_event_name
from retinue.kit.json_types import JsonObject
from retinue.kit.text.templates import as_text, is_template
from retinue.tables import row_deletion, service
from retinue.tables.filters import FilterBuilder
from retinue.tables.loaders import fetch_for_writing
from retinue.tables.models import DataTable
from retinue.tables.storage import Layout
from retinue.workflows.engine.node_type import (
    NodeCheck,
    NodeCompleted,
    NodeFailed,
    NodeStep,
    NodeType,
    Problems,
    requires_permission,
)
from retinue.workflows.nodes.checks import problems_of_missing, problems_of_reference
from retinue.workflows.nodes.notification import NOTIFICATION_NODE

_OPERATIONS = ("insert", "update", "upsert", "find", "delete")
_REQUIRED_FIELDS = {
    "insert": ("values",),
    "update": ("row_id", "values"),
    "upsert": ("match", "values"),
    "find": (),
    "delete": (),
}


async def _run_data_table(ctx: Context, step: NodeStep) -> NodeCompleted:
    config = step.config
    table_id, values = str(config.get("table_id") or ""), config.get("values") or {}
    match config.get("operation"):
        case "insert":
            return NodeCompleted({"row": await service.insert_row(ctx, table_id, values)})
        case "update":
            row = await service.update_row(ctx, table_id, str(config.get("row_id") or ""), values)
            return NodeCompleted({"row": row})
        case "upsert":
            row, action = await service.upsert_row(ctx, table_id, list(config.get("match") or ()), values)
            return NodeCompleted({"row": row, "action": action})
        case "find":
            return NodeCompleted(await _find_rows(ctx, table_id, config))
        case "delete":
            return NodeCompleted(await _delete_rows(ctx, table_id, config))
    raise NodeFailed("invalid_config", f"operation must be one of {', '.join(_OPERATIONS)}", is_final=True)


def _table_permission(step: NodeStep) -> str:
    return "data_tables:read" if step.config.get("operation") == "find" else "data_tables:write"


async def _find_rows(ctx: Context, table_id: str, config: JsonObject) -> JsonObject:
    found = await service.find_rows(
        ctx,
        table_id,
        config.get("filter"),
        sort=config.get("sort"),
        limit=config.get("limit") or 100,
        search=as_text(config.get("search"))[:100],
    )
    return {"rows": found, "row": found[0] if found else None, "count": len(found)}


async def _delete_rows(ctx: Context, table_id: str, config: JsonObject) -> JsonObject:
    table = await fetch_for_writing(ctx, table_id)
    if config.get("row_id"):
        await row_deletion.delete(ctx, table, str(config["row_id"]))
        return {"deleted": 1}
    filtering = FilterBuilder(Layout(table))
    filtering.add_filter(config.get("filter") or {})
    condition = filtering.condition()
    if condition.matches_all:
        raise NodeFailed("invalid_config", "Deleting rows needs a row_id or a filter.", is_final=True)
    _, deleted, _ = await row_deletion.delete_matching(ctx, table, condition, is_dry=False)
    return {"deleted": deleted}


async def _check_table(node_check: NodeCheck) -> Problems:
    problems = await problems_of_reference(node_check, "table_id", DataTable, "There is no such table.")
    config = node_check.node.config
    problems |= problems_of_missing(node_check, *_REQUIRED_FIELDS.get(config.get("operation", ""), ()))
    if config.get("operation") == "delete" and not (config.get("row_id") or config.get("filter")):
        problems[f"{node_check.path}.filter"] = "is required, unless row_id is given"
    return problems


async def _run_emit_event(ctx: Context, step: NodeStep) -> NodeCompleted:
    name = _event_name(step.config)
    if not isinstance(name, str) or (problem := _name_problem(name)):
        message = f"The event_type {problem}." if isinstance(name, str) else "The event_type is missing."
        raise NodeFailed("invalid_event", message, is_final=True)
    data = step.config.get("data")
    if data is not None and not isinstance(data, dict):
        data = {"value": data}
    return NodeCompleted({"event_id": ctx.emit_custom(name, data or {}), "type": name})


def _event_name(config: JsonObject) -> Any:
    return config.get("event_type", config.get("name"))


def _name_problem(name: str) -> str:
    if not is_event_name(name):
        return "must be a name such as order.received"
    # Readers of the log must be able to trust the platform's own events.
    if name in EVENT_TYPES or name.startswith("system."):
        return "is reserved for events of the platform; choose another name"
    return ""


async def _check_event(node_check: NodeCheck) -> Problems:
    name = _event_name(node_check.node.config)
    if not isinstance(name, str):
        return {f"{node_check.path}.event_type": "is required"}
    problem = "" if is_template(name) else _name_problem(name)
    return {f"{node_check.path}.event_type": problem} if problem else {}


_ID = {"type": "string", "minLength": 1, "maxLength": 64}
_TEXT = {"type": "string", "maxLength": 10_000}

PLATFORM_NODES = (
    NOTIFICATION_NODE,
    NodeType(
        type="data_table",
        name="Data table",
        description="Reads or writes rows of a data table.",
        config_schema={
            "type": "object",
            "properties": {
                "table_id": _ID,
                "operation": {"enum": list(_OPERATIONS)},
                "values": {"type": "object"},
                "row_id": _ID,
                "match": {"type": "array", "items": {"type": "string"}},
                "filter": {"type": "object"},
                "sort": {"type": "string"},
                "search": {"type": "string"},
                "limit": {"type": "integer", "minimum": 1, "maximum": service.MAX_FOUND_ROWS},
            },
            "required": ["table_id", "operation"],
        },
        check=_check_table,
        requires=_table_permission,
        run=_run_data_table,
    ),
    NodeType(
        type="emit_event",
        name="Emit event",
        description="Emits an event with a name of your own, which webhooks and subscriptions receive.",
        config_schema={
            "type": "object",
            "properties": {
                "event_type": {"type": "string", "maxLength": 200},
                "name": {"type": "string", "maxLength": 200},
                "data": {},
            },
        },
        check=_check_event,
        requires=requires_permission("events:write"),
        run=_run_emit_event,
    ),
)
