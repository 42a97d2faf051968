from retinue.kit.context import Context
from retinue.kit.http.routing import Routes
from retinue.workflows import schedules
from retinue.workflows.errors import ScheduleNotFound, TooManySchedules
from retinue.workflows.loaders import ScheduleById, WorkflowById
from retinue.workflows.models import Workflow, WorkflowSchedule
from retinue.workflows.schemas import (
    SchedulePreview,
    SchedulePreviewRequest,
    WorkflowScheduleCreate,
    WorkflowScheduleOut,
    WorkflowScheduleUpdate,
)

routes = Routes("/api/v1/workflows/{workflow_id}/schedules", tag="workflows", wrap=True)
preview_routes = Routes("/api/v1/schedules", tag="workflows", wrap=True)


@routes.get("", requires="workflows:read")
async def list_workflow_schedules(ctx: Context, workflow: WorkflowById) -> list[WorkflowScheduleOut]:
    """Return the schedules of a workflow, oldest first. A trigger of type `schedule` is one of them."""
    found = await ctx.db.all(WorkflowSchedule, order_by=("created_at", "id"), workflow_id=workflow.id)
    return [schedules.render_schedule(one) for one in found]


@routes.post("", requires="workflows:write", status=201, errors=(TooManySchedules,))
async def create_workflow_schedule(
    ctx: Context, workflow: WorkflowById, body: WorkflowScheduleCreate
) -> WorkflowScheduleOut:
    """Add a schedule, at most 20 per workflow.

    It starts the workflow only while the workflow is published. Missed times are skipped.
    """
    return schedules.render_schedule(await schedules.create(ctx, workflow, body))


@routes.patch("/{schedule_id}", requires="workflows:write")
async def update_workflow_schedule(
    ctx: Context, workflow: WorkflowById, schedule: ScheduleById, body: WorkflowScheduleUpdate
) -> WorkflowScheduleOut:
    """Change the fields that are sent.

    The schedule of a trigger can only be switched on and off here; its times and input follow the trigger.
    """
    _require_own(workflow, schedule)
    return schedules.render_schedule(await schedules.update(ctx, schedule, body))


@routes.delete("", requires="workflows:write", status=204)
async def delete_workflow_schedules(ctx: Context, workflow: WorkflowById) -> None:
    """Delete all schedules of the workflow, including the one of its trigger."""
    await schedules.delete_all(ctx, workflow)


@routes.delete("/{schedule_id}", requires="workflows:write", status=204)
async def delete_workflow_schedule(ctx: Context, workflow: WorkflowById, schedule: ScheduleById) -> None:
    """Delete one schedule. Executions that it started continue."""
    _require_own(workflow, schedule)
    await ctx.db.delete(schedule)


def _require_own(workflow: Workflow, schedule: WorkflowSchedule) -> None:
    if schedule.workflow_id != workflow.id:
        raise ScheduleNotFound


@preview_routes.post("/preview", requires="workflows:read")
async def preview_schedule(ctx: Context, body: SchedulePreviewRequest) -> SchedulePreview:
    """Return in words and as the next five times when a schedule would fire.

    Nothing is stored. A cron expression or a time zone that cannot be understood answers 422.
    """
    return schedules.preview(ctx, body)
