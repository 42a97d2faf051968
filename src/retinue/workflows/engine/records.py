"""The records of nodes: one for each node of an execution, and inside a loop one for each item."""

from typing import Any

from retinue.kit.clock import parse_instant
from retinue.kit.context import Context
from retinue.workflows.definition import Node
from retinue.workflows.engine.node_type import NodeStep
from retinue.workflows.job_kinds import NodeTask
from retinue.workflows.models import WHOLE_NODE, NodeRun, NodeStatus


async def record_node_run(
    ctx: Context, task: NodeTask, step: NodeStep, run: NodeRun | None, status: NodeStatus, **more: Any
) -> NodeRun:
    """Record the state of a task; `run` is the record that an earlier part of the task created."""
    has_ended = status not in {NodeStatus.waiting, NodeStatus.running}
    now = ctx.now
    if run is None:
        created = NodeRun(
            execution_id=task.execution_id,
            node_id=task.node_id,
            item=task.item,
            type=step.node.type,
            status=status,
            input=step.config,
            attempt=task.attempt,
            started_at=now,
            completed_at=now if has_ended else None,
            duration_ms=0 if has_ended else None,
            **more,
        )
        if task.item != WHOLE_NODE:
            # Inserted at once: after the last item, this transaction reads the records of all items.
            return await ctx.db.insert(created)
        return await ctx.db.insert_at_commit(created)
    duration_ms = round((parse_instant(now) - parse_instant(run.started_at)).total_seconds() * 1000)
    ended = {"completed_at": now, "duration_ms": duration_ms} if has_ended else {}
    return await ctx.db.update(run, status=status, attempt=task.attempt, **ended, **more)


async def record_skipped_node(ctx: Context, execution_id: str, node: Node) -> NodeRun:
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
