from collections.abc import Mapping
from typing import Any

from retinue.kit.errors import Conflict, RetinueError


class ToolNotFound(RetinueError):
    """There is no such tool."""

    status, code = 404, "tool_not_found"


class ExecutionNotFound(RetinueError):
    """There is no such execution."""

    status, code = 404, "execution_not_found"


class SlugTaken(Conflict):
    """Another tool has this slug."""

    code = "slug_taken"


class ToolDisabled(Conflict):
    """This tool is disabled."""

    code = "tool_disabled"


class ExecutionFailed(Exception):
    """How a run went wrong; it is part of a normal answer, never an error of the request.

    `code` is one of the contract's: timeout, invalid_output, http_error, network_error, ssrf_blocked,
    auth_error, credential_access_denied, query_not_allowed, runtime_error, memory_exceeded, output_too_large,
    approval_denied, not_configured, destination_changed, sandbox_unavailable, packages_unavailable.
    """

    def __init__(self, code: str, message: str, *, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = dict(details) if details else None
