"""Listing of the MCP server behind a tool, with the tool's authentication."""

from typing import NoReturn

from retinue.adapters.mcp import McpClient, McpFailed, McpListing, McpServer
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.tools.config.configuration import destination_of
from retinue.tools.errors import ExecutionFailed, McpServerFailed, McpServerNotAllowed
from retinue.tools.executors import authentication
from retinue.tools.executors.call import Authentication
from retinue.tools.executors.urls import add_query
from retinue.tools.models import AuthType, Tool

TIMEOUT_SECONDS = 30.0
_NEEDS_SIGN_IN = (
    "Set auth_type and auth_config to credentials that the server accepts; "
    "signing in to a server in a browser (OAuth) is not supported."
)


async def list_server(ctx: Context, tool: Tool) -> McpListing:
    """Return what the tool's server offers now; no transaction may be open."""
    granted = await _authentication(ctx, tool)
    server = McpServer(
        url=add_query(str(tool.config["server_url"]), list(granted.query.items())),
        scope=ctx.tenant_id,
        headers=granted.headers,
    )
    try:
        return await ctx.adapter(McpClient).list_server(server, timeout_s=TIMEOUT_SECONDS)
    except McpFailed as failed:
        _raise_failure(failed)


async def _authentication(ctx: Context, tool: Tool) -> Authentication:
    if tool.credential_id is None and tool.auth_type is AuthType.none:
        return Authentication()
    destination = destination_of(tool.tool_type, tool.config)
    try:
        granted, _ = await authentication.resolve(
            ctx, tool, tool.config, via={"tool_id": tool.id}, destination=destination
        )
    except ExecutionFailed as failure:
        raise Invalid({"auth_config": failure.message}) from None
    return granted


def _raise_failure(failed: McpFailed) -> NoReturn:
    if failed.kind == "ssrf_blocked":
        raise McpServerNotAllowed(failed.message) from None
    details: JsonObject = {"kind": failed.kind}
    message = f"{failed.message} {_NEEDS_SIGN_IN}" if failed.kind == "auth_error" else failed.message
    raise McpServerFailed(message, details=details) from None
