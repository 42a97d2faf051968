"""Drift of an imported MCP server: differences are held until somebody agrees to them."""

from typing import Any

import msgspec

from retinue.adapters.mcp import McpListing
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.json_types import JsonObject
from retinue.tools import service
from retinue.tools.config.mcp_functions import (
    Functions,
    check_size,
    digest,
    functions_of,
    offered_functions,
)
from retinue.tools.errors import McpServerFailed, ToolNotFound, ToolNotRefreshable
from retinue.tools.events import ToolDrifted
from retinue.tools.job_kinds import ListingTask
from retinue.tools.mcp_servers.catalog import list_server
from retinue.tools.mcp_servers.differences import ListingDiff, compare
from retinue.tools.models import Tool
from retinue.tools.schemas import RefreshStatus, ToolRefreshed

_MAX_NAMES_IN_EVENT = 50

Accept = bool | list[str]


class HeldListing(msgspec.Struct, kw_only=True):
    """The listing of the server when the difference was found."""

    functions: Functions
    digest: str
    protocol_version: str
    listed_at: str

    @classmethod
    def of(cls, listing: McpListing, now: str) -> "HeldListing":
        functions = offered_functions(listing).functions
        return cls(
            functions=functions,
            digest=digest(functions),
            protocol_version=listing.protocol_version,
            listed_at=now,
        )


async def refresh(ctx: Context, tool: Tool, accept: Accept = False) -> ToolRefreshed:
    """List the server again and hold what differs, or agree to it.

    What is held was shown to somebody, so that is what `accept` agrees to, not what the server lists since.
    """
    if functions_of(tool) is None:
        raise ToolNotRefreshable
    found = None
    if not accept or tool.held_listing is None:
        found = HeldListing.of(await list_server(ctx, tool), ctx.now)
    async with ctx.unit() as unit:
        locked = await unit.db.lock(Tool, tool.id)
        if locked is None:
            raise ToolNotFound
        return await (_accept(unit, locked, found, accept) if accept else _hold(unit, locked, found))


async def refresh_listing(ctx: Context, payload: ListingTask) -> None:
    """List a server as a job; a server that cannot be listed tonight is listed the next night."""
    async with ctx.unit() as unit:
        tool = await unit.db.get(Tool, payload.tool_id)
    if tool is None or not tool.is_enabled or functions_of(tool) is None:
        return
    try:
        await refresh(ctx, tool)
    except RetinueError as error:
        if error.status >= 500 and not isinstance(error, McpServerFailed):
            raise


async def _hold(ctx: Context, tool: Tool, listing: HeldListing | None) -> ToolRefreshed:
    """Hold what differs from the agreed functions; an event tells of each new difference once."""
    assert listing is not None
    diff = _diff(tool, listing)
    if not diff.names:
        if tool.held_listing is not None:
            await ctx.db.update(tool, held_listing=None)
        return ToolRefreshed(tool_id=tool.id, diff=diff, status=RefreshStatus.unchanged)
    if tool.held_listing is None or tool.held_listing.get("digest") != listing.digest:
        await ctx.db.update(tool, held_listing=msgspec.to_builtins(listing))
        ctx.emit(
            ToolDrifted(
                tool_id=tool.id,
                name=tool.name,
                created_by=tool.created_by,
                added=diff.added[:_MAX_NAMES_IN_EVENT],
                removed=diff.removed[:_MAX_NAMES_IN_EVENT],
                changed=diff.changed_names[:_MAX_NAMES_IN_EVENT],
            )
        )
    return ToolRefreshed(tool_id=tool.id, diff=diff, status=RefreshStatus.held)


async def _accept(ctx: Context, tool: Tool, listing: HeldListing | None, accept: Accept) -> ToolRefreshed:
    """Agree to all differences or to those of the named functions; the others stay held."""
    held = msgspec.convert(tool.held_listing, HeldListing) if tool.held_listing is not None else listing
    if held is None:
        raise ToolNotRefreshable("The difference was accepted meanwhile. Refresh the tool again.")
    diff = _diff(tool, held)
    names = diff.names if accept is True else _require_names(diff, accept)
    if not diff.names:
        await _store(ctx, tool, {"held_listing": None})
        return ToolRefreshed(tool_id=tool.id, diff=diff, status=RefreshStatus.unchanged)
    config = _agreed_config(tool, held, names)
    check_size(config, "accept")
    rest = compare(config["functions"], held.functions, config.get("ignored_functions", []))
    is_complete = not rest.names
    await _store(
        ctx, tool, {"config": config, "held_listing": None if is_complete else msgspec.to_builtins(held)}
    )
    status = RefreshStatus.accepted if is_complete else RefreshStatus.held
    return ToolRefreshed(tool_id=tool.id, diff=diff if is_complete else rest, status=status)


def _diff(tool: Tool, listing: HeldListing) -> ListingDiff:
    return compare(functions_of(tool) or {}, listing.functions, tool.config.get("ignored_functions", []))


def _require_names(diff: ListingDiff, names: Any) -> list[str]:
    known = set(diff.names)
    unknown = [position for position, name in enumerate(names) if name not in known]
    if unknown:
        raise Invalid({f"accept.{position}": "is not among the differences" for position in unknown})
    return list(names)


def _agreed_config(tool: Tool, listing: HeldListing, names: list[str]) -> JsonObject:
    """Return the configuration with the named functions as the server lists them.

    An approval that somebody required stays required.
    """
    functions = dict(functions_of(tool) or {})
    for name in names:
        if name not in listing.functions:
            del functions[name]
            continue
        is_guarded = functions.get(name, {}).get("requires_approval") is True
        kept = {"requires_approval": True} if is_guarded else {}
        functions[name] = {**listing.functions[name], **kept}
    return {
        **tool.config,
        "functions": functions,
        "protocol_version": listing.protocol_version,
        "listed_at": listing.listed_at,
        "digest": digest(functions),
    }


async def _store(ctx: Context, tool: Tool, changes: JsonObject) -> None:
    changed = {name: value for name, value in changes.items() if getattr(tool, name) != value}
    if "config" in changed:
        await service.store_changes(ctx, tool, {"config": changed.pop("config")})
    if changed:
        await ctx.db.update(tool, **changed)
