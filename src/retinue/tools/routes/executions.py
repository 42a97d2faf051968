from retinue.kit.context import Context
from retinue.kit.errors import VaultSealed
from retinue.kit.http.replies import Reply
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page
from retinue.tools import background, statistics
from retinue.tools.errors import ExecutionNotFound, ToolDisabled
from retinue.tools.loaders import ExecutionById, ToolById
from retinue.tools.outcomes import answer
from retinue.tools.queries import EXECUTIONS
from retinue.tools.repeating import execute_once
from retinue.tools.schemas import (
    Accepted,
    Execute,
    Executed,
    ExecuteQuery,
    ExecutionList,
    ExecutionOut,
    StatsQuery,
    ToolStats,
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
    ctx: Context, tool: ToolById, query: ExecuteQuery, body: Execute
) -> Executed | Reply[Accepted]:
    """A run that fails is answered with 200 as well: `status` and `error` say how it ended."""
    if query.is_async:
        accepted = await background.accept(ctx, tool, body.input)
        return Reply(Accepted(execution_id=accepted.id), status=202)
    return answer(await execute_once(ctx, tool, body.input))


@routes.get("/executions", requires="tools:read", wrap=False)
async def list_executions(ctx: Context, tool: ToolById, query: ExecutionList) -> Page[ExecutionOut]:
    return (await EXECUTIONS.page(ctx.db, query, tool_id=tool.id)).shown(ExecutionOut.shown)


@routes.get("/executions/{execution_id}", requires="tools:read")
async def get_execution(
    ctx: Context,  # noqa: ARG001  every handler takes it
    tool: ToolById,
    execution: ExecutionById,
) -> ExecutionOut:
    if execution.tool_id != tool.id:
        raise ExecutionNotFound
    return ExecutionOut.shown(execution)


@routes.get("/stats", requires="tools:read")
async def get_tool_stats(ctx: Context, tool: ToolById, query: StatsQuery) -> ToolStats:
    return await statistics.collect(ctx, tool, query.period)
