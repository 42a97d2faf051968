"""What the templates of a node can see: the input, the trigger, and what the nodes before it gave."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.one_of import listed, one_of
from retinue.kit.db.statements import Statement
from retinue.workflows.definition import Definition, Node
from retinue.workflows.models import WHOLE, NodeRun, WorkflowExecution

_REFERENCE = re.compile(r"nodes\.([\w-]+)", re.ASCII)

_runs = NodeRun.__table__
_OUTPUTS: Statement[Any] = Statement(
    sa.select(_runs.c.node_id, _runs.c.status, _runs.c.output, _runs.c.error).where(
        _runs.c.execution_id == sa.bindparam("execution_id"),
        one_of(_runs.c.node_id, "node_ids"),
        _runs.c.item == sa.literal(WHOLE),
    )
)


def referred_nodes(definition: Definition, node: Node) -> frozenset[str]:
    """The nodes whose output its configuration, or the conditions after it, look at; found once."""
    found = definition.referred.get(node.id)
    if found is None:
        found = definition.referred[node.id] = _referred_nodes(definition, node)
    return found


def _referred_nodes(definition: Definition, node: Node) -> frozenset[str]:
    whole = definition.nodes[node.id]
    conditions = [definition.edges[position].when for position in definition.outgoing.get(node.id, [])]
    # Of a loop, the node that it repeats is part of the configuration.
    text = msgspec.json.encode([whole.config, conditions]).decode()
    return frozenset(_REFERENCE.findall(text)) & definition.nodes.keys()


async def scope_of(
    ctx: Context,
    execution: WorkflowExecution,
    definition: Definition,
    node: Node,
    recorded: Mapping[str, NodeRun],
) -> dict[str, Any]:
    """`recorded` are the nodes that this transaction knows already, some only stored at its commit."""
    found: dict[str, Any] = {}
    referred = referred_nodes(definition, node)
    for node_id in referred & recorded.keys():
        run = recorded[node_id]
        found[node_id] = {"status": run.status.value, "output": run.output, "error": run.error}
    stored = referred - recorded.keys()
    if stored:
        rows = await ctx.db.rows(_OUTPUTS, execution_id=execution.id, node_ids=listed(sorted(stored)))
        for node_id, status, output, error in rows:
            found[node_id] = {"status": status, "output": _read(output), "error": _read(error)}
    given = execution.input if isinstance(execution.input, dict) else {}
    about = {"type": execution.trigger, "id": execution.trigger_id}
    return {
        "input": execution.input,
        "trigger": {**given, **execution.trigger_data, **about},
        "nodes": found,
        "execution": {"id": execution.id, "workflow_id": execution.workflow_id},
    }


def _read(stored: str | None) -> Any:
    return None if stored is None else msgspec.json.decode(stored)
