"""Workflows as tools (`config.kind = "workflow"`): the tool's input is the workflow's input."""

from typing import Any, Literal

from retinue.kit.context import Context
from retinue.kit.context.tool_kinds import ToolConfig, ToolKind, ToolRun, parse_tool_config
from retinue.kit.errors import InternalError
from retinue.workflows.engine import lent_slots
from retinue.workflows.engine.cancel import cancel_execution
from retinue.workflows.engine.lineage import Lineage
from retinue.workflows.engine.start import StartRequest, start_execution
from retinue.workflows.engine.watchers import wait_until_ended
from retinue.workflows.loaders import fetch_workflow
from retinue.workflows.models import ENDED_STATUSES, RunStatus, Workflow
from retinue.workflows.versions import resolve_version

# Reserved at the end of the tool's time for cancelling the execution and reporting the timeout.
_TIMEOUT_MARGIN_SECONDS = 0.5


class WorkflowToolNotConfigured(InternalError):
    """config.workflow_id must be the id of a workflow."""

    code = "not_configured"
    shown_in = "tool executions"


class WorkflowToolConfig(ToolConfig, kw_only=True):
    """Configuration of a `custom` tool that runs a workflow."""

    kind: Literal["workflow"]
    workflow_id: str


class WorkflowFailed(InternalError):
    """The workflow failed."""

    code = "runtime_error"
    shown_in = "tool executions"


class WorkflowTimedOut(InternalError):
    """The workflow did not end within the tool's timeout. Increase timeout_ms of the tool."""

    code = "timeout"
    shown_in = "tool executions"


def _run_as(ctx: Context, workflow: Workflow) -> str:
    """Return the caller's id, or the workflow creator's if the caller may not execute workflows.

    Attaching the tool to an agent lets everyone who may chat with the agent run the workflow.
    """
    caller = ctx.principal
    may_run_it = caller.owner_id and caller.may("workflows:execute")
    return caller.id if may_run_it else workflow.created_by


async def run(ctx: Context, call: ToolRun) -> Any:
    """Run the workflow and return its output; cancel it if it exceeds the tool's timeout."""
    config = parse_tool_config(call, WorkflowToolConfig, WorkflowToolNotConfigured)
    if not config.workflow_id:
        raise WorkflowToolNotConfigured
    awaited_by, lineage = ctx.caller.awaited_by, Lineage.of(ctx)
    async with ctx.unit() as unit:
        if awaited_by:
            await lent_slots.lend_slot(unit, awaited_by)
        workflow = await fetch_workflow(unit, config.workflow_id)
        started = await start_execution(
            unit,
            StartRequest(
                version=await resolve_version(unit, workflow),
                input=call.input,
                trigger="tool",
                trigger_id=call.agent_id or "",
                run_as=_run_as(ctx, workflow),
                depth=lineage.depth + 1 if lineage is not None else 0,
                is_awaited=True,
            ),
        )
    ended = await wait_until_ended(
        ctx.detached(), started.id, max(0.1, call.timeout_s - _TIMEOUT_MARGIN_SECONDS)
    )
    if awaited_by:
        async with ctx.unit() as unit:
            await lent_slots.reclaim_slot(unit, awaited_by)
    if ended is None or ended.status not in ENDED_STATUSES:
        async with ctx.unit() as unit:
            await cancel_execution(unit, started.id)
        raise WorkflowTimedOut
    ctx.quote(*(ended.conversation_ids or ()))
    if ended.status is not RunStatus.completed:
        error_message = (ended.error or {}).get("message", "")
        raise WorkflowFailed(f"The workflow ended as {ended.status}. {error_message}".strip())
    return ended.output


TOOL_KIND = ToolKind(name="workflow", run=run, config=WorkflowToolConfig)
