"""Execution of users' code, which runs only in the sandbox (ADR 9)."""

from pathlib import Path
from typing import Any

from retinue.adapters.sandbox import Code, Sandbox, SandboxFailed
from retinue.adapters.sandbox.code import Runtime
from retinue.tools.config.configuration import find_runtime
from retinue.tools.config.packages import packages_folder
from retinue.tools.errors import ExecutionFailed
from retinue.tools.executors.call import ExecutorCall
from retinue.tools.models import PackagesStatus


async def run_code(call: ExecutorCall, code: Code) -> Any:
    """Return the output of the code; its logs are kept even if it fails."""
    try:
        outcome = await call.ctx.adapter(Sandbox).run(
            code, call.input, timeout_s=call.timeout_s, requester=call.ctx.requester
        )
    except SandboxFailed as failed:
        call.logs = failed.logs
        raise ExecutionFailed(failed.kind, failed.message) from None
    call.logs = outcome.logs
    return outcome.output


def require_runtime(name: str) -> Runtime:
    runtime = find_runtime(name)
    if runtime is None:
        raise ExecutionFailed("not_configured", "config.runtime must name Python or JavaScript.")
    return runtime


def require_packages(call: ExecutorCall) -> Path | None:
    """Return the folder of the tool's packages, or None if it needs none."""
    wanted, tool = call.config.get("packages"), call.tool
    if not wanted:
        return None
    is_overridden = any(call.config.get(key) != tool.config.get(key) for key in ("packages", "runtime"))
    folder = None if is_overridden else packages_folder(call.ctx.settings, tool)
    if folder is not None:
        return folder
    if is_overridden:
        reason = "An override cannot change the packages of a tool."
    elif tool.packages_status is PackagesStatus.failed:
        reason = tool.packages_error or "The packages of this tool could not be installed."
    else:
        reason = "The packages of this tool are not installed yet."
    raise ExecutionFailed("packages_unavailable", reason)
