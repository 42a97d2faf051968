"""A run as it goes on, to whoever watches it: read from its trail, so that every process tells the same."""

from collections.abc import AsyncGenerator
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.one_of import one_of
from retinue.kit.db.statements import Statement, reading
from retinue.kit.db.types import json_text
from retinue.kit.http.sse import Event
from retinue.workflows.live import LiveExecutions
from retinue.workflows.models import ENDED, WHOLE, NodeRun, RunStatus, WorkflowExecution

_NAMES = {"+": "node_started", "=": "node_completed", "?": "approval_required"}

_runs = NodeRun.__table__
_NAMED: Statement[NodeRun] = reading(
    NodeRun,
    sa.select(_runs).where(
        _runs.c.execution_id == sa.bindparam("execution_id"),
        _runs.c.item == sa.literal(WHOLE),
        one_of(_runs.c.node_id, "node_ids"),
    ),
)


async def follow(ctx: Context, execution_id: str, after: int) -> AsyncGenerator[Event, None]:
    """The events after a number, until the run has ended; `ctx` is one that reads freely.

    The first is its beginning, then comes what its nodes did, and the last one is its end.
    """
    live = ctx.adapter(LiveExecutions)
    news = live.listen(ctx.tenant_id, execution_id)
    position = after
    try:
        while True:
            news.clear()
            execution = await ctx.db.get(WorkflowExecution, execution_id)
            if execution is None:
                return
            steps = execution.trail.split()
            if position < 1 and execution.started_at is not None:
                position = 1
                yield Event("execution_started", _started(execution), 1)
            new = steps[max(0, position - 1) :]
            runs = await _runs_of(ctx, execution_id, new)
            for step in new:
                position += 1
                yield Event(_NAMES[step[0]], _of_node(execution, step, runs), position)
            if execution.status in ENDED:
                last = len(steps) + 2
                if position < last:
                    yield _end(execution, last)
                return
            await news.wait()
    finally:
        live.leave(execution_id, news)


async def _runs_of(ctx: Context, execution_id: str, steps: list[str]) -> dict[str, NodeRun]:
    if not steps:
        return {}
    ids = json_text(sorted({step[1:] for step in steps}))
    return {run.node_id: run for run in await ctx.db.rows(_NAMED, execution_id=execution_id, node_ids=ids)}


def _started(execution: WorkflowExecution) -> dict[str, Any]:
    return {
        "execution_id": execution.id,
        "workflow_id": execution.workflow_id,
        "version": execution.version,
        "trigger": execution.trigger,
        "started_at": execution.started_at,
    }


def _of_node(execution: WorkflowExecution, step: str, runs: dict[str, NodeRun]) -> dict[str, Any]:
    node_id = step[1:]
    run = runs.get(node_id)
    told: dict[str, Any] = {"execution_id": execution.id, "node_id": node_id}
    if run is None:
        return told
    told["type"] = run.type
    if step[0] == "+":
        told["started_at"] = run.started_at
    elif step[0] == "?":
        told["approval_id"] = run.state.get("approval_id")
    else:
        told |= {
            "status": run.status,
            "output": run.output,
            "error": run.error,
            "attempt": run.attempt,
            "duration_ms": run.duration_ms,
        }
    return told


def _end(execution: WorkflowExecution, number: int) -> Event:
    is_whole = execution.status is RunStatus.completed
    told = {
        "execution_id": execution.id,
        "workflow_id": execution.workflow_id,
        "status": execution.status,
        "output": execution.output,
        "error": execution.error,
        "duration_ms": execution.duration_ms,
    }
    return Event("execution_completed" if is_whole else "execution_failed", msgspec.to_builtins(told), number)
