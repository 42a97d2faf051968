"""Runs as people see them: started, waited for, cancelled, and taken up again after a failure."""

from retinue.kit.context import Context
from retinue.kit.errors import Invalid, InvalidTransition
from retinue.kit.http.steps import step
from retinue.workflows import progress
from retinue.workflows.errors import ExecutionNotFound, WorkflowNotFound
from retinue.workflows.live import until_ended
from retinue.workflows.loaders import fetch_workflow
from retinue.workflows.models import (
    ENDED,
    WHOLE,
    NodeRun,
    NodeStatus,
    RunStatus,
    Workflow,
    WorkflowExecution,
    WorkflowVersion,
)
from retinue.workflows.queries import definition_of, runs_of
from retinue.workflows.schemas import (
    WorkflowExecute,
    WorkflowExecutionAccepted,
    WorkflowExecutionOut,
    WorkflowRetry,
    accepted,
    shown_execution,
)
from retinue.workflows.service import cancel_execution, version_to_run
from retinue.workflows.starting import Done, Start, start

_IS_DONE = {NodeStatus.completed, NodeStatus.skipped}


async def execute(
    ctx: Context, workflow: Workflow, body: WorkflowExecute, *, is_draft: bool
) -> WorkflowExecutionOut | WorkflowExecutionAccepted:
    if not body.wait:
        # In the request's own transaction, with the answer that an Idempotency-Key keeps.
        return accepted(await _start(ctx, workflow, body, is_draft=is_draft))

    async def begin(unit: Context) -> str:
        return (await _start(unit, workflow, body, is_draft=is_draft)).id

    execution_id = await step(ctx, "start", str, begin)
    execution = await until_ended(ctx.apart(), execution_id, body.wait)
    if execution is None:
        raise ExecutionNotFound
    return await detail(ctx.apart(), execution) if execution.status in ENDED else accepted(execution)


async def _start(
    ctx: Context, workflow: Workflow, body: WorkflowExecute, *, is_draft: bool
) -> WorkflowExecution:
    await ctx.unit_of_work.begin()
    current = await fetch_workflow(ctx, workflow.id)
    return await start(
        ctx,
        Start(
            version=await version_to_run(ctx, current, is_draft=is_draft),
            input=body.input,
            trigger="manual",
            trigger_id=ctx.principal.id,
            run_as=ctx.principal.id,
            may_wait=False,
        ),
    )


async def detail(ctx: Context, execution: WorkflowExecution) -> WorkflowExecutionOut:
    return shown_execution(execution, await runs_of(ctx, execution.id))


async def cancel(ctx: Context, execution: WorkflowExecution) -> WorkflowExecution:
    ended = await cancel_execution(ctx, execution.id)
    if ended is None:
        raise InvalidTransition(execution.status, RunStatus.cancelled, [])
    return ended


async def retry(ctx: Context, execution: WorkflowExecution, body: WorkflowRetry) -> WorkflowExecution:
    """Another run of the same version, in which the nodes that are done stay done."""
    if execution.status not in ENDED:
        raise InvalidTransition(execution.status, RunStatus.pending, [])
    if execution.status is RunStatus.completed and body.from_node is None:
        raise Invalid({"from_node": "is required, because every node of this execution is done"})
    version = await ctx.db.get(WorkflowVersion, execution.version_id)
    if version is None:
        raise WorkflowNotFound
    wanted = Start(
        version=version,
        input=execution.input,
        trigger=execution.trigger,
        trigger_id=execution.trigger_id,
        trigger_data=execution.trigger_data,
        run_as=ctx.principal.id,
        retry_of=execution.id,
        done=await _done_before(ctx, execution, body.from_node),
        may_wait=False,
    )
    return await start(ctx, wanted)


async def _done_before(ctx: Context, execution: WorkflowExecution, from_node: str | None) -> Done:
    definition = await definition_of(ctx, execution.version_id)
    if from_node is not None and from_node not in definition.nodes:
        raise Invalid({"from_node": "is not the id of a node of this version"})
    runs = {run.node_id: run for run in await runs_of(ctx, execution.id) if run.item == WHOLE}
    failed_at = (execution.error or {}).get("node_id")
    left = [id for id in definition.nodes if id not in runs or not _is_done(runs[id], failed_at)]
    again = progress.following(definition, [*left, *([from_node] if from_node else [])])
    kept = [run for id, run in runs.items() if id not in again]
    edges = execution.progress or progress.OPEN * len(definition.edges)
    ends = [run.output for run in kept if run.type == "end" and run.status is NodeStatus.completed]
    return Done(
        runs=kept,
        advance=progress.begin_again(definition, edges, again),
        output=ends[-1] if ends else None,
    )


def _is_done(run: NodeRun, failed_at: str | None) -> bool:
    """A failure that the workflow went on after is done as well."""
    return run.status in _IS_DONE or (run.status is NodeStatus.failed and run.node_id != failed_at)
