"""Unknown keys of a workflow's parts: refused in configs and conditions, else warned about (ADR 42).

Only what is written or published is checked: a stored workflow runs on with the keys that it has.
"""

from collections.abc import Callable

from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.ignored_fields import UNKNOWN_FIELD
from retinue.kit.ignored_fields import report_unknown_keys as report_keys_of_free_object
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.conditions import find_unknown_condition_keys
from retinue.kit.schema.fields.unknown_keys import find_unknown_field_keys
from retinue.kit.schema.unknown_keys import find_unknown_keys, find_unknown_keys_by_schema
from retinue.workflows.definition import Edge, Node
from retinue.workflows.engine.node_type import NODE_TYPES, Problems
from retinue.workflows.trigger_configs import TRIGGER_CONFIGS

_OF_EDITORS = ("metadata", "position")
"""Keys of a node or edge that editors keep for themselves."""


def check_written(ctx: Context, written: JsonObject) -> None:
    """Refuse unknown keys in configs and conditions; report those of nodes, edges and the trigger."""
    nodes: list[JsonObject] = written.get("nodes") or []
    edges: list[JsonObject] = written.get("edges") or []
    problems = problems_of_configs(nodes, lambda position, _: f"nodes.{position}") | problems_of_edges(edges)
    if problems:
        raise Invalid(problems)
    report_unknown_keys(ctx, nodes, edges)
    trigger = written.get("trigger") or {}
    shape = TRIGGER_CONFIGS.get(trigger.get("type", ""))
    if shape is not None:
        report_keys_of_free_object(ctx.caller.ignored, trigger.get("config"), shape, "trigger.config")


def report_unknown_keys(ctx: Context, nodes: list[JsonObject], edges: list[JsonObject]) -> None:
    """Report the keys that nodes and edges do not have; those in configs and conditions are problems."""
    ignored = ctx.caller.ignored
    if ignored is None:
        return
    found: list[str] = []
    for position, node in enumerate(nodes):
        found += _unknown(node, Node, f"nodes.{position}")
    for position, edge in enumerate(edges):
        found += _unknown(edge, Edge, f"edges.{position}")
    ignored.report(found)


def report_unknown_keys_of_node(ctx: Context, node: JsonObject, place: str) -> None:
    """Report the keys beside the node's own; those in its config are problems."""
    if ctx.caller.ignored is not None:
        ctx.caller.ignored.report(_unknown(node, Node, place))


def problems_of_configs(nodes: list[JsonObject], place: Callable[[int, JsonObject], str]) -> Problems:
    """Return a problem for each unknown key in the config of a node, under the place of the node."""
    found: list[str] = []
    for position, node in enumerate(nodes):
        _find_in_config(node, place(position, node), found)
    return dict.fromkeys(found, UNKNOWN_FIELD)


def problems_of_edges(edges: list[JsonObject]) -> Problems:
    """Return a problem for each unknown key in the condition of an edge."""
    found: list[str] = []
    for position, edge in enumerate(edges):
        found += find_unknown_condition_keys(edge.get("when"), f"edges.{position}.when")
    return dict.fromkeys(found, UNKNOWN_FIELD)


def _find_in_config(node: JsonObject, place: str, unknown: list[str]) -> None:
    kind = NODE_TYPES.get(node["type"]) if isinstance(node.get("type"), str) else None
    config = node.get("config")
    if kind is None or not isinstance(config, dict):
        return
    unknown += find_unknown_keys_by_schema(config, kind.config_schema, f"{place}.config")
    if kind.type == "condition":
        # The schema names the keys of the outermost condition only.
        unknown += [
            path
            for name in ("all", "any", "condition")
            for path in _find_in_conditions(config.get(name), f"{place}.config.{name}")
        ]
    if kind.type == "approval":
        unknown += find_unknown_field_keys(_fields_of(config), f"{place}.config.fields")
    repeated = config.get("node")
    if kind.type == "loop" and isinstance(repeated, dict):
        unknown += _unknown(repeated, Node, f"{place}.config.node")
        _find_in_config(repeated, f"{place}.config.node", unknown)


def _find_in_conditions(conditions: object, path: str) -> list[str]:
    if not isinstance(conditions, list):
        return find_unknown_condition_keys(conditions, path)
    return [
        found
        for position, one in enumerate(conditions)
        for found in find_unknown_condition_keys(one, f"{path}.{position}")
    ]


def _fields_of(config: JsonObject) -> list[JsonObject]:
    """Return the field definitions of an approval; wrong ones are reported when it is published."""
    fields = config.get("fields")
    is_valid = isinstance(fields, list) and all(
        isinstance(field, dict) and isinstance(field.get("type"), str) for field in fields
    )
    return fields if is_valid and isinstance(fields, list) else []


def _unknown(part: JsonObject, shape: type[Node | Edge], path: str) -> list[str]:
    editors = {f"{path}.{name}" for name in _OF_EDITORS}
    return [found for found in find_unknown_keys(part, shape, path) if found not in editors]
