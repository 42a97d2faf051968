"""Import of an MCP server as one tool with a function for each tool that the server lists."""

from urllib.parse import urlsplit

import msgspec

from retinue.adapters.mcp import McpListing
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.tools import service, slugs
from retinue.tools.config.configuration import MCP
from retinue.tools.config.mcp_functions import (
    Functions,
    OfferedFunctions,
    check_size,
    digest,
    offered_functions,
)
from retinue.tools.mcp_servers.catalog import list_server
from retinue.tools.models import Tool, ToolType
from retinue.tools.schemas import ImportMcp, McpImported, McpImportPreview, PartSkipped, ToolCreate

_MAX_SKIPPED = 200


class _ReadServer(msgspec.Struct, frozen=True):
    tool: Tool
    functions: list[str]
    skipped: list[PartSkipped]


async def create(ctx: Context, body: ImportMcp) -> McpImported:
    read = await _read_server(ctx, body)
    async with ctx.unit() as unit:
        tool = await service.store_new(unit, read.tool, is_numbered=True)
    return McpImported.of(tool, functions=read.functions, skipped=read.skipped)


async def preview(ctx: Context, body: ImportMcp) -> McpImportPreview:
    """Return the tool that would be created."""
    read = await _read_server(ctx, body)
    return McpImportPreview.of(read.tool, functions=read.functions, skipped=read.skipped)


async def _read_server(ctx: Context, body: ImportMcp) -> _ReadServer:
    """List the server in the name of a tool that is not stored yet."""
    async with ctx.unit() as unit:
        tool = await service.build(unit, _tool_body(body), is_imported=True)
    listing = await list_server(ctx, tool)
    offered = offered_functions(listing)
    chosen = _chosen(offered, body.tools)
    tool.name = body.name or listing.server_name or tool.name
    tool.slug = slugs.from_name(tool.name)
    tool.config = {**tool.config, **_listed_config(ctx, listing, chosen)}
    ignored = [name for name in offered.functions if name not in chosen]
    if ignored:
        tool.config["ignored_functions"] = ignored
    check_size(tool.config, "tools")
    skipped = [PartSkipped(what=name, why=why) for name, why in offered.skipped.items()]
    return _ReadServer(tool, list(chosen), skipped[:_MAX_SKIPPED])


def _tool_body(body: ImportMcp) -> ToolCreate:
    return ToolCreate(
        name=body.name or _host_of(body.server_url),
        category=body.category,
        tool_type=ToolType.custom,
        config={"kind": MCP, "server_url": body.server_url},
        auth_type=body.auth_type,
        auth_config=body.auth_config,
    )


def _host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "")[:100] or "MCP server"
    except ValueError:
        return "MCP server"


def _listed_config(ctx: Context, listing: McpListing, functions: Functions) -> JsonObject:
    return {
        "functions": functions,
        "protocol_version": listing.protocol_version,
        "listed_at": ctx.now,
        "digest": digest(functions),
    }


def _chosen(offered: OfferedFunctions, names: list[str] | None) -> Functions:
    if not offered.functions:
        raise Invalid({"server_url": "the server has no tool that agents can call"})
    if names is None:
        return offered.functions
    unknown = [position for position, name in enumerate(names) if name not in offered.functions]
    if unknown:
        raise Invalid(
            {
                f"tools.{position}": offered.skipped.get(names[position], "is not a tool of the server")
                for position in unknown
            }
        )
    return {name: offered.functions[name] for name in dict.fromkeys(names)}
