"""Negotiation of the protocol version with a server."""

from retinue.adapters.mcp.connection import CLIENT_INFO, STATELESS_VERSION, McpConnection
from retinue.adapters.mcp.errors import ConnectionStale, McpFailed, RpcRefused, StatusRefused
from retinue.adapters.mcp.messages import UNSUPPORTED_VERSION, Discovered, Initialized, convert_result
from retinue.kit.json_types import JsonObject

# Newest first; each begins with `initialize`, and the server may create a session.
SESSION_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
_MAX_NAME_LENGTH = 100


async def agree_on_version(connection: McpConnection) -> None:
    """Try the stateless version first; a server that does not clearly support it is an older one."""
    connection.version = STATELESS_VERSION
    try:
        if await _is_stateless_server(connection):
            return
    except BaseException:
        connection.version = None
        raise
    connection.version = None
    await _initialize(connection)


async def _is_stateless_server(connection: McpConnection) -> bool:
    try:
        discovered = convert_result(await connection.request("server/discover", {}), Discovered)
    except RpcRefused as refused:
        _refuse_foreign_versions(refused)
        return False
    except (StatusRefused, ConnectionStale):
        return False
    except McpFailed as failed:
        if failed.kind == "protocol_error":
            return False
        raise
    connection.server_name = _server_name(discovered.server_info)
    return STATELESS_VERSION in discovered.supported_versions


def _refuse_foreign_versions(refused: RpcRefused) -> None:
    if refused.rpc_code != UNSUPPORTED_VERSION or not isinstance(refused.data, dict):
        return
    supported = refused.data.get("supported")
    if isinstance(supported, list) and not set(SESSION_VERSIONS).intersection(map(str, supported)):
        raise McpFailed("protocol_error", "The MCP server supports no known version of the protocol.")


async def _initialize(connection: McpConnection) -> None:
    offer: JsonObject = {
        "protocolVersion": SESSION_VERSIONS[0],
        "capabilities": {},
        "clientInfo": CLIENT_INFO,
    }
    session = convert_result(await connection.request("initialize", offer), Initialized)
    if session.protocol_version not in SESSION_VERSIONS:
        raise McpFailed("protocol_error", "The MCP server supports no known version of the protocol.")
    connection.version = session.protocol_version
    connection.server_name = _server_name(session.server_info)
    await connection.notify("notifications/initialized")


def _server_name(server_info: object) -> str:
    """Return what the server calls itself, or an empty string."""
    given = server_info if isinstance(server_info, dict) else {}
    names = (given.get("title"), given.get("name"))
    name = next((name for name in names if isinstance(name, str) and name.strip()), "")
    return "".join(character for character in name[:_MAX_NAME_LENGTH] if character.isprintable()).strip()
