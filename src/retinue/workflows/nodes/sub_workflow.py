"""The node that runs another workflow and returns its output."""

from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.workflows.engine.cancel import cancel_execution
from retinue.workflows.engine.node_type import (
    NodeCheck,
    NodeCompleted,
    NodeFailed,
    NodeStep,
    NodeSuspended,
    NodeType,
    Problems,
)
from retinue.workflows.engine.start import StartRequest, start_execution
from retinue.workflows.models import NodeRun, Workflow
from retinue.workflows.nodes.checks import problems_of_reference
from retinue.workflows.nodes.wait import continuation_for
from retinue.workflows.versions import resolve_version


async def _run_sub_workflow(ctx: Context, step: NodeStep) -> NodeSuspended:
    workflow = await ctx.db.get(Workflow, str(step.config.get("workflow_id") or ""))
    if workflow is None:
        raise NodeFailed("workflow_not_found", "There is no such workflow.", is_final=True)
    request = StartRequest(
        version=await resolve_version(ctx, workflow),
        input=step.config.get("input", {}),
        trigger="workflow",
        trigger_id=step.execution.id,
        run_as=step.execution.run_as,
        waiter=continuation_for(step),
        depth=step.execution.depth + 1,
        is_awaited=True,
    )
    started = await start_execution(ctx, request)
    return NodeSuspended({"execution_id": started.id})


async def _resume_sub_workflow(
    ctx: Context, _step: NodeStep, _run: NodeRun, result: JsonObject
) -> NodeCompleted:
    ctx.quote(*(result.get("conversation_ids") or ()))
    if result.get("status") == "completed":
        return NodeCompleted(result.get("output"))
    error_message = (result.get("error") or {}).get("message", "")
    raise NodeFailed(
        "sub_workflow_failed", f"The workflow ended as {result.get('status')}. {error_message}".strip()
    )


async def _cancel(ctx: Context, _key: str, state: JsonObject) -> None:
    await cancel_execution(ctx, state.get("execution_id", ""))


async def _check(node_check: NodeCheck) -> Problems:
    return await problems_of_reference(node_check, "workflow_id", Workflow, "There is no such workflow.")


SUB_WORKFLOW = NodeType(
    type="sub_workflow",
    name="Sub-workflow",
    description="Runs another workflow to its end and returns its output.",
    config_schema={
        "type": "object",
        "properties": {
            "workflow_id": {"type": "string", "minLength": 1, "maxLength": 64},
            "input": {},
        },
        "required": ["workflow_id"],
    },
    check=_check,
    run=_run_sub_workflow,
    resume=_resume_sub_workflow,
    abandon=_cancel,
)
