"""A node that is a workflow itself: its output is the node's."""

from typing import Any

from retinue.kit.context import Context
from retinue.workflows.models import NodeRun, Workflow
from retinue.workflows.nodes.checks import problems_of_reference
from retinue.workflows.nodes.kinds import Checking, Done, NodeFailed, NodeType, Problems, Step, Waits
from retinue.workflows.nodes.waiting import waiting


async def _start(ctx: Context, step: Step) -> Waits:
    # Starting stands above the nodes, which it runs.
    from retinue.workflows.service import version_to_run
    from retinue.workflows.starting import Start, start

    workflow = await ctx.db.get(Workflow, str(step.config.get("workflow_id") or ""))
    if workflow is None:
        raise NodeFailed("workflow_not_found", "There is no such workflow.", is_final=True)
    wanted = Start(
        version=await version_to_run(ctx, workflow),
        input=step.config.get("input", {}),
        trigger="workflow",
        trigger_id=step.execution.id,
        run_as=step.execution.run_as,
        waiter=waiting(step),
        depth=step.execution.depth + 1,
    )
    started = await start(ctx, wanted)
    return Waits({"execution_id": started.id})


async def _ended(_ctx: Context, _step: Step, _run: NodeRun, result: dict[str, Any]) -> Done:
    if result.get("status") == "completed":
        return Done(result.get("output"))
    said = (result.get("error") or {}).get("message", "")
    raise NodeFailed("sub_workflow_failed", f"The workflow ended as {result.get('status')}. {said}".strip())


async def _cancel(ctx: Context, _key: str, state: dict[str, Any]) -> None:
    from retinue.workflows.service import cancel_execution

    await cancel_execution(ctx, state.get("execution_id", ""))


async def _check(checking: Checking) -> Problems:
    return await problems_of_reference(checking, "workflow_id", Workflow, "There is no such workflow.")


SUB_WORKFLOW = NodeType(
    type="sub_workflow",
    name="Sub-workflow",
    description="Runs another workflow to its end, and gives back its output.",
    config_schema={
        "type": "object",
        "properties": {
            "workflow_id": {"type": "string", "minLength": 1, "maxLength": 64},
            "input": {},
        },
        "required": ["workflow_id"],
    },
    check=_check,
    run=_start,
    resume=_ended,
    abandon=_cancel,
)
