"""Notifications about the end of an execution: to its starter and, after a failure, to a channel."""

import msgspec

from retinue.kit.context import Context
from retinue.notifications.channels import find_reachable
from retinue.notifications.models import Priority
from retinue.notifications.notification import Notification, NotificationRoute, Recipients
from retinue.notifications.service import notify
from retinue.workflows.job_kinds import EndedExecution
from retinue.workflows.models import RunStatus, Workflow, WorkflowExecution, WorkflowVersion


async def notify_end(ctx: Context, payload: EndedExecution) -> None:
    execution = await ctx.db.get(WorkflowExecution, payload.execution_id)
    workflow = await ctx.db.get(Workflow, execution.workflow_id) if execution is not None else None
    if execution is None or workflow is None:
        return
    ctx.quote(*(execution.conversation_ids or ()))
    notification = _notification_for(execution, workflow)
    version = await ctx.db.get(WorkflowVersion, execution.version_id)
    channel_id = version.settings.get("on_failure_channel_id") if version is not None else None
    notifies_channel = bool(channel_id) and execution.status is not RunStatus.completed
    channels, problems = await find_reachable(ctx, [str(channel_id)] if notifies_channel else [])
    for_starter = msgspec.structs.replace(
        notification, message="\n\n".join([notification.message, *problems])
    )
    await notify(ctx, for_starter, Recipients(user_ids=(execution.run_as,)))
    for channel in channels:
        await notify(ctx, notification, Recipients(), NotificationRoute(channels=(channel,)))


def _notification_for(execution: WorkflowExecution, workflow: Workflow) -> Notification:
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
            message=f"The workflow {workflow.name} has completed.",
            data=data,
            dedupe_key=execution.id,
        )
    error_message = (execution.error or {}).get("message", "")
    failed_node_id = (execution.error or {}).get("node_id")
    location = f" at the node {failed_node_id}" if failed_node_id else ""
    return Notification(
        type="workflow_failed",
        title=f"Workflow {workflow.name} failed",
        message=f"The workflow {workflow.name} failed{location}: {error_message}",
        data=data,
        priority=Priority.high,
        dedupe_key=execution.id,
    )
