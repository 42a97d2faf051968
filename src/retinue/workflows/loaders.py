from typing import Annotated

from retinue.kit.context import Context
from retinue.kit.http.routing import path_loader
from retinue.workflows.errors import ScheduleNotFound, WorkflowExecutionNotFound, WorkflowNotFound
from retinue.workflows.models import Workflow, WorkflowExecution, WorkflowSchedule

WorkflowById = Annotated[Workflow, path_loader(Workflow, "workflow_id", WorkflowNotFound)]
ExecutionById = Annotated[
    WorkflowExecution, path_loader(WorkflowExecution, "workflow_execution_id", WorkflowExecutionNotFound)
]
ScheduleById = Annotated[WorkflowSchedule, path_loader(WorkflowSchedule, "schedule_id", ScheduleNotFound)]


async def fetch_workflow(ctx: Context, workflow_id: str) -> Workflow:
    found = await ctx.db.get(Workflow, workflow_id)
    if found is None:
        raise WorkflowNotFound
    return found


def require_own(workflow: Workflow, execution: WorkflowExecution) -> WorkflowExecution:
    """Return the execution; raise if it belongs to another workflow."""
    if execution.workflow_id != workflow.id:
        raise WorkflowExecutionNotFound
    return execution
