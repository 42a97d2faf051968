"""A loop repeats one node for each of its items: a turn for each, some of them at once."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.workflows.definition import Node
from retinue.workflows.models import WHOLE, NodeRun, NodeStatus
from retinue.workflows.nodes.kinds import Checking, Done, NodeFailed, NodeType, Problems, Step, Waits
from retinue.workflows.queries import find_run

MOST_ITEMS = 1_000
_AT_ONCE = 10

_runs = NodeRun.__table__
_RESULTS: Statement[Any] = Statement(
    sa.select(_runs.c.status, _runs.c.output, _runs.c.error)
    .where(
        _runs.c.execution_id == sa.bindparam("execution_id"),
        _runs.c.node_id == sa.bindparam("node_id"),
        _runs.c.item != sa.literal(WHOLE),
    )
    .order_by(_runs.c.item)
)


async def _begin(_: Context, step: Step) -> Done | Waits:
    items = step.config.get("items")
    if not isinstance(items, list):
        raise NodeFailed("invalid_items", "The items of the loop are not a list.", is_final=True)
    most = min(_number(step, "max") or MOST_ITEMS, MOST_ITEMS)
    if len(items) > most:
        raise NodeFailed("too_many_items", f"The loop has more than {most} items.", is_final=True)
    if not items:
        return Done({"results": [], "count": 0, "failed": 0})
    first = min(len(items), _number(step, "concurrency") or _AT_ONCE)
    goes_on = step.config.get("on_item_error") == "continue"
    state = {"count": len(items), "next": first, "left": len(items), "failed": 0, "goes_on": goes_on}
    return Waits(state, items=first)


def _number(step: Step, name: str) -> int | None:
    """What a template became is only known now."""
    value = step.config.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise NodeFailed("invalid_config", f"{name} is not a whole number above 0.", is_final=True)
    return value


def outer_config(node: Node) -> dict[str, Any]:
    """Without the node that a loop repeats: its templates are filled in for each item."""
    if node.type != "loop":
        return node.config
    return {name: value for name, value in node.config.items() if name != "node"}


def after_item(state: dict[str, Any], *, is_failure: bool) -> dict[str, Any]:
    return {**state, "left": state["left"] - 1, "failed": state["failed"] + is_failure}


async def scope_of_item(ctx: Context, execution_id: str, node_id: str, item: int) -> dict[str, Any]:
    run = await find_run(ctx, execution_id, node_id)
    items = run.input.get("items", []) if run is not None and isinstance(run.input, dict) else []
    return {"item": items[item] if item < len(items) else None, "index": item}


async def results_of(ctx: Context, run: NodeRun) -> dict[str, Any]:
    rows = await ctx.db.rows(_RESULTS, execution_id=run.execution_id, node_id=run.node_id)
    results = [
        _read(output) if status == NodeStatus.completed else {"error": _read(error)}
        for status, output, error in rows
    ]
    failed = sum(1 for status, _, _ in rows if status == NodeStatus.failed)
    return {"results": results, "count": len(results), "failed": failed}


def _read(stored: str | None) -> Any:
    return None if stored is None else msgspec.json.decode(stored)


async def _check(checking: Checking) -> Problems:
    inner = checking.node.config.get("node")
    if not isinstance(inner, dict) or inner.get("type") in {"loop", "end", None}:
        return {f"{checking.path}.node": "must be a node, and no loop or end"}
    if checking.node.retry is not None and checking.node.retry.max:
        return {f"{checking.path.removesuffix('.config')}.retry": "belongs to the node that is repeated"}
    return {}


LOOP = NodeType(
    type="loop",
    name="Loop",
    description="Repeats a node for each item; in it, `{{item}}` and `{{index}}` are the item and its place.",
    config_schema={
        "type": "object",
        "properties": {
            "items": {},
            "node": {"type": "object"},
            "max": {"type": "integer", "minimum": 1, "maximum": MOST_ITEMS},
            "concurrency": {"type": "integer", "minimum": 1, "maximum": 50},
            "on_item_error": {"enum": ["fail", "continue"]},
        },
        "required": ["items", "node"],
    },
    check=_check,
    run=_begin,
    is_pure=True,
)
