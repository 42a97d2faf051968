"""The scope of a node's templates: the input, the trigger and the results of earlier nodes."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement
from retinue.kit.json_types import JsonObject
from retinue.workflows.definition import Definition, Node
from retinue.workflows.models import WHOLE_NODE, NodeRun, WorkflowExecution

_REFERENCE = re.compile(r"nodes\.([\w-]+)", re.ASCII)

_runs = NodeRun.__table__
_OUTPUTS = Statement(
    sa.select(_runs.c.node_id, _runs.c.status, _runs.c.output, _runs.c.error).where(
        _runs.c.execution_id == sa.bindparam("execution_id"),
        in_list(_runs.c.node_id, "node_ids"),
        _runs.c.item == sa.literal(WHOLE_NODE),
    )
)


def referenced_nodes(definition: Definition, node: Node) -> frozenset[str]:
    """Return the nodes that the node's configuration or outgoing conditions refer to, from the cache."""
    node_ids = definition.references.get(node.id)
    if node_ids is None:
        node_ids = definition.references[node.id] = _find_references(definition, node)
    return node_ids


def _find_references(definition: Definition, node: Node) -> frozenset[str]:
    outer_node = definition.nodes[node.id]
    conditions = [definition.edges[position].when for position in definition.outgoing.get(node.id, [])]
    # The configuration of a loop contains the node that it repeats.
    text = msgspec.json.encode([outer_node.config, conditions]).decode()
    return frozenset(_REFERENCE.findall(text)) & definition.nodes.keys()


async def build_scope(
    ctx: Context,
    execution: WorkflowExecution,
    definition: Definition,
    node: Node,
    recorded: Mapping[str, NodeRun],
) -> JsonObject:
    """Return the scope; `recorded` are the records of this transaction, some only stored at its commit."""
    nodes: JsonObject = {}
    references = referenced_nodes(definition, node)
    for node_id in references & recorded.keys():
        run = recorded[node_id]
        nodes[node_id] = {"status": run.status.value, "output": run.output, "error": run.error}
    stored = references - recorded.keys()
    if stored:
        rows = await ctx.db.rows(_OUTPUTS, execution_id=execution.id, node_ids=list_parameter(sorted(stored)))
        for node_id, status, output, error in rows:
            nodes[node_id] = {"status": status, "output": _decode(output), "error": _decode(error)}
    input_fields = execution.input if isinstance(execution.input, dict) else {}
    trigger_info = {"type": execution.trigger, "id": execution.trigger_id}
    return {
        "input": execution.input,
        "trigger": {**input_fields, **execution.trigger_data, **trigger_info},
        "nodes": nodes,
        "execution": {"id": execution.id, "workflow_id": execution.workflow_id},
    }


def _decode(stored: str | None) -> Any:
    return None if stored is None else msgspec.json.decode(stored)
