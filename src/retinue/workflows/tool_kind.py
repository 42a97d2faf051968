"""A workflow as a tool: `config.kind = "workflow"`; the tool's input is the workflow's."""

from typing import Any

from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.tool_kinds import ToolRun
from retinue.workflows.live import until_ended
from retinue.workflows.loaders import fetch_workflow
from retinue.workflows.models import ENDED, RunStatus, Workflow
from retinue.workflows.service import cancel_execution, version_to_run
from retinue.workflows.starting import Start, start

# What is left of the tool's time to say that it was not enough.
_MARGIN_S = 0.5


class ToolNotConfigured(RetinueError):
    """config.workflow_id must name a workflow."""

    status, code = 422, "not_configured"


class WorkflowFailed(RetinueError):
    """The workflow failed."""

    status, code = 422, "runtime_error"


class WorkflowTimedOut(RetinueError):
    """The workflow did not end in time."""

    status, code = 504, "timeout"


def _acting(ctx: Context, workflow: Workflow) -> str:
    """Whoever gave an agent the tool let its users have the workflow run, though they could not run it."""
    caller = ctx.principal
    may_run_it = caller.kind == "user" and caller.may("workflows:execute")
    return caller.id if may_run_it else workflow.created_by


async def run(ctx: Context, call: ToolRun) -> Any:
    """What the workflow gives back; one that takes longer than the tool may is cancelled."""
    workflow_id = call.config.get("workflow_id")
    if not isinstance(workflow_id, str) or not workflow_id:
        raise ToolNotConfigured
    async with ctx.unit() as unit:
        workflow = await fetch_workflow(unit, workflow_id)
        started = await start(
            unit,
            Start(
                version=await version_to_run(unit, workflow),
                input=call.input,
                trigger="tool",
                trigger_id=call.agent_id or "",
                run_as=_acting(ctx, workflow),
            ),
        )
    ended = await until_ended(ctx.apart(), started.id, max(0.1, call.timeout_s - _MARGIN_S))
    if ended is None or ended.status not in ENDED:
        async with ctx.unit() as unit:
            await cancel_execution(unit, started.id)
        raise WorkflowTimedOut
    if ended.status is not RunStatus.completed:
        said = (ended.error or {}).get("message", "")
        raise WorkflowFailed(f"The workflow ended as {ended.status}. {said}".strip())
    return ended.output
