from retinue.kit.context import Context
from retinue.kit.errors import VaultSealed
from retinue.kit.http.replies import Reply
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page
from retinue.tools import read_access, statistics
from retinue.tools.errors import ToolDisabled, ToolExecutionNotFound
from retinue.tools.loaders import ExecutionById, ToolById
from retinue.tools.queries import EXECUTIONS
from retinue.tools.run import background
from retinue.tools.run.idempotent import execute_once
from retinue.tools.run.outcome import to_response
from retinue.tools.schemas import (
    Accepted,
    Execute,
    Executed,
    ExecutionOut,
    ToolExecuteQuery,
    ToolExecutionList,
    ToolStats,
    ToolStatsQuery,
)

routes = Routes("/v1/tools/{tool_id}", tag="tools", wrap=True)


@routes.post(
    "/execute",
    requires="tools:execute",
    cost="execute",
    other_status=202,
    calls_out=True,
    errors=(ToolDisabled, VaultSealed),
)
async def execute_tool(
    ctx: Context, tool: ToolById, query: ToolExecuteQuery, body: Execute
) -> Executed | Reply[Accepted]:
    """Run the tool and return its result.

    A run that fails or times out is answered with 200 as well: `status` and `error` say how it ended. With
    `async` the answer is 202, and the result is read from the execution.
    """
    if query.is_async:
        accepted = await background.enqueue_execution(ctx, tool, body.input)
        return Reply(Accepted(execution_id=accepted.id), status=202)
    return to_response(await execute_once(ctx, tool, body.input))


@routes.get("/executions", requires="tools:read", wrap=False)
async def list_executions(ctx: Context, tool: ToolById, query: ToolExecutionList) -> Page[ExecutionOut]:
    """Return executions that have ended, newest first.

    Entries from conversations that the caller may not read are redacted.
    """
    found = await EXECUTIONS.page(ctx.db, query, tool_id=tool.id)
    executions = await read_access.render_executions(ctx, found.items)
    return found.to_page(lambda execution: executions[execution.id])


@routes.get("/executions/{execution_id}", requires="tools:read")
async def get_execution(ctx: Context, tool: ToolById, execution: ExecutionById) -> ExecutionOut:
    """Return one execution in any state; poll it after an `async` request.

    It is redacted if the caller may not read the conversation it belongs to.
    """
    if execution.tool_id != tool.id:
        raise ToolExecutionNotFound
    return (await read_access.render_executions(ctx, [execution]))[execution.id]


@routes.get("/stats", requires="tools:read")
async def get_tool_stats(ctx: Context, tool: ToolById, query: ToolStatsQuery) -> ToolStats:
    """Return counts, durations and the most frequent agents for a period.

    Only executions that have ended count.
    """
    return await statistics.collect(ctx, tool, query.period)
