"""Executions for users: start, wait, cancel and retry."""

from collections.abc import Awaitable, Callable

from retinue.kit.context import Context
from retinue.kit.errors import Invalid, InvalidTransition
from retinue.kit.http.idempotent_steps import idempotent_step
from retinue.workflows.engine import graph
from retinue.workflows.engine.cancel import cancel_execution
from retinue.workflows.engine.start import PriorProgress, StartRequest, start_execution
from retinue.workflows.engine.watchers import wait_until_ended
from retinue.workflows.errors import WorkflowExecutionNotFound, WorkflowNotFound
from retinue.workflows.loaders import fetch_workflow
from retinue.workflows.models import (
    ENDED_STATUSES,
    NODE_TRY,
    WHOLE_NODE,
    NodeRun,
    NodeStatus,
    RunStatus,
    Workflow,
    WorkflowExecution,
    WorkflowVersion,
)
from retinue.workflows.queries import load_definition, load_node_runs
from retinue.workflows.read_access import may_read
from retinue.workflows.schemas import (
    WorkflowExecute,
    WorkflowExecutionAccepted,
    WorkflowExecutionOut,
    WorkflowRetry,
    accepted,
    redacted_execution,
    shown_execution,
)
from retinue.workflows.spendings import load_spent_inside
from retinue.workflows.versions import resolve_version

_DONE_STATUSES = {NodeStatus.completed, NodeStatus.skipped}


async def execute(
    ctx: Context, workflow: Workflow, body: WorkflowExecute, *, is_draft: bool
) -> WorkflowExecutionOut | WorkflowExecutionAccepted:
    async def start(unit: Context) -> WorkflowExecution:
        return await _start_manually(unit, workflow, body, is_draft=is_draft)

    return await run_and_wait(ctx, body.wait, start)


async def run_and_wait(
    ctx: Context, wait_s: float, start: Callable[[Context], Awaitable[WorkflowExecution]]
) -> WorkflowExecutionOut | WorkflowExecutionAccepted:
    """Start an execution and wait for its end; return it in full if it ends in time."""
    if not wait_s:
        # In the request's own transaction, together with the response that an Idempotency-Key stores.
        return accepted(await start(ctx))

    async def start_once(unit: Context) -> str:
        return (await start(unit)).id

    execution_id = await idempotent_step(ctx, "start", str, start_once)
    execution = await wait_until_ended(ctx.detached(), execution_id, wait_s)
    if execution is None:
        raise WorkflowExecutionNotFound
    return (
        await load_detail(ctx.detached(), execution)
        if execution.status in ENDED_STATUSES
        else accepted(execution)
    )


async def _start_manually(
    ctx: Context, workflow: Workflow, body: WorkflowExecute, *, is_draft: bool
) -> WorkflowExecution:
    await ctx.unit_of_work.begin()
    current = await fetch_workflow(ctx, workflow.id)
    return await start_execution(
        ctx,
        StartRequest(
            version=await resolve_version(ctx, current, is_draft=is_draft),
            input=body.input,
            trigger="manual",
            trigger_id=ctx.principal.id,
            run_as=ctx.principal.id,
            may_queue=False,
        ),
    )


async def load_detail(ctx: Context, execution: WorkflowExecution) -> WorkflowExecutionOut:
    runs = await load_node_runs(ctx, execution.id)
    shown = shown_execution(ctx, execution, runs, await load_spent_inside(ctx, execution.id))
    return shown if await may_read(ctx, execution) else redacted_execution(shown)


async def cancel(ctx: Context, execution: WorkflowExecution) -> WorkflowExecution:
    ended = await cancel_execution(ctx, execution.id)
    if ended is None:
        raise InvalidTransition(execution.status, RunStatus.cancelled, [])
    return ended


async def retry(ctx: Context, execution: WorkflowExecution, body: WorkflowRetry) -> WorkflowExecution:
    """Start another execution of the same version that keeps the results of finished nodes."""
    if execution.status not in ENDED_STATUSES:
        raise InvalidTransition(execution.status, RunStatus.pending, [])
    if execution.status is RunStatus.completed and body.from_node is None:
        raise Invalid({"from_node": "is required, because every node of this execution has completed"})
    version = await ctx.db.get(WorkflowVersion, execution.version_id)
    if version is None:
        raise WorkflowNotFound
    request = StartRequest(
        version=version,
        input=execution.input,
        trigger=execution.trigger,
        trigger_id=execution.trigger_id,
        trigger_data=execution.trigger_data,
        run_as=ctx.principal.id,
        retry_of=execution.id,
        prior=await _prior_progress(ctx, execution, body.from_node),
        conversation_ids=execution.conversation_ids,
        may_queue=False,
    )
    return await start_execution(ctx, request)


async def _prior_progress(ctx: Context, execution: WorkflowExecution, from_node: str | None) -> PriorProgress:
    definition = await load_definition(ctx, execution.version_id)
    if from_node is not None and from_node not in definition.nodes:
        raise Invalid({"from_node": "is not the id of a node of this version"})
    if execution.trigger == NODE_TRY and from_node is not None and definition.outgoing[from_node]:
        raise Invalid({"from_node": "is a given result and no node that ran; try that node instead"})
    runs = {run.node_id: run for run in await load_node_runs(ctx, execution.id) if run.item == WHOLE_NODE}
    failed_at = (execution.error or {}).get("node_id")
    unfinished = [id for id in definition.nodes if id not in runs or not _is_done(runs[id], failed_at)]
    rerun_ids = graph.descendants_of(definition, [*unfinished, *([from_node] if from_node else [])])
    kept_runs = [run for id, run in runs.items() if id not in rerun_ids]
    edges = execution.progress or graph.OPEN * len(definition.edges)
    end_outputs = [
        run.output for run in kept_runs if run.type == "end" and run.status is NodeStatus.completed
    ]
    return PriorProgress(
        runs=kept_runs,
        advance=graph.retry_advance(definition, edges, rerun_ids),
        output=end_outputs[-1] if end_outputs else None,
    )


def _is_done(run: NodeRun, failed_at: str | None) -> bool:
    """Return whether the node keeps its result; so does one whose failure the workflow handled."""
    return run.status in _DONE_STATUSES or (run.status is NodeStatus.failed and run.node_id != failed_at)
