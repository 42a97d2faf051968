"""Nodes that do something in the platform itself: part of the transaction that ends them, so exactly once."""

from typing import Any

import msgspec

from retinue.access.models import Role
from retinue.kit.context import Context
from retinue.kit.events.declare import EVENT_TYPES
from retinue.kit.events.matching import is_event_name
from retinue.notifications.models import Channel, ChannelType, Priority
from retinue.notifications.queries import fetch_channel
from retinue.notifications.service import notify
from retinue.notifications.words import Notification, Recipients, Route
from retinue.tables import rows, service
from retinue.tables.filters import Filtering
from retinue.tables.loaders import fetch_for_writing
from retinue.tables.models import DataTable
from retinue.tables.storage import Layout
from retinue.workflows.nodes.checks import is_template, problems_of_reference, required
from retinue.workflows.nodes.kinds import Checking, Done, NodeFailed, NodeType, Problems, Step, needs

_LONGEST_TYPE = 64
_OPERATIONS = ("insert", "update", "upsert", "find", "delete")
_NEEDS = {
    "insert": ("values",),
    "update": ("row_id", "values"),
    "upsert": ("match", "values"),
    "find": (),
    "delete": (),
}


def as_text(value: Any) -> str:
    """A template that is one path becomes what stands there, whatever that is."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


async def _notify(ctx: Context, step: Step) -> Done:
    config = step.config
    who = config.get("recipients") or {}
    user_ids, roles = who.get("user_ids") or [], who.get("roles") or []
    if not (user_ids or roles):
        user_ids = [step.execution.run_as]
    try:
        to = Recipients(user_ids=tuple(map(str, user_ids)), roles=tuple(Role(role) for role in roles))
        priority = Priority(config.get("priority") or "normal")
        route = await _route(ctx, config)
    except ValueError:
        raise NodeFailed(
            "invalid_config", "A role, a priority or a type of channel is unknown.", is_final=True
        ) from None
    notification = Notification(
        type=(as_text(config.get("type")) or "workflow_notification")[:_LONGEST_TYPE],
        title=as_text(config.get("title")),
        message=as_text(config.get("message")),
        data={
            **(config.get("data") or {}),
            "workflow_id": step.execution.workflow_id,
            "execution_id": step.execution.id,
            "node_id": step.node.id,
        },
        priority=priority,
        action_url=config.get("action_url"),
        dedupe_key=step.key,
    )
    done = await notify(ctx, notification, to, route)
    return Done(msgspec.to_builtins(done))


async def _route(ctx: Context, config: dict[str, Any]) -> Route | None:
    if config.get("channel_id"):
        return Route(channels=(await fetch_channel(ctx, str(config["channel_id"])),))
    if config.get("channel_type"):
        return Route(types=(ChannelType(config["channel_type"]),))
    return None


async def _check_notification(checking: Checking) -> Problems:
    return await problems_of_reference(checking, "channel_id", Channel, "There is no such channel.")


async def _use_table(ctx: Context, step: Step) -> Done:
    config = step.config
    table_id, values = str(config.get("table_id") or ""), config.get("values") or {}
    match config.get("operation"):
        case "insert":
            return Done({"row": await service.insert_row(ctx, table_id, values)})
        case "update":
            row = await service.update_row(ctx, table_id, str(config.get("row_id") or ""), values)
            return Done({"row": row})
        case "upsert":
            row, action = await service.upsert_row(ctx, table_id, list(config.get("match") or ()), values)
            return Done({"row": row, "action": action})
        case "find":
            return Done(await _find(ctx, table_id, config))
        case "delete":
            return Done(await _delete(ctx, table_id, config))
    raise NodeFailed("invalid_config", f"operation must be one of {', '.join(_OPERATIONS)}", is_final=True)


def _right_to_use_table(step: Step) -> str:
    return "data_tables:read" if step.config.get("operation") == "find" else "data_tables:write"


async def _find(ctx: Context, table_id: str, config: dict[str, Any]) -> dict[str, Any]:
    found = await service.find_rows(
        ctx,
        table_id,
        config.get("filter"),
        sort=config.get("sort"),
        limit=config.get("limit") or 100,
        search=as_text(config.get("search"))[:100],
    )
    return {"rows": found, "row": found[0] if found else None, "count": len(found)}


async def _delete(ctx: Context, table_id: str, config: dict[str, Any]) -> dict[str, Any]:
    table = await fetch_for_writing(ctx, table_id)
    if config.get("row_id"):
        await rows.delete(ctx, table, str(config["row_id"]))
        return {"deleted": 1}
    filtering = Filtering(Layout(table))
    filtering.add_filter(config.get("filter") or {})
    condition = filtering.condition()
    if condition.holds_for_all:
        raise NodeFailed("invalid_config", "A row_id or a filter must say which rows.", is_final=True)
    _, deleted = await rows.delete_matching(ctx, table, condition, is_dry=False)
    return {"deleted": deleted}


async def _check_table(checking: Checking) -> Problems:
    found = await problems_of_reference(checking, "table_id", DataTable, "There is no such table.")
    config = checking.node.config
    needed = required(checking, *_NEEDS.get(config.get("operation", ""), ()))
    if config.get("operation") == "delete" and not (config.get("row_id") or config.get("filter")):
        needed[f"{checking.path}.filter"] = "is required, unless row_id is given"
    return found | needed


async def _emit(ctx: Context, step: Step) -> Done:
    name = _event_name(step.config)
    if not isinstance(name, str) or (wrong := _wrong_name(name)):
        raise NodeFailed(
            "invalid_event", wrong if isinstance(name, str) else "The event has no name.", is_final=True
        )
    data = step.config.get("data")
    if data is not None and not isinstance(data, dict):
        data = {"value": data}
    return Done({"event_id": ctx.emit_custom(name, data or {}), "type": name})


def _event_name(config: dict[str, Any]) -> Any:
    return config.get("event_type", config.get("name"))


def _wrong_name(name: str) -> str:
    if not is_event_name(name):
        return "must be a name such as order.received"
    # Whoever reads the log must be able to believe what the platform itself says there.
    if name in EVENT_TYPES or name.startswith("system."):
        return "is the name of an event that only the platform itself may tell of"
    return ""


async def _check_event(checking: Checking) -> Problems:
    name = _event_name(checking.node.config)
    if not isinstance(name, str):
        return {f"{checking.path}.event_type": "is required"}
    wrong = "" if is_template(name) else _wrong_name(name)
    return {f"{checking.path}.event_type": wrong} if wrong else {}


_ID = {"type": "string", "minLength": 1, "maxLength": 64}
_TEXT = {"type": "string", "maxLength": 10_000}

INSIDE = (
    NodeType(
        type="notification",
        name="Notification",
        description="Tells people something: as they prefer it, or through a channel.",
        config_schema={
            "type": "object",
            "properties": {
                "title": _TEXT,
                "message": _TEXT,
                "type": {"type": "string", "maxLength": _LONGEST_TYPE},
                "recipients": {
                    "type": "object",
                    "properties": {
                        "user_ids": {"type": "array", "items": {"type": "string"}, "maxItems": 1000},
                        "roles": {"type": "array", "items": {"enum": [role.value for role in Role]}},
                    },
                },
                "channel_id": _ID,
                "channel_type": {"enum": [type.value for type in ChannelType]},
                "priority": {"enum": [priority.value for priority in Priority]},
                "action_url": _TEXT,
                "data": {"type": "object"},
            },
            "required": ["title"],
        },
        check=_check_notification,
        run=_notify,
    ),
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
                "limit": {"type": "integer", "minimum": 1, "maximum": service.MOST_FOUND},
            },
            "required": ["table_id", "operation"],
        },
        check=_check_table,
        requires=_right_to_use_table,
        run=_use_table,
    ),
    NodeType(
        type="emit_event",
        name="Emit event",
        description="Tells of something under a name of your own; webhooks and subscriptions hear of it.",
        config_schema={
            "type": "object",
            "properties": {
                "event_type": {"type": "string", "maxLength": 200},
                "name": {"type": "string", "maxLength": 200},
                "data": {},
            },
        },
        check=_check_event,
        requires=needs("events:write"),
        run=_emit,
    ),
)
