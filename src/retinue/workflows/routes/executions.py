from retinue.kit.context import Context
from retinue.kit.errors import Invalid, InvalidTransition, RateLimited
from retinue.kit.http.replies import EventStream, Reply
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page
from retinue.workflows import executions, node_tries
from retinue.workflows.errors import WorkflowExecutionNotFound, WorkflowNotPublished
from retinue.workflows.execution_stream import stream_events
from retinue.workflows.loaders import ExecutionById, WorkflowById, require_own
from retinue.workflows.queries import EXECUTIONS
from retinue.workflows.read_access import may_read, readable_execution_ids
from retinue.workflows.schemas import (
    WorkflowExecute,
    WorkflowExecuteQuery,
    WorkflowExecutionAccepted,
    WorkflowExecutionList,
    WorkflowExecutionOut,
    WorkflowExecutionSummary,
    WorkflowNodeTry,
    WorkflowRetry,
    accepted,
    shown_summary,
)
from retinue.workflows.spendings import NOTHING_KNOWN, load_spent

routes = Routes("/api/v1/workflows/{workflow_id}", tag="workflows", wrap=True)

_READ, _EXECUTE = "workflows:read", "workflows:execute"


@routes.post(
    "/execute",
    requires=_EXECUTE,
    status=202,
    other_status=200,
    cost="execute",
    calls_out=True,
    errors=(WorkflowNotPublished, RateLimited, WorkflowExecutionNotFound),
)
async def execute_workflow(
    ctx: Context, workflow: WorkflowById, body: WorkflowExecute, query: WorkflowExecuteQuery
) -> Reply[WorkflowExecutionOut | WorkflowExecutionAccepted]:
    """Start an execution of the published version.

    The answer is 202, or 200 with the whole execution if it ends within `wait` seconds. A workflow that is
    not published answers 409 `workflow_not_published` unless `draft` is true; a limit of the plan answers
    429.
    """
    answer = await executions.execute(ctx, workflow, body, is_draft=query.draft)
    return Reply(answer, status=200 if isinstance(answer, WorkflowExecutionOut) else 202)


@routes.post(
    "/nodes/try",
    requires=_EXECUTE,
    status=202,
    other_status=200,
    cost="execute",
    calls_out=True,
    errors=(RateLimited, WorkflowExecutionNotFound),
)
async def try_workflow_node(
    ctx: Context, workflow: WorkflowById, body: WorkflowNodeTry
) -> Reply[WorkflowExecutionOut | WorkflowExecutionAccepted]:
    """Run one node for real, with an input and results of other nodes that you give it.

    The node need not be saved, so `workflows:write` is required, too. It acts as in an execution: it sends,
    writes and spends. It is attempted once, and its failure ends the execution, which has the trigger `try`
    and is no run of the workflow. The answer is 202, or 200 with the whole execution if it ends within
    `wait` seconds.
    """
    answer = await node_tries.try_node(ctx, workflow, body)
    return Reply(answer, status=200 if isinstance(answer, WorkflowExecutionOut) else 202)


@routes.get("/executions", requires=_READ, wrap=False)
async def list_workflow_executions(
    ctx: Context, workflow: WorkflowById, query: WorkflowExecutionList
) -> Page[WorkflowExecutionSummary]:
    """Return the executions of a workflow, newest first.

    Executions are kept for 90 days. Error messages that quote a conversation the caller may not read are
    redacted.
    """
    found = await EXECUTIONS.page(ctx.db, query, workflow_id=workflow.id)
    readable = await readable_execution_ids(ctx, found.items)
    spent = await load_spent(ctx, [one.id for one in found.items])
    return found.to_page(
        lambda one: shown_summary(one, spent.get(one.id, NOTHING_KNOWN), is_readable=one.id in readable)
    )


@routes.get("/executions/{workflow_execution_id}", requires=_READ)
async def get_workflow_execution(
    ctx: Context, workflow: WorkflowById, execution: ExecutionById
) -> WorkflowExecutionOut:
    """Return an execution with its input, its output and what each node did.

    Values are redacted if they quote a conversation that the caller may not read.
    """
    return await executions.load_detail(ctx, require_own(workflow, execution))


@routes.post("/executions/{workflow_execution_id}/cancel", requires=_EXECUTE, errors=(InvalidTransition,))
async def cancel_workflow_execution(
    ctx: Context, workflow: WorkflowById, execution: ExecutionById
) -> WorkflowExecutionSummary:
    """End an execution.

    No further node starts, pending approvals and agent requests are cancelled, and the result of a call that
    is under way is discarded. An execution that has ended answers 409 `invalid_transition`.
    """
    ended = await executions.cancel(ctx, require_own(workflow, execution))
    spent = (await load_spent(ctx, [ended.id])).get(ended.id, NOTHING_KNOWN)
    return shown_summary(ended, spent, is_readable=await may_read(ctx, ended))


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
    """Start a new execution of the same version with the same input.

    It continues at the nodes that failed or did not run, or at `from_node`; results of earlier nodes are
    kept. An execution that has not ended answers 409 `invalid_transition`.
    """
    return accepted(await executions.retry(ctx, require_own(workflow, execution), body))


@routes.get("/executions/{workflow_execution_id}/stream", requires=_READ)
async def stream_workflow_execution(
    ctx: Context, workflow: WorkflowById, execution: ExecutionById, request: Request
) -> EventStream:
    """Stream what the execution does as Server-Sent Events, until it ends.

    The events are `execution_started`, `node_started`, `node_completed`, `approval_required`, then
    `execution_completed`, or `execution_failed` for every other end. Send `Last-Event-ID` to continue after
    an event.
    """
    own, after = require_own(workflow, execution), _last_event(request)
    return EventStream(lambda: stream_events(ctx.detached(), own.id, after))


def _last_event(request: Request) -> int:
    given = request.header(b"last-event-id")
    if given and (not given.isascii() or not given.isdigit() or len(given) > 9):
        raise Invalid({"Last-Event-ID": "must be the id of an event"})
    return int(given or 0)
