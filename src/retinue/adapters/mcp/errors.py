"""Failures of MCP servers."""

from typing import Literal

from retinue.kit.errors import InternalError

FailureKind = Literal[
    "network_error",
    "auth_error",
    "protocol_error",
    "timeout",
    "ssrf_blocked",
    "output_too_large",
    "tool_not_found",
]


class McpFailed(InternalError):
    """The MCP server did not do what it was asked. Check its address, its credentials and its logs."""

    def __init__(self, kind: FailureKind, message: str | None = None) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind


class RpcRefused(McpFailed):
    """The MCP server returned a JSON-RPC error. Check the arguments of the call."""

    def __init__(self, rpc_code: int, message: str, data: object = None) -> None:
        shown = message[:300] or f"error {rpc_code}"
        super().__init__("protocol_error", f"The MCP server rejected the request: {shown}")
        self.rpc_code = rpc_code
        self.data = data


class StatusRefused(McpFailed):
    """The MCP server returned an HTTP status without a result. Check its address and its logs."""

    def __init__(self, http_status: int) -> None:
        is_transient = http_status >= 500 or http_status in {408, 429}
        super().__init__(
            "network_error" if is_transient else "protocol_error",
            f"The MCP server returned HTTP status {http_status}.",
        )


class ConnectionStale(Exception):
    """The negotiated session or version is no longer valid; never leaves this package."""

    def __init__(self, failure: McpFailed) -> None:
        """`failure` is raised if a new connection does not help."""
        super().__init__(failure.message)
        self.failure = failure
