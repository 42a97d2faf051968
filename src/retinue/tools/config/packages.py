"""Packages of code tools: a job resolves and pins them after saving, in one folder per tool."""

import asyncio
import hashlib
import shutil
from pathlib import Path

import msgspec
import structlog

from retinue.adapters.sandbox.packages import PackagesUnavailable, install
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.kit.settings import Settings
from retinue.tools.config.configuration import find_runtime
from retinue.tools.job_kinds import INSTALL_PACKAGES, REMOVE_PACKAGES, PackagesTask
from retinue.tools.models import PackagesStatus, Tool, ToolType

log = structlog.get_logger("retinue.tools")

MAX_INSTALL_SECONDS = 600


def packages_folder(settings: Settings, tool: Tool) -> Path | None:
    """Return the folder of the installed packages, or None until they are ready."""
    if tool.packages_status is not PackagesStatus.ready:
        return None
    return _tool_folder(settings, tool.tenant_id, tool.id) / _digest(tool.tool_type, tool.config)


def status_for(tool_type: ToolType, config: JsonObject) -> PackagesStatus:
    """Return the initial status of a configuration's packages."""
    return PackagesStatus.resolving if _requested_packages(tool_type, config) else PackagesStatus.none


def changes(tool: Tool, tool_type: ToolType, config: JsonObject) -> JsonObject:
    """Return the columns that a new configuration changes; saving again retries a failed installation."""
    is_same = _digest(tool.tool_type, tool.config) == _digest(tool_type, config)
    if is_same and tool.packages_status is not PackagesStatus.failed:
        return {}
    return {
        "packages_status": status_for(tool_type, config),
        "packages_error": None,
        "pinned_packages": [],
    }


def enqueue_sync(ctx: Context, tool: Tool) -> None:
    """Enqueue the installation or removal of packages, as the saved configuration requires."""
    if tool.packages_status is PackagesStatus.resolving:
        ctx.defer(INSTALL_PACKAGES, PackagesTask(tool.id))
    else:
        ctx.defer(REMOVE_PACKAGES, PackagesTask(tool.id))


def enqueue_removal(ctx: Context, tool: Tool) -> None:
    """Enqueue the removal of a deleted tool's folder, if it may have one."""
    if tool.packages_status is not PackagesStatus.none:
        ctx.defer(REMOVE_PACKAGES, PackagesTask(tool.id))


async def install_packages(ctx: Context, payload: PackagesTask) -> None:
    async with ctx.unit() as unit:
        tool = await unit.db.get(Tool, payload.tool_id)
    if tool is None or tool.packages_status is not PackagesStatus.resolving:
        return
    tool_folder, digest = (
        _tool_folder(ctx.settings, ctx.tenant_id, tool.id),
        _digest(tool.tool_type, tool.config),
    )
    columns = await _install(tool, tool_folder / digest)
    async with ctx.unit() as unit:
        locked = await unit.db.lock(Tool, tool.id)
        is_current = locked is not None and _digest(locked.tool_type, locked.config) == digest
        # Another run of this job may have been faster.
        if locked is not None and is_current and locked.packages_status is PackagesStatus.resolving:
            await unit.db.update(locked, **columns)
    if is_current:
        await asyncio.to_thread(_remove_other_versions, tool_folder, digest)
    else:
        await asyncio.to_thread(shutil.rmtree, tool_folder / digest, ignore_errors=True)


async def _install(tool: Tool, folder: Path) -> JsonObject:
    """Install the packages and return the columns to store."""
    runtime = find_runtime(tool.config.get("runtime", "python")) or "python"
    requested = _requested_packages(tool.tool_type, tool.config)
    try:
        pinned = await install(folder, runtime, requested, timeout_s=MAX_INSTALL_SECONDS)
    except PackagesUnavailable as unavailable:
        reason = unavailable.message
    except OSError:
        log.exception("packages_not_installed", tool_id=tool.id)
        reason = "The packages could not be installed."
    else:
        return {"packages_status": PackagesStatus.ready, "pinned_packages": pinned}
    return {"packages_status": PackagesStatus.failed, "packages_error": reason}


async def remove_packages(ctx: Context, payload: PackagesTask) -> None:
    """Remove the folder of a tool that was deleted or no longer needs packages."""
    async with ctx.unit() as unit:
        tool = await unit.db.get(Tool, payload.tool_id)
    if tool is None or tool.packages_status is PackagesStatus.none:
        tool_folder = _tool_folder(ctx.settings, ctx.tenant_id, payload.tool_id)
        await asyncio.to_thread(shutil.rmtree, tool_folder, ignore_errors=True)


def _tool_folder(settings: Settings, tenant_id: str, tool_id: str) -> Path:
    return settings.data_dir / "packages" / tenant_id / tool_id


def _requested_packages(tool_type: ToolType, config: JsonObject) -> list[str]:
    return config.get("packages", []) if tool_type in {ToolType.function, ToolType.script} else []


def _digest(tool_type: ToolType, config: JsonObject) -> str:
    requested = _requested_packages(tool_type, config)
    text = msgspec.json.encode([config.get("runtime", ""), requested] if requested else [])
    return hashlib.sha256(text).hexdigest()[:32]


def _remove_other_versions(tool_folder: Path, digest: str) -> None:
    for folder in tool_folder.iterdir() if tool_folder.is_dir() else ():
        if folder.name != digest:
            shutil.rmtree(folder, ignore_errors=True)
