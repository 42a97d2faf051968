"""Event stream of an execution, read from its trail, so that every process sends the same events."""

from collections.abc import AsyncGenerator

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.conversation_ids import without_message
from retinue.kit.db.in_list import in_list
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.db.types import json_text
from retinue.kit.http.sse import ServerSentEvent
from retinue.kit.json_types import JsonObject
from retinue.workflows.engine.watchers import ExecutionWatchers
from retinue.workflows.models import ENDED_STATUSES, WHOLE_NODE, NodeRun, RunStatus, WorkflowExecution
from retinue.workflows.read_access import may_read
from retinue.workflows.trail import TrailEntry, TrailEntryKind

_EVENT_NAMES = {
    TrailEntryKind.started: "node_started",
    TrailEntryKind.finished: "node_completed",
    TrailEntryKind.approval_requested: "approval_required",
}

_runs = NodeRun.__table__
_NODE_RUNS: Statement[NodeRun] = record_statement(
    NodeRun,
    sa.select(_runs).where(
        _runs.c.execution_id == sa.bindparam("execution_id"),
        _runs.c.item == sa.literal(WHOLE_NODE),
        in_list(_runs.c.node_id, "node_ids"),
    ),
)


async def stream_events(ctx: Context, execution_id: str, after: int) -> AsyncGenerator[ServerSentEvent, None]:
    """Yield the events after number `after` until the execution has ended; `ctx` must be detached.

    The first event is the start, then follow the events of the nodes, and the last one is the end.
    """
    live = ctx.state(ExecutionWatchers)
    wakeup = live.subscribe(ctx.tenant_id, execution_id)
    position = after
    try:
        while True:
            wakeup.clear()
            execution = await ctx.db.get(WorkflowExecution, execution_id)
            if execution is None:
                return
            if position < 1 and execution.started_at is not None:
                position = 1
                yield ServerSentEvent("execution_started", _started_data(execution), 1)
            new_entries = execution.trail[max(0, position - 1) :]
            runs = await _load_node_runs(ctx, execution_id, new_entries)
            # Checked every time: the execution may begin to quote a conversation while it is streamed.
            is_readable = await may_read(ctx, execution)
            for entry in new_entries:
                position += 1
                data = _node_event(execution, entry, runs)
                yield ServerSentEvent(
                    _EVENT_NAMES[entry.kind], data if is_readable else _redacted(data), position
                )
            if execution.status in ENDED_STATUSES:
                last = len(execution.trail) + 2
                if position < last:
                    yield _end_event(execution, last, is_readable=is_readable)
                return
            await wakeup.wait()
    finally:
        live.unsubscribe(execution_id, wakeup)


async def _load_node_runs(ctx: Context, execution_id: str, entries: list[TrailEntry]) -> dict[str, NodeRun]:
    if not entries:
        return {}
    ids = json_text(sorted({entry.node_id for entry in entries}))
    return {
        run.node_id: run for run in await ctx.db.rows(_NODE_RUNS, execution_id=execution_id, node_ids=ids)
    }


def _started_data(execution: WorkflowExecution) -> JsonObject:
    return {
        "execution_id": execution.id,
        "workflow_id": execution.workflow_id,
        "version": execution.version,
        "trigger": execution.trigger,
        "started_at": execution.started_at,
    }


def _node_event(execution: WorkflowExecution, entry: TrailEntry, runs: dict[str, NodeRun]) -> JsonObject:
    run = runs.get(entry.node_id)
    data: JsonObject = {"execution_id": execution.id, "node_id": entry.node_id}
    if run is None:
        return data
    data["type"] = run.type
    match entry.kind:
        case TrailEntryKind.started:
            data["started_at"] = run.started_at
        case TrailEntryKind.approval_requested:
            data["approval_id"] = run.state.get("approval_id")
        case TrailEntryKind.finished:
            data |= {
                "status": run.status,
                "output": run.output,
                "error": run.error,
                "attempt": run.attempt,
                "duration_ms": run.duration_ms,
            }
    return data


def _redacted(data: JsonObject) -> JsonObject:
    if "output" not in data:
        return data
    return {**data, "output": None, "error": without_message(data["error"]), "redacted": True}


def _end_event(execution: WorkflowExecution, number: int, *, is_readable: bool) -> ServerSentEvent:
    is_completed = execution.status is RunStatus.completed
    data = {
        "execution_id": execution.id,
        "workflow_id": execution.workflow_id,
        "status": execution.status,
        "output": execution.output,
        "error": execution.error,
        "duration_ms": execution.duration_ms,
    }
    visible = msgspec.to_builtins(data if is_readable else _redacted(data))
    return ServerSentEvent("execution_completed" if is_completed else "execution_failed", visible, number)
