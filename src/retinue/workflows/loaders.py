from typing import Annotated

from retinue.kit.context import Context
from retinue.kit.http.routing import loaded
from retinue.workflows.errors import ExecutionNotFound, ScheduleNotFound, WorkflowNotFound
from retinue.workflows.models import Workflow, WorkflowExecution, WorkflowSchedule

WorkflowById = Annotated[Workflow, loaded(Workflow, "workflow_id", WorkflowNotFound)]
ExecutionById = Annotated[
    WorkflowExecution, loaded(WorkflowExecution, "workflow_execution_id", ExecutionNotFound)
]
ScheduleById = Annotated[WorkflowSchedule, loaded(WorkflowSchedule, "schedule_id", ScheduleNotFound)]


async def fetch_workflow(ctx: Context, workflow_id: str) -> Workflow:
    found = await ctx.db.get(Workflow, workflow_id)
    if found is None:
        raise WorkflowNotFound
    return found


def require_own(workflow: Workflow, execution: WorkflowExecution) -> WorkflowExecution:
    """An execution is found below its own workflow only."""
    if execution.workflow_id != workflow.id:
        raise ExecutionNotFound
    return execution
