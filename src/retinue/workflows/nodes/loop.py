"""The loop: it runs one node for each of its items, several of them concurrently."""

from retinue.kit.context import Context
from retinue.workflows.engine.node_type import (
    NodeCheck,
    NodeCompleted,
    NodeFailed,
    NodeStep,
    NodeSuspended,
    NodeType,
    Problems,
)

MAX_ITEMS = 1_000
_DEFAULT_CONCURRENCY = 10


async def _start_items(_: Context, step: NodeStep) -> NodeCompleted | NodeSuspended:
    items = step.config.get("items")
    if not isinstance(items, list):
        raise NodeFailed("invalid_items", "The items of the loop must be a list.", is_final=True)
    max_items = min(_positive_int(step, "max") or MAX_ITEMS, MAX_ITEMS)
    if len(items) > max_items:
        message = f"The loop has more than {max_items} items. Split the list."
        raise NodeFailed("too_many_items", message, is_final=True)
    if not items:
        return NodeCompleted({"results": [], "count": 0, "failed": 0})
    initial_count = min(len(items), _positive_int(step, "concurrency") or _DEFAULT_CONCURRENCY)
    continues = step.config.get("on_item_error") == "continue"
    state = {
        "count": len(items),
        "next": initial_count,
        "left": len(items),
        "failed": 0,
        "goes_on": continues,
    }
    return NodeSuspended(state, items=initial_count)


def _positive_int(step: NodeStep, name: str) -> int | None:
    """Return a positive integer or None; a template may have rendered to something else."""
    value = step.config.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise NodeFailed("invalid_config", f"{name} must be an integer above 0.", is_final=True)
    return value


async def _check(node_check: NodeCheck) -> Problems:
    repeated = node_check.node.config.get("node")
    if not isinstance(repeated, dict) or repeated.get("type") in ("loop", "end", None):
        return {f"{node_check.path}.node": "must be a node of a type other than loop and end"}
    if node_check.node.retry is not None and node_check.node.retry.max:
        return {f"{node_check.path.removesuffix('.config')}.retry": "must be set on the repeated node"}
    return {}


LOOP = NodeType(
    type="loop",
    name="Loop",
    description="Runs a node for each item; in it, `{{item}}` is the item and `{{index}}` its position.",
    config_schema={
        "type": "object",
        "properties": {
            "items": {},
            "node": {"type": "object"},
            "max": {"type": "integer", "minimum": 1, "maximum": MAX_ITEMS},
            "concurrency": {"type": "integer", "minimum": 1, "maximum": 50},
            "on_item_error": {"enum": ["fail", "continue"]},
        },
        "required": ["items", "node"],
    },
    check=_check,
    run=_start_items,
    is_pure=True,
)
