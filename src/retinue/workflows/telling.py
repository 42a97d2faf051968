"""Who is told how a run ended: its starter, and the channel that its workflow names for failures."""

from retinue.kit.context import Context
from retinue.kit.jobs.declare import job
from retinue.notifications.models import Channel, Priority
from retinue.notifications.service import notify
from retinue.notifications.words import Notification, Recipients, Route
from retinue.workflows.models import RunStatus, Workflow, WorkflowExecution, WorkflowVersion
from retinue.workflows.turns import EndedExecution


@job()
async def tell_of_end(ctx: Context, payload: EndedExecution) -> None:
    execution = await ctx.db.get(WorkflowExecution, payload.execution_id)
    workflow = await ctx.db.get(Workflow, execution.workflow_id) if execution is not None else None
    if execution is None or workflow is None:
        return
    notification = _words(execution, workflow)
    await notify(ctx, notification, Recipients(user_ids=(execution.run_as,)))
    version = await ctx.db.get(WorkflowVersion, execution.version_id)
    channel_id = version.settings.get("on_failure_channel_id") if version is not None else None
    if channel_id and execution.status is not RunStatus.completed:
        channel = await ctx.db.get(Channel, channel_id)
        if channel is not None and channel.is_active:
            await notify(ctx, notification, Recipients(), Route(channels=(channel,)))


def _words(execution: WorkflowExecution, workflow: Workflow) -> Notification:
    data = {
        "workflow_id": workflow.id,
        "execution_id": execution.id,
        "status": execution.status,
        "error": execution.error,
    }
    if execution.status is RunStatus.completed:
        return Notification(
            type="workflow_completed",
            title=f"Workflow {workflow.name} completed",
            message=f"The workflow {workflow.name} ran to its end.",
            data=data,
            dedupe_key=execution.id,
        )
    said = (execution.error or {}).get("message", "")
    where = (execution.error or {}).get("node_id")
    at = f" at the node {where}" if where else ""
    return Notification(
        type="workflow_failed",
        title=f"Workflow {workflow.name} failed",
        message=f"The workflow {workflow.name} failed{at}: {said}",
        data=data,
        priority=Priority.high,
        dedupe_key=execution.id,
    )
