from collections.abc import Mapping
from typing import Any

from retinue.kit.errors import Conflict, RetinueError


class ToolNotFound(RetinueError):
    """There is no such tool."""

    status, code = 404, "tool_not_found"


class ToolExecutionNotFound(RetinueError):
    """There is no such execution."""

    status, code = 404, "execution_not_found"


class ToolSlugTaken(Conflict):
    """Another tool already has this slug. Choose a different one."""

    code = "slug_taken"


class ToolDisabled(Conflict):
    """The tool is disabled. Enable it before executing it."""

    code = "tool_disabled"


class ToolNotRefreshable(Conflict):
    """Only a tool that was imported from an MCP server can be refreshed."""

    code = "tool_not_refreshable"


class McpServerNotAllowed(RetinueError):
    """Outgoing calls may not go to this MCP server. Use a public address or RETINUE_EGRESS_ALLOW."""

    status, code = 422, "ssrf_blocked"


class McpServerFailed(RetinueError):
    """The MCP server could not be listed. Check its address, its credentials and its logs."""

    status, code = 502, "mcp_failed"


EXECUTION_CODES = {
    "auth_error": "The credential is missing, incomplete, expired or refused by the destination.",
    "credential_access_denied": "The credential may not be used by this tool.",
    "destination_changed": "The secret was entered for another destination.",
    "forbidden": "The account that started the run may no longer run tools.",
    "http_error": "The destination answered with an error status; `details` has its response.",
    "invalid_output": "The output does not match `output_schema`, or is not JSON.",
    "memory_exceeded": "The code used more memory than allowed.",
    "network_error": "The destination could not be reached.",
    "not_configured": "The configuration of the tool is incomplete or not valid.",
    "output_too_large": "The output is larger than allowed.",
    "packages_unavailable": "The packages of the tool could not be installed.",
    "runtime_error": "The tool failed, or its run was interrupted.",
    "sandbox_unavailable": "This machine cannot confine the code, so it is not run.",
    "ssrf_blocked": "Outgoing calls may not go to this destination.",
    "timeout": "The tool did not finish in time.",
    "too_deep": "Tools, workflows and agents call each other too deeply.",
    "tool_removed": "The MCP server no longer has this function.",
}
"""The codes of failed runs. A kind of another domain may add the codes of its errors."""


class ExecutionFailed(Exception):
    """A failed run. It is part of a normal response, not an error of the request."""

    def __init__(self, code: str, message: str, *, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = dict(details) if details else None
