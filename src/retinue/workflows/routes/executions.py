from retinue.kit.context import Context
from retinue.kit.errors import Invalid, InvalidTransition, RateLimited
from retinue.kit.http.replies import EventStream, Reply
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page
from retinue.workflows import executions
from retinue.workflows.errors import ExecutionNotFound, WorkflowNotPublished
from retinue.workflows.loaders import ExecutionById, WorkflowById, require_own
from retinue.workflows.queries import EXECUTIONS
from retinue.workflows.schemas import (
    ExecuteQuery,
    ExecutionList,
    WorkflowExecute,
    WorkflowExecutionAccepted,
    WorkflowExecutionOut,
    WorkflowExecutionSummary,
    WorkflowRetry,
    accepted,
)
from retinue.workflows.streaming import follow

routes = Routes("/api/v1/workflows/{workflow_id}", tag="workflows", wrap=True)

_READ, _EXECUTE = "workflows:read", "workflows:execute"


@routes.post(
    "/execute",
    requires=_EXECUTE,
    status=202,
    other_status=200,
    cost="execute",
    calls_out=True,
    errors=(WorkflowNotPublished, RateLimited, ExecutionNotFound),
)
async def execute_workflow(
    ctx: Context, workflow: WorkflowById, body: WorkflowExecute, query: ExecuteQuery
) -> Reply[WorkflowExecutionOut | WorkflowExecutionAccepted]:
    """200 with the whole execution if it ended within `wait` seconds; `draft` runs what is not published."""
    answer = await executions.execute(ctx, workflow, body, is_draft=query.draft)
    return Reply(answer, status=200 if isinstance(answer, WorkflowExecutionOut) else 202)


@routes.get("/executions", requires=_READ, wrap=False)
async def list_workflow_executions(
    ctx: Context, workflow: WorkflowById, query: ExecutionList
) -> Page[WorkflowExecutionSummary]:
    """Newest first."""
    return (await EXECUTIONS.page(ctx.db, query, workflow_id=workflow.id)).shown(WorkflowExecutionSummary.of)


@routes.get("/executions/{workflow_execution_id}", requires=_READ)
async def get_workflow_execution(
    ctx: Context, workflow: WorkflowById, execution: ExecutionById
) -> WorkflowExecutionOut:
    return await executions.detail(ctx, require_own(workflow, execution))


@routes.post("/executions/{workflow_execution_id}/cancel", requires=_EXECUTE, errors=(InvalidTransition,))
async def cancel_workflow_execution(
    ctx: Context, workflow: WorkflowById, execution: ExecutionById
) -> WorkflowExecutionSummary:
    """Nothing of it begins any more; what calls outside at this moment is not heard when it comes back."""
    return WorkflowExecutionSummary.of(await executions.cancel(ctx, require_own(workflow, execution)))


@routes.post(
    "/executions/{workflow_execution_id}/retry",
    requires=_EXECUTE,
    status=202,
    cost="execute",
    errors=(InvalidTransition, RateLimited),
)
async def retry_workflow_execution(
    ctx: Context, workflow: WorkflowById, execution: ExecutionById, body: WorkflowRetry
) -> WorkflowExecutionAccepted:
    """Goes on at the node that failed, or at `from_node`; what was done before it stays done."""
    return accepted(await executions.retry(ctx, require_own(workflow, execution), body))


@routes.get("/executions/{workflow_execution_id}/stream", requires=_READ)
async def stream_workflow_execution(
    ctx: Context, workflow: WorkflowById, execution: ExecutionById, request: Request
) -> EventStream:
    """What its nodes do, until it has ended; goes on after the event of `Last-Event-ID`."""
    own, after = require_own(workflow, execution), _last_event(request)
    return EventStream(lambda: follow(ctx.apart(), own.id, after))


def _last_event(request: Request) -> int:
    given = request.header(b"last-event-id")
    if given and (not given.isascii() or not given.isdigit() or len(given) > 9):
        raise Invalid({"Last-Event-ID": "must be the id of an event"})
    return int(given or 0)
