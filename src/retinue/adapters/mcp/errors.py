"""How speaking to an MCP server can end badly."""

from typing import Any, Literal

from retinue.kit.errors import RetinueError

FailureKind = Literal[
    "network_error",
    "auth_error",
    "protocol_error",
    "timeout",
    "ssrf_blocked",
    "output_too_large",
    "tool_not_found",
]


class McpFailed(RetinueError):
    """The MCP server did not do what it was asked."""

    status, code = 502, "mcp_failed"

    def __init__(self, kind: FailureKind, message: str | None = None) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind


class RpcRefused(McpFailed):
    """The MCP server answered with a JSON-RPC error."""

    def __init__(self, rpc_code: int, message: str, data: Any = None) -> None:
        shown = message[:300] or f"error {rpc_code}"
        super().__init__("protocol_error", f"The MCP server refused the request: {shown}")
        self.rpc_code = rpc_code
        self.data = data


class StatusRefused(McpFailed):
    """The MCP server answered with an HTTP status that carries no result."""

    def __init__(self, http_status: int) -> None:
        is_passing = http_status >= 500 or http_status in {408, 429}
        super().__init__(
            "network_error" if is_passing else "protocol_error",
            f"The MCP server answered with the HTTP status {http_status}.",
        )


class ConnectionStale(Exception):
    """What was agreed with the server no longer holds: a session or a version; never leaves this package."""

    def __init__(self, failure: McpFailed) -> None:
        """`failure` is what to say when beginning anew does not help."""
        super().__init__(failure.message)
        self.failure = failure
