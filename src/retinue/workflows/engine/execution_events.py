"""Events about executions and their nodes. A try emits none: it would set off what waits for real runs."""

from retinue.kit.context import Context
from retinue.kit.metrics.declarations import WORKFLOW_RUNS
from retinue.workflows.engine.lineage import caused_by
from retinue.workflows.events import (
    WorkflowExecutionCompleted,
    WorkflowExecutionFailed,
    WorkflowExecutionStarted,
    WorkflowNodeCompleted,
)
from retinue.workflows.models import NODE_TRY, NodeRun, RunStatus, WorkflowExecution


def emit_execution_started(ctx: Context, execution: WorkflowExecution) -> None:
    if execution.trigger == NODE_TRY:
        return
    with caused_by(ctx, execution):
        ctx.emit(
            WorkflowExecutionStarted(
                workflow_id=execution.workflow_id,
                execution_id=execution.id,
                trigger=execution.trigger,
                status=RunStatus.running,
            ),
            conversation_ids=execution.conversation_ids or (),
        )


def emit_execution_ended(ctx: Context, execution: WorkflowExecution) -> None:
    """Count the end; emit it as caused by the execution itself, even if a deadline or a person ended it."""
    _count_after_commit(ctx, execution.status)
    if execution.trigger == NODE_TRY:
        return
    is_success = execution.status is RunStatus.completed
    event = WorkflowExecutionCompleted if is_success else WorkflowExecutionFailed
    with caused_by(ctx, execution):
        ctx.emit(
            event(
                workflow_id=execution.workflow_id,
                execution_id=execution.id,
                trigger=execution.trigger,
                status=execution.status,
                output=execution.output,
                error=execution.error,
                duration_ms=execution.duration_ms or 0,
            ),
            conversation_ids=execution.conversation_ids or (),
        )


def _count_after_commit(ctx: Context, status: RunStatus) -> None:
    async def count() -> None:
        WORKFLOW_RUNS.count(status)

    if WORKFLOW_RUNS.is_on:
        ctx.after_commit(count)


def emit_node_completed(ctx: Context, execution: WorkflowExecution, run: NodeRun, output: object) -> None:
    if execution.trigger == NODE_TRY:
        return
    ctx.emit(
        WorkflowNodeCompleted(
            workflow_id=execution.workflow_id,
            execution_id=execution.id,
            node_id=run.node_id,
            node_type=run.type,
            status=run.status,
            output=output,
            duration_ms=run.duration_ms or 0,
        ),
        conversation_ids=execution.conversation_ids or (),
    )


def should_notify(execution: WorkflowExecution) -> bool:
    """Return whether a person is notified: of failures nobody waits for, and of successes started by hand."""
    if execution.waiter is not None or execution.status is RunStatus.cancelled:
        return False
    if execution.trigger == NODE_TRY:
        return False
    return execution.status is not RunStatus.completed or execution.trigger == "manual"
