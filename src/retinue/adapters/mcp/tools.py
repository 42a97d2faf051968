"""Listing and calling a server's tools over a connection."""

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec
import structlog

from retinue.adapters.mcp.connection import Connection
from retinue.adapters.mcp.errors import ConnectionStale, McpFailed, RpcRefused
from retinue.adapters.mcp.messages import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallOutcome,
    ListedTool,
    Listing,
    McpResult,
    McpTool,
    ToolPage,
    shaped,
)
from retinue.adapters.mcp.mirroring import Path, mirrored_arguments, mirrored_headers
from retinue.kit.clock import Clock
from retinue.kit.errors import RetinueError

log = structlog.get_logger("retinue.mcp")

_LONGEST_LISTING_S = 300.0
# Servers say 0 when nobody configured anything; even then one answer serves the requests of a moment.
_SHORTEST_LISTING_S = 30.0
_MOST_PAGES = 100
_MOST_TOOLS = 1000
_LARGEST_LISTING = 1024 * 1024
_LONGEST_NAME = 256
_DEEPEST = 64
_UNKNOWN = "The MCP server has no tool of this name."
_SOUNDS_UNKNOWN = re.compile(r"unknown tool|not found|no such", re.IGNORECASE)


async def fetch_listing(connection: Connection, clock: Clock, *, is_fresh: bool = False) -> Listing:
    """The server's tools, asked for anew when the last answer is too old or `is_fresh` is wanted."""
    listing = connection.listing
    if listing is None or is_fresh or listing.expires_at <= clock.monotonic():
        listing = connection.listing = await _ask_for_listing(connection, clock)
    return listing


async def call(connection: Connection, clock: Clock, name: str, arguments: Mapping[str, Any]) -> McpResult:
    try:
        outcome = shaped(await _ask_to_call(connection, clock, name, arguments), CallOutcome)
    except RpcRefused as refused:
        if refused.rpc_code in {METHOD_NOT_FOUND, INVALID_PARAMS} and await _is_unlisted(
            connection, clock, name
        ):
            raise McpFailed("tool_not_found", _UNKNOWN) from None
        raise
    if outcome.result_type != "complete":
        raise McpFailed("protocol_error", "The tool wants more input than it was called with.")
    if not _is_shallow(outcome.content) or not _is_shallow(outcome.structured_content):
        raise McpFailed("protocol_error", "The tool's result is nested too deeply.")
    if outcome.is_error and _sounds_unknown(outcome.content) and await _is_unlisted(connection, clock, name):
        raise McpFailed("tool_not_found", _UNKNOWN)
    return McpResult(
        content=outcome.content, structured=outcome.structured_content, is_error=bool(outcome.is_error)
    )


async def _ask_to_call(
    connection: Connection, clock: Clock, name: str, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    try:
        return await connection.request("tools/call", params, _mirrored(connection, name, arguments))
    except RpcRefused as refused:
        if refused.rpc_code != HEADER_MISMATCH:
            raise
    # Which arguments belong in headers is known from the tool's schema only.
    await fetch_listing(connection, clock, is_fresh=True)
    return await connection.request("tools/call", params, _mirrored(connection, name, arguments))


def _mirrored(connection: Connection, name: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    if connection.listing is None:
        return {}
    return mirrored_headers(connection.listing.mirrored.get(name, {}), arguments)


def _sounds_unknown(content: list[dict[str, Any]]) -> bool:
    """Many servers report an unknown tool as an error of the tool; what they list decides then."""
    text = content[0].get("text") if content else None
    return isinstance(text, str) and _SOUNDS_UNKNOWN.search(text[:1000]) is not None


async def _is_unlisted(connection: Connection, clock: Clock, name: str) -> bool:
    """Asked after a call that failed; what goes wrong here must not hide how it failed, nor repeat it."""
    try:
        listing = await fetch_listing(connection, clock, is_fresh=True)
    except (RetinueError, ConnectionStale):
        return False
    return all(tool.name != name for tool in listing.tools)


async def _ask_for_listing(connection: Connection, clock: Clock) -> Listing:
    tools: list[McpTool] = []
    mirrored: dict[str, dict[Path, str]] = {}
    lifetime_s = _LONGEST_LISTING_S
    left_out, size = 0, 0
    async for page in _pages(connection):
        if page.ttl_ms is not None:
            lifetime_s = min(lifetime_s, page.ttl_ms / 1000)
        for entry in page.tools:
            tool = _find_usable(entry)
            wanted = mirrored_arguments(tool.input_schema) if tool and connection.is_stateless else {}
            if tool is None or wanted is None:
                left_out += 1
                continue
            size += len(msgspec.json.encode(tool))
            if size > _LARGEST_LISTING:
                raise McpFailed("output_too_large", "The MCP server's list of tools is too large to be kept.")
            tools.append(tool)
            mirrored[tool.name] = wanted
    if left_out:
        log.warning("mcp_tools_left_out", count=left_out)
    expires_at = clock.monotonic() + max(lifetime_s, _SHORTEST_LISTING_S)
    return Listing(tools=tools, mirrored=mirrored, expires_at=expires_at)


async def _pages(connection: Connection) -> AsyncIterator[ToolPage]:
    cursor: str | None = None
    listed, seen = 0, set[str]()
    while len(seen) < _MOST_PAGES:
        params = {} if cursor is None else {"cursor": cursor}
        page = shaped(await connection.request("tools/list", params), ToolPage)
        listed += len(page.tools)
        if listed > _MOST_TOOLS:
            raise McpFailed("output_too_large", f"The MCP server lists more than {_MOST_TOOLS} tools.")
        yield page
        cursor = page.next_cursor
        if not cursor:
            return
        if cursor in seen:
            break
        seen.add(cursor)
    raise McpFailed("protocol_error", "The MCP server's list of tools does not end.")


def _find_usable(entry: Any) -> McpTool | None:
    """A tool as it was listed; one that is malformed or nested beyond reason does not spoil the others."""
    try:
        listed = msgspec.convert(entry, ListedTool)
    except msgspec.ValidationError:
        return None
    schemas = (listed.input_schema, listed.output_schema)
    if not 1 <= len(listed.name) <= _LONGEST_NAME or not all(map(_is_shallow, schemas)):
        return None
    return McpTool(
        name=listed.name,
        title=listed.title,
        description=listed.description,
        input_schema=listed.input_schema,
        output_schema=listed.output_schema,
    )


def _is_shallow(value: Any, levels: int = _DEEPEST) -> bool:
    if not isinstance(value, dict | list):
        return True
    children = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(child, levels - 1) for child in children)
