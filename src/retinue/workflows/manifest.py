from retinue.kit.continuations import Continuation
from retinue.kit.manifest import Manifest
from retinue.kit.references import Reference
from retinue.kit.tool_kinds import ToolKind
from retinue.workflows.events import (
    WorkflowCreated,
    WorkflowDeleted,
    WorkflowExecutionCompleted,
    WorkflowExecutionFailed,
    WorkflowExecutionStarted,
    WorkflowNodeCompleted,
    WorkflowPublished,
    WorkflowUpdated,
)
from retinue.workflows.jobs import end_overdue_executions, forget_old_executions
from retinue.workflows.models import (
    NodeRun,
    Workflow,
    WorkflowExecution,
    WorkflowSchedule,
    WorkflowVersion,
)
from retinue.workflows.queries import find_users, keep_reference
from retinue.workflows.room import begin_pending, look_for_room
from retinue.workflows.routes import ROUTES
from retinue.workflows.running import abandon_node, resume, run_call, run_step
from retinue.workflows.schedules import fire_late_schedules, fire_schedule
from retinue.workflows.telling import tell_of_end
from retinue.workflows.tool_kind import run as run_tool
from retinue.workflows.triggers import ROUTER, STARTER, start_by_event

manifest = Manifest(
    name="workflows",
    records=(Workflow, WorkflowVersion, WorkflowExecution, NodeRun, WorkflowSchedule),
    routes=ROUTES,
    events=(
        WorkflowCreated,
        WorkflowUpdated,
        WorkflowDeleted,
        WorkflowPublished,
        WorkflowExecutionStarted,
        WorkflowExecutionCompleted,
        WorkflowExecutionFailed,
        WorkflowNodeCompleted,
    ),
    jobs=(
        run_step,
        run_call,
        abandon_node,
        begin_pending,
        look_for_room,
        start_by_event,
        fire_schedule,
        fire_late_schedules,
        end_overdue_executions,
        forget_old_executions,
        tell_of_end,
    ),
    references=tuple(
        Reference(to=thing, kind="workflows", find=find_users, detach=keep_reference)
        for thing in ("agent", "tool", "data_table")
    ),
    tool_kinds=(ToolKind(name="workflow", run=run_tool),),
    routers=(ROUTER,),
    workflow_starters=(STARTER,),
    continuations=(Continuation("workflow_node", resume),),
)
