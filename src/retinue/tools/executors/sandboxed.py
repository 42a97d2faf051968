"""Code of users on its way into the sandbox, which is the only place where it runs."""

from pathlib import Path
from typing import Any

from retinue.adapters.sandbox import Code, Sandbox, SandboxFailed
from retinue.adapters.sandbox.code import Runtime
from retinue.tools.calls import Call
from retinue.tools.configuration import find_runtime
from retinue.tools.errors import ExecutionFailed
from retinue.tools.models import PackagesStatus
from retinue.tools.packages import packages_folder


async def run_code(call: Call, code: Code) -> Any:
    """What the code gave; what it printed is kept however it ended."""
    try:
        outcome = await call.ctx.adapter(Sandbox).run(code, call.input, timeout_s=call.timeout_s)
    except SandboxFailed as failed:
        call.logs = failed.logs
        raise ExecutionFailed(failed.kind, failed.message) from None
    call.logs = outcome.logs
    return outcome.output


def runtime_of(name: str) -> Runtime:
    runtime = find_runtime(name)
    if runtime is None:
        raise ExecutionFailed("not_configured", "config.runtime must name Python or JavaScript.")
    return runtime


def packages_of(call: Call) -> Path | None:
    """The folder of the packages the code asks for, all of which are there."""
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
