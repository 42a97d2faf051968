"""How an outgoing call can end badly; no message names an address or a URL the caller did not give."""

from retinue.kit.errors import RetinueError


class EgressRefused(RetinueError):
    """Outgoing calls may not go there."""

    status, code = 422, "ssrf_blocked"

    def __init__(self, reason: str, message: str | None = None) -> None:
        """`reason` is url, scheme, https_required, port, address, redirect, method or header."""
        self.reason = reason
        super().__init__(message, details={"reason": reason})


class EgressFailed(RetinueError):
    """The destination could not be reached."""

    status, code = 502, "network_error"


class EgressTimeout(RetinueError):
    """The destination did not answer in time."""

    status, code = 504, "timeout"


class ResponseTooLarge(RetinueError):
    """The destination's answer is larger than allowed."""

    status, code = 502, "output_too_large"
