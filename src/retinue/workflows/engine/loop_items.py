"""The items of a loop: their count, scope and results."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.json_types import JsonObject
from retinue.workflows.definition import Node
from retinue.workflows.engine.node_type import NodeFailed
from retinue.workflows.models import WHOLE_NODE, NodeRun, NodeStatus
from retinue.workflows.queries import find_node_run

_FATAL_CODES = frozenset({"too_many_runs", "too_deep"})

_runs = NodeRun.__table__
_RESULTS = Statement(
    sa.select(_runs.c.status, _runs.c.output, _runs.c.error)
    .where(
        _runs.c.execution_id == sa.bindparam("execution_id"),
        _runs.c.node_id == sa.bindparam("node_id"),
        _runs.c.item != sa.literal(WHOLE_NODE),
    )
    .order_by(_runs.c.item)
)


def config_without_node(node: Node) -> JsonObject:
    """Return the configuration without the node that a loop repeats, which is rendered for each item."""
    if node.type != "loop":
        return node.config
    return {name: value for name, value in node.config.items() if name != "node"}


def count_item(state: JsonObject, *, is_failure: bool) -> JsonObject:
    return {**state, "left": state["left"] - 1, "failed": state["failed"] + is_failure}


def continues_after(state: JsonObject, failure: NodeFailed) -> bool:
    """Return whether the loop continues; once a limit on starts is reached, every later item would fail."""
    return bool(state["goes_on"]) and failure.reason not in _FATAL_CODES


async def load_item_scope(ctx: Context, execution_id: str, node_id: str, item: int) -> JsonObject:
    run = await find_node_run(ctx, execution_id, node_id)
    items = run.input.get("items", []) if run is not None and isinstance(run.input, dict) else []
    return {"item": items[item] if item < len(items) else None, "index": item}


async def load_results(ctx: Context, run: NodeRun) -> JsonObject:
    rows = await ctx.db.rows(_RESULTS, execution_id=run.execution_id, node_id=run.node_id)
    results = [
        _decode(output) if status == NodeStatus.completed else {"error": _decode(error)}
        for status, output, error in rows
    ]
    failed = sum(1 for status, _, _ in rows if status == NodeStatus.failed)
    return {"results": results, "count": len(results), "failed": failed}


def _decode(stored: str | None) -> Any:
    return None if stored is None else msgspec.json.decode(stored)
