"""A workflow as a tool: `config.kind = "workflow"`; the tool's input is the workflow's."""

from typing import Any

import msgspec

from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.events.dispatch import MOST_HOPS
from retinue.kit.tool_kinds import ToolRun
from retinue.workflows.errors import TooDeep
from retinue.workflows.live import until_ended
from retinue.workflows.loaders import fetch_workflow
from retinue.workflows.models import ENDED, RunStatus
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


async def run(ctx: Context, call: ToolRun) -> Any:
    """What the workflow gives back; one that takes longer than the tool may is cancelled."""
    workflow_id = call.config.get("workflow_id")
    if not isinstance(workflow_id, str) or not workflow_id:
        raise ToolNotConfigured
    if ctx.caller.hops >= MOST_HOPS:
        raise TooDeep
    async with ctx.unit() as unit:
        unit.caller = msgspec.structs.replace(ctx.caller, hops=ctx.caller.hops + 1)
        workflow = await fetch_workflow(unit, workflow_id)
        started = await start(
            unit,
            Start(
                version=await version_to_run(unit, workflow),
                input=call.input,
                trigger="tool",
                trigger_id=call.agent_id or "",
                run_as=ctx.principal.id if ctx.principal.kind == "user" else workflow.created_by,
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
