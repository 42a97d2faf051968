from retinue.kit.context import Context
from retinue.kit.errors import Forbidden, VaultSealed
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page
from retinue.tools import service
from retinue.tools.errors import SlugTaken
from retinue.tools.loaders import ToolById
from retinue.tools.queries import TOOLS
from retinue.tools.schemas import (
    CategoryOut,
    ToolCreate,
    ToolList,
    ToolMade,
    ToolOut,
    ToolSummary,
    ToolUpdate,
)

routes = Routes("/v1/tools", tag="tools", wrap=True)


@routes.get("", requires="tools:read", wrap=False)
async def list_tools(ctx: Context, query: ToolList) -> Page[ToolSummary]:
    return (await TOOLS.page(ctx.db, query)).shown(ToolSummary.of)


@routes.post("", requires="tools:write", status=201, errors=(SlugTaken, Forbidden, VaultSealed))
async def create_tool(ctx: Context, body: ToolCreate) -> ToolMade:
    """The answer has no `config`; `auth_config` is never shown again."""
    return ToolMade.of(await service.create(ctx, body))


@routes.get("/categories", requires="tools:read")
async def list_tool_categories(ctx: Context) -> list[CategoryOut]:
    return await service.categories(ctx)


@routes.get("/{tool_id}", requires="tools:read")
async def get_tool(ctx: Context, tool: ToolById) -> ToolOut:  # noqa: ARG001  every handler takes it
    return ToolOut.of(tool)


@routes.put("/{tool_id}", requires="tools:write", errors=(SlugTaken, Forbidden, VaultSealed))
async def update_tool(ctx: Context, tool: ToolById, body: ToolUpdate) -> ToolOut:
    """`config` is merged by key and its `endpoints` by name, null removes one; `auth_config` is replaced."""
    return ToolOut.of(await service.update(ctx, tool, body))


@routes.delete("/{tool_id}", requires="tools:write", status=204)
async def delete_tool(ctx: Context, tool: ToolById) -> None:
    await service.delete(ctx, tool)
