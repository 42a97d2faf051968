from retinue.kit.context import Context
from retinue.kit.errors import Forbidden, VaultSealed
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page
from retinue.kit.text.header_masks import mask_config_headers
from retinue.tools import service, trial
from retinue.tools.errors import McpServerFailed, McpServerNotAllowed, ToolNotRefreshable, ToolSlugTaken
from retinue.tools.loaders import ToolById
from retinue.tools.mcp_servers.refresh import refresh
from retinue.tools.models import Tool
from retinue.tools.queries import TOOLS, find_last_statuses
from retinue.tools.run.outcome import to_response
from retinue.tools.schemas import (
    CategoryOut,
    Executed,
    RefreshTool,
    ToolCreate,
    ToolList,
    ToolListed,
    ToolMade,
    ToolOut,
    ToolRefreshed,
    ToolTrial,
    ToolUpdate,
)

routes = Routes("/v1/tools", tag="tools", wrap=True)


@routes.get("", requires="tools:read", wrap=False)
async def list_tools(ctx: Context, query: ToolList) -> Page[ToolListed]:
    """Return the tools of the tenant without their configuration, by default newest first.

    `last_status` is how the last run ended; `guarded_count` is how many endpoints or functions ask first.
    """
    page = await TOOLS.page(ctx.db, query)
    last = await find_last_statuses(ctx, [tool.id for tool in page.items])
    return page.to_page(lambda tool: ToolListed.from_record(tool, last.get(tool.id)))


@routes.post(
    "", requires="tools:write", status=201, errors=(ToolSlugTaken, Forbidden, VaultSealed), versioned=Tool
)
async def create_tool(ctx: Context, body: ToolCreate) -> ToolMade:
    """Register a tool.

    The answer leaves out `config`; `auth_config` is encrypted and never returned. Secrets are bound to the
    destination that `config` names now and have to be entered again if that changes.
    """
    return ToolMade.of(await service.create(ctx, body))


@routes.post(
    "/try",
    requires="tools:execute",
    cost="execute",
    calls_out=True,
    errors=(Forbidden, VaultSealed),
)
async def try_tool(ctx: Context, body: ToolTrial) -> Executed:
    """Run a tool that is not stored and return the result; it takes `tools:write` as well.

    Everything that holds for a stored tool holds here: where it may call, the sandbox, limits and timeouts.
    It acts for real. The run is in the audit log and counts as usage; its `execution_id` cannot be read.
    """
    return to_response(await trial.try_tool(ctx, body))


@routes.get("/categories", requires="tools:read")
async def list_tool_categories(ctx: Context) -> list[CategoryOut]:
    """Return all categories in the order the console shows them, with the number of tools in each."""
    return await service.categories(ctx)


@routes.get("/{tool_id}", requires="tools:read", versioned=Tool)
async def get_tool(ctx: Context, tool: ToolById) -> ToolOut:
    """Return a tool with its configuration.

    Values of headers in `config` are masked for callers without `tools:write`; `auth_config` is never
    returned.
    """
    return ToolOut.of(tool, config=mask_config_headers(ctx.principal, tool.config, "tools:write"))


@routes.put(
    "/{tool_id}", requires="tools:write", errors=(ToolSlugTaken, Forbidden, VaultSealed), versioned=Tool
)
async def update_tool(ctx: Context, tool: ToolById, body: ToolUpdate) -> ToolOut:
    """Change the fields that are sent.

    `config` is merged by key and its `endpoints` by name, where null removes an entry; `auth_config` is
    replaced as a whole. If `config` moves to another destination, the stored secrets follow only if they are
    sent again or the caller may reveal them; otherwise executing the tool fails with `destination_changed`.
    """
    return ToolOut.of(await service.update(ctx, tool, body))


@routes.delete("/{tool_id}", requires="tools:write", status=204, versioned=Tool)
async def delete_tool(ctx: Context, tool: ToolById) -> None:
    """Delete the tool with its executions and detach it from agents."""
    await service.delete(ctx, tool)


@routes.post(
    "/{tool_id}/refresh",
    requires="tools:write",
    calls_out=True,
    errors=(ToolNotRefreshable, VaultSealed, McpServerFailed, McpServerNotAllowed),
)
async def refresh_tool(ctx: Context, tool: ToolById, body: RefreshTool) -> ToolRefreshed:
    """List the MCP server of an imported tool again and hold what differs from what was agreed to.

    Agents are offered the agreed functions until `accept` agrees to the difference, or to that of the named
    functions. What is held is accepted as it was shown, without listing the server again.
    """
    return await refresh(ctx, tool, body.accept)
