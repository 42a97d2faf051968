"""Spans of workflow runs: one for each node, in the part of its job, and one for the run when it ends.

The span of a run begins in one job and ends in another, so its id comes from the id of the execution.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from retinue.kit.clock import parse_instant
from retinue.kit.context import Caller, Context
from retinue.kit.tracing import names
from retinue.kit.tracing.origin import TraceOrigin
from retinue.kit.tracing.parts import recording_part, store_recorder
from retinue.kit.tracing.recorder import ActiveSpan, PartRecorder, current_span, unit_span
from retinue.workflows.engine.node_type import NodeFailed, NodeStep
from retinue.workflows.models import Workflow, WorkflowExecution


def run_span_id(execution_id: str) -> str:
    return hashlib.blake2b(execution_id.encode(), digest_size=8).hexdigest()


def join_trace(caller: Caller, execution: WorkflowExecution) -> Caller:
    """Return the caller as work of this run, and move the part of the current job below the run."""
    if caller.trace is None or not execution.trace_parent:
        return caller
    trace_id = TraceOrigin.of_parent(execution.trace_parent).trace_id
    origin = TraceOrigin(trace_id, run_span_id(execution.id))
    active = current_span()
    if active is not None and active.part.is_optional and active is active.part.root:
        active.part.move_below(origin)
        active.part.fields["workflow_id"] = execution.workflow_id
    return msgspec.structs.replace(caller, trace=origin)


@contextmanager
def recording_node(step: NodeStep) -> Iterator[ActiveSpan | None]:
    """Record a node; nodes that run in one transaction are beside each other, below the run."""
    with unit_span(f"workflow_node {step.node.type}", "workflow_node") as span:
        if span is not None:
            span.span.parent_span_id = run_span_id(step.execution.id)
            span.set(
                {
                    names.NODE_ID: step.node.id,
                    names.WORKFLOW_ID: step.execution.workflow_id,
                    names.EXECUTION_ID: step.execution.id,
                }
            )
        yield span


def describe_outcome(span: ActiveSpan | None, outcome: object) -> None:
    if span is not None and isinstance(outcome, NodeFailed):
        span.fail(outcome.code, outcome.message)


async def store_run(ctx: Context, execution: WorkflowExecution) -> None:
    """Store the span of a run that has ended, in the transaction that ends it."""
    if ctx.caller.trace is None or not execution.trace_parent:
        return
    origin = TraceOrigin.of_parent(execution.trace_parent)
    workflow = await ctx.db.get(Workflow, execution.workflow_id)
    name = workflow.name if workflow is not None else execution.workflow_id
    recording = recording_part(
        ctx, f"invoke_workflow {name}", "workflow", origin=origin, is_nested=False,
        workflow_id=execution.workflow_id,
    )  # fmt: skip
    if isinstance(recording, PartRecorder):
        _describe_run(recording, execution, name)
        await store_recorder(ctx, recording)


def _describe_run(recording: PartRecorder, execution: WorkflowExecution, name: str) -> None:
    root = recording.root
    began = parse_instant(execution.started_at or execution.created_at).timestamp()
    ended = parse_instant(execution.completed_at or execution.created_at).timestamp()
    root.span.span_id = run_span_id(execution.id)
    root.span.started_ns = int(began * 1e9)
    root.span.duration_ns = max(1, int((ended - began) * 1e9))
    root.span.execution_id = execution.id
    root.set(
        {
            names.OPERATION: "invoke_workflow",
            names.WORKFLOW_NAME: name,
            names.WORKFLOW_ID: execution.workflow_id,
            names.EXECUTION_ID: execution.id,
        }
    )
    if execution.error is not None:
        root.fail(str(execution.error.get("code", "failed")), str(execution.error.get("message", "")))
