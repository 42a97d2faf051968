"""Listing and calling of a server's tools over a connection."""

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec
import structlog

from retinue.adapters.mcp.argument_headers import ArgumentPath, mirrored_arguments, mirrored_headers
from retinue.adapters.mcp.connection import McpConnection
from retinue.adapters.mcp.errors import ConnectionStale, McpFailed, RpcRefused
from retinue.adapters.mcp.messages import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    ListedTool,
    McpResult,
    McpTool,
    ToolCallResult,
    ToolListing,
    ToolPage,
    convert_result,
)
from retinue.kit.clock import Clock
from retinue.kit.errors import RetinueError
from retinue.kit.json_types import JsonObject

log = structlog.get_logger("retinue.mcp")

_MAX_LISTING_SECONDS = 300.0
# Servers often send 0 by default; cache the list at least briefly even then.
_MIN_LISTING_SECONDS = 30.0
_MAX_PAGES = 100
_MAX_TOOLS = 1000
_MAX_LISTING_BYTES = 1024 * 1024
_MAX_NAME_LENGTH = 256
_MAX_DEPTH = 64
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_UNKNOWN_TOOL = "The MCP server has no tool with this name."
_UNKNOWN_TOOL_TEXT = re.compile(r"unknown tool|not found|no such", re.IGNORECASE)


async def fetch_listing(connection: McpConnection, clock: Clock, *, is_fresh: bool = False) -> ToolListing:
    """Return the server's tools, fetched anew if the cached list is too old or `is_fresh` is set."""
    listing = connection.listing
    if listing is None or is_fresh or listing.expires_at <= clock.monotonic():
        listing = connection.listing = await _request_listing(connection, clock)
    return listing


async def call(connection: McpConnection, clock: Clock, name: str, arguments: Mapping[str, Any]) -> McpResult:
    list_changes = connection.list_changes
    try:
        outcome = convert_result(await _request_call(connection, clock, name, arguments), ToolCallResult)
    except RpcRefused as refused:
        if refused.rpc_code in {METHOD_NOT_FOUND, INVALID_PARAMS} and await _is_unlisted(
            connection, clock, name
        ):
            raise McpFailed("tool_not_found", _UNKNOWN_TOOL) from None
        raise
    if outcome.result_type != "complete":
        raise McpFailed("protocol_error", "The tool requested further input, which is not supported.")
    if not _is_shallow(outcome.content) or not _is_shallow(outcome.structured_content):
        raise McpFailed("protocol_error", "The tool's result is nested too deeply.")
    if (
        outcome.is_error
        and _reports_unknown_tool(outcome.content)
        and await _is_unlisted(connection, clock, name)
    ):
        raise McpFailed("tool_not_found", _UNKNOWN_TOOL)
    return McpResult(
        content=outcome.content,
        structured=outcome.structured_content,
        is_error=bool(outcome.is_error),
        has_list_changed=connection.list_changes != list_changes,
    )


async def _request_call(
    connection: McpConnection, clock: Clock, name: str, arguments: Mapping[str, Any]
) -> JsonObject:
    params = {"name": name, "arguments": arguments}
    try:
        return await connection.request("tools/call", params, _mirrored(connection, name, arguments))
    except RpcRefused as refused:
        if refused.rpc_code != HEADER_MISMATCH:
            raise
    # Only the tool's schema tells which arguments belong in headers.
    await fetch_listing(connection, clock, is_fresh=True)
    return await connection.request("tools/call", params, _mirrored(connection, name, arguments))


def _mirrored(connection: McpConnection, name: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    if connection.listing is None:
        return {}
    return mirrored_headers(connection.listing.mirrored.get(name, {}), arguments)


def _reports_unknown_tool(content: list[JsonObject]) -> bool:
    """Return whether an error may mean an unknown tool; many servers report it as an error of the tool."""
    text = content[0].get("text") if content else None
    return isinstance(text, str) and _UNKNOWN_TOOL_TEXT.search(text[:1000]) is not None


async def _is_unlisted(connection: McpConnection, clock: Clock, name: str) -> bool:
    """Return whether a tool is missing in the list; a failure here must not hide that of the call."""
    try:
        listing = await fetch_listing(connection, clock, is_fresh=True)
    except (RetinueError, ConnectionStale):
        return False
    return all(tool.name != name for tool in listing.tools)


async def _request_listing(connection: McpConnection, clock: Clock) -> ToolListing:
    tools: list[McpTool] = []
    mirrored: dict[str, dict[ArgumentPath, str]] = {}
    lifetime_s = _MAX_LISTING_SECONDS
    left_out: list[str] = []
    size = 0
    async for page in _pages(connection):
        if page.ttl_ms is not None:
            lifetime_s = min(lifetime_s, page.ttl_ms / 1000)
        for entry in page.tools:
            tool = _find_usable(entry)
            header_names = mirrored_arguments(tool.input_schema) if tool and connection.is_stateless else {}
            if tool is None or header_names is None:
                left_out.append(_name_of(entry))
                continue
            size += len(msgspec.json.encode(tool))
            if size > _MAX_LISTING_BYTES:
                raise McpFailed("output_too_large", "The MCP server's list of tools is too large.")
            tools.append(tool)
            mirrored[tool.name] = header_names
    if left_out:
        log.warning("mcp_tools_left_out", count=len(left_out))
    expires_at = clock.monotonic() + max(lifetime_s, _MIN_LISTING_SECONDS)
    return ToolListing(tools=tools, left_out=left_out, mirrored=mirrored, expires_at=expires_at)


async def _pages(connection: McpConnection) -> AsyncIterator[ToolPage]:
    cursor: str | None = None
    listed_count, seen = 0, set[str]()
    while len(seen) < _MAX_PAGES:
        params = {} if cursor is None else {"cursor": cursor}
        page = convert_result(await connection.request("tools/list", params), ToolPage)
        listed_count += len(page.tools)
        if listed_count > _MAX_TOOLS:
            raise McpFailed("output_too_large", f"The MCP server lists more than {_MAX_TOOLS} tools.")
        yield page
        cursor = page.next_cursor
        if not cursor:
            return
        if cursor in seen:
            break
        seen.add(cursor)
    raise McpFailed("protocol_error", "The MCP server's list of tools does not end.")


def _find_usable(entry: object) -> McpTool | None:
    """Return a listed tool, or None if it is malformed or nested too deeply."""
    try:
        listed = msgspec.convert(entry, ListedTool)
    except msgspec.ValidationError:
        return None
    schemas = (listed.input_schema, listed.output_schema)
    if not 1 <= len(listed.name) <= _MAX_NAME_LENGTH or not all(map(_is_shallow, schemas)):
        return None
    return McpTool(
        name=listed.name,
        title=listed.title,
        description=listed.description,
        input_schema=listed.input_schema,
        output_schema=listed.output_schema,
        annotations=_hints(listed.annotations),
    )


def _hints(annotations: object) -> dict[str, bool]:
    given = annotations if isinstance(annotations, dict) else {}
    return {name: given[name] for name in _HINTS if isinstance(given.get(name), bool)}


def _name_of(entry: object) -> str:
    """Return the name of a malformed entry as far as it has one."""
    name = entry.get("name") if isinstance(entry, dict) else None
    return name[:_MAX_NAME_LENGTH] if isinstance(name, str) and name else "?"


def _is_shallow(value: object, levels: int = _MAX_DEPTH) -> bool:
    if not isinstance(value, dict | list):
        return True
    children = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(child, levels - 1) for child in children)
