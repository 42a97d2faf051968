"""Agreeing with a server on a version of the protocol."""

from typing import Any

from retinue.adapters.mcp.connection import CLIENT_INFO, STATELESS_VERSION, Connection
from retinue.adapters.mcp.errors import ConnectionStale, McpFailed, RpcRefused, StatusRefused
from retinue.adapters.mcp.messages import UNSUPPORTED_VERSION, Discovered, Initialized, shaped

# Newest first; each begins with `initialize`, and the server may give a session.
SESSION_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")


async def agree_on_version(connection: Connection) -> None:
    """Ask in the newest way first; whatever is no clear yes to it comes from a server of the older kind."""
    connection.version = STATELESS_VERSION
    try:
        if await _is_stateless_server(connection):
            return
    except BaseException:
        connection.version = None
        raise
    connection.version = None
    await _initialize(connection)


async def _is_stateless_server(connection: Connection) -> bool:
    try:
        found = shaped(await connection.request("server/discover", {}), Discovered)
    except RpcRefused as refused:
        _refuse_foreign_versions(refused)
        return False
    except (StatusRefused, ConnectionStale):
        return False
    except McpFailed as failed:
        if failed.kind == "protocol_error":
            return False
        raise
    return STATELESS_VERSION in found.supported_versions


def _refuse_foreign_versions(refused: RpcRefused) -> None:
    if refused.rpc_code != UNSUPPORTED_VERSION or not isinstance(refused.data, dict):
        return
    supported = refused.data.get("supported")
    if isinstance(supported, list) and not set(SESSION_VERSIONS).intersection(map(str, supported)):
        raise McpFailed("protocol_error", "The MCP server speaks no version of the protocol known here.")


async def _initialize(connection: Connection) -> None:
    offer: dict[str, Any] = {
        "protocolVersion": SESSION_VERSIONS[0],
        "capabilities": {},
        "clientInfo": CLIENT_INFO,
    }
    begun = shaped(await connection.request("initialize", offer), Initialized)
    if begun.protocol_version not in SESSION_VERSIONS:
        raise McpFailed("protocol_error", "The MCP server speaks no version of the protocol known here.")
    connection.version = begun.protocol_version
    await connection.notify("notifications/initialized")
