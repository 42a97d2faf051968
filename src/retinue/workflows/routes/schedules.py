from retinue.kit.context import Context
from retinue.kit.http.routing import Routes
from retinue.workflows import schedules
from retinue.workflows.errors import ScheduleNotFound, TooManySchedules
from retinue.workflows.loaders import ScheduleById, WorkflowById
from retinue.workflows.models import WorkflowSchedule
from retinue.workflows.schemas import WorkflowScheduleCreate, WorkflowScheduleOut

routes = Routes("/api/v1/workflows/{workflow_id}/schedules", tag="workflows", wrap=True)


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


@routes.delete("", requires="workflows:write", status=204)
async def delete_workflow_schedules(ctx: Context, workflow: WorkflowById) -> None:
    """Delete all schedules of the workflow, including the one of its trigger."""
    await schedules.delete_all(ctx, workflow)


@routes.delete("/{schedule_id}", requires="workflows:write", status=204)
async def delete_workflow_schedule(ctx: Context, workflow: WorkflowById, schedule: ScheduleById) -> None:
    """Delete one schedule. Executions that it started continue."""
    if schedule.workflow_id != workflow.id:
        raise ScheduleNotFound
    await ctx.db.delete(schedule)
