"""Packages of code tools: resolved and pinned by a job after saving, kept in a folder of the tool's own."""

import asyncio
import hashlib
import shutil
from pathlib import Path
from typing import Any

import msgspec
import structlog

from retinue.adapters.sandbox.packages import PackagesUnavailable, install
from retinue.kit.context import Context
from retinue.kit.jobs.declare import job
from retinue.kit.settings import Settings
from retinue.tools.configuration import find_runtime
from retinue.tools.models import PackagesStatus, Tool, ToolType

log = structlog.get_logger("retinue.tools")

_RESOLVING_S = 600


class PackagesWanted(msgspec.Struct):
    tool_id: str


def packages_folder(settings: Settings, tool: Tool) -> Path | None:
    """Where the packages of a tool are installed; nothing before they are."""
    if tool.packages_status is not PackagesStatus.ready:
        return None
    return _home(settings, tool.tenant_id, tool.id) / _digest(tool.tool_type, tool.config)


def status_for(tool_type: ToolType, config: dict[str, Any]) -> PackagesStatus:
    """How a new configuration begins."""
    return PackagesStatus.resolving if _wanted(tool_type, config) else PackagesStatus.none


def changes(tool: Tool, tool_type: ToolType, config: dict[str, Any]) -> dict[str, Any]:
    """What saving a new configuration does to the packages; saving again is also how to try once more."""
    is_same = _digest(tool.tool_type, tool.config) == _digest(tool_type, config)
    if is_same and tool.packages_status is not PackagesStatus.failed:
        return {}
    return {
        "packages_status": status_for(tool_type, config),
        "packages_error": None,
        "pinned_packages": [],
    }


def follow(ctx: Context, tool: Tool) -> None:
    """Have the folder of a saved tool brought to what its configuration says now."""
    if tool.packages_status is PackagesStatus.resolving:
        ctx.defer(resolve_packages, PackagesWanted(tool.id))
    else:
        ctx.defer(remove_packages, PackagesWanted(tool.id))


def forget(ctx: Context, tool: Tool) -> None:
    """Have the folder of a deleted tool removed, if there can be one."""
    if tool.packages_status is not PackagesStatus.none:
        ctx.defer(remove_packages, PackagesWanted(tool.id))


@job(queue="packages", timeout_s=_RESOLVING_S + 60, transactional=False)
async def resolve_packages(ctx: Context, payload: PackagesWanted) -> None:
    async with ctx.unit() as unit:
        tool = await unit.db.get(Tool, payload.tool_id)
    if tool is None or tool.packages_status is not PackagesStatus.resolving:
        return
    home, digest = _home(ctx.settings, ctx.tenant_id, tool.id), _digest(tool.tool_type, tool.config)
    found = await _installed(tool, home / digest)
    async with ctx.unit() as unit:
        held = await unit.db.lock(Tool, tool.id)
        is_wanted = held is not None and _digest(held.tool_type, held.config) == digest
        # Another run of this job may have been faster.
        if held is not None and is_wanted and held.packages_status is PackagesStatus.resolving:
            await unit.db.update(held, **found)
    if is_wanted:
        await asyncio.to_thread(_remove_others, home, digest)
    else:
        await asyncio.to_thread(shutil.rmtree, home / digest, ignore_errors=True)


async def _installed(tool: Tool, folder: Path) -> dict[str, Any]:
    """What is to be stored about the packages."""
    runtime = find_runtime(tool.config.get("runtime", "python")) or "python"
    wanted = _wanted(tool.tool_type, tool.config)
    try:
        pinned = await install(folder, runtime, wanted, timeout_s=_RESOLVING_S)
    except PackagesUnavailable as unavailable:
        reason = unavailable.message
    except OSError:
        log.exception("packages not installed", tool_id=tool.id)
        reason = "The packages could not be installed."
    else:
        return {"packages_status": PackagesStatus.ready, "pinned_packages": pinned}
    return {"packages_status": PackagesStatus.failed, "packages_error": reason}


@job(queue="packages", transactional=False)
async def remove_packages(ctx: Context, payload: PackagesWanted) -> None:
    """Remove the folder of a tool that is gone or needs no packages any more."""
    async with ctx.unit() as unit:
        tool = await unit.db.get(Tool, payload.tool_id)
    if tool is None or tool.packages_status is PackagesStatus.none:
        home = _home(ctx.settings, ctx.tenant_id, payload.tool_id)
        await asyncio.to_thread(shutil.rmtree, home, ignore_errors=True)


def _home(settings: Settings, tenant_id: str, tool_id: str) -> Path:
    return settings.data_dir / "packages" / tenant_id / tool_id


def _wanted(tool_type: ToolType, config: dict[str, Any]) -> list[str]:
    return config.get("packages", []) if tool_type in {ToolType.function, ToolType.script} else []


def _digest(tool_type: ToolType, config: dict[str, Any]) -> str:
    wanted = _wanted(tool_type, config)
    text = msgspec.json.encode([config.get("runtime", ""), wanted] if wanted else [])
    return hashlib.sha256(text).hexdigest()[:32]


def _remove_others(home: Path, digest: str) -> None:
    for folder in home.iterdir() if home.is_dir() else ():
        if folder.name != digest:
            shutil.rmtree(folder, ignore_errors=True)
