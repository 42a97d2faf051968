"""The records of nodes: one for each node of a run, and inside a loop one for each item."""

from typing import Any

from retinue.kit.clock import moment
from retinue.kit.context import Context
from retinue.workflows.definition import Node
from retinue.workflows.models import WHOLE, NodeRun, NodeStatus
from retinue.workflows.nodes.kinds import Step
from retinue.workflows.turns import NodeTurn


async def record(
    ctx: Context, turn: NodeTurn, step: Step, run: NodeRun | None, status: NodeStatus, **more: Any
) -> NodeRun:
    """What became of a turn; `run` is what an earlier part of the same turn left behind."""
    is_over = status not in {NodeStatus.waiting, NodeStatus.running}
    now = ctx.now
    if run is None:
        made = NodeRun(
            execution_id=turn.execution_id,
            node_id=turn.node_id,
            item=turn.item,
            type=step.node.type,
            status=status,
            input=step.config,
            attempt=turn.attempt,
            started_at=now,
            completed_at=now if is_over else None,
            duration_ms=0 if is_over else None,
            **more,
        )
        if turn.item != WHOLE:
            # The last item's is read together with the others' in this transaction.
            return await ctx.db.insert(made)
        return await ctx.db.insert_at_commit(made)
    duration_ms = round((moment(now) - moment(run.started_at)).total_seconds() * 1000)
    ended = {"completed_at": now, "duration_ms": duration_ms} if is_over else {}
    return await ctx.db.update(run, status=status, attempt=turn.attempt, **ended, **more)


async def record_skipped(ctx: Context, execution_id: str, node: Node) -> NodeRun:
    now = ctx.now
    skipped = NodeRun(
        execution_id=execution_id,
        node_id=node.id,
        type=node.type,
        status=NodeStatus.skipped,
        started_at=now,
        completed_at=now,
        duration_ms=0,
    )
    return await ctx.db.insert_at_commit(skipped)
