"""Errors of outgoing calls; messages never reveal an address or URL that the caller did not supply."""

from retinue.kit.errors import InternalError, RetinueError
from retinue.kit.metrics import declarations as metrics


class EgressRefused(RetinueError):
    """The destination is not allowed for outgoing calls. Use a public address or RETINUE_EGRESS_ALLOW."""

    status, code = 422, "ssrf_blocked"

    def __init__(self, reason: str, message: str | None = None) -> None:
        """Take a reason: url, scheme, https_required, port, address, redirect, method or header."""
        self.reason = reason
        metrics.EGRESS_REFUSED.count(reason)
        super().__init__(message, details={"reason": reason})


class EgressFailed(InternalError):
    """The destination could not be reached."""

    code = "network_error"


class EgressTimeout(InternalError):
    """The destination did not respond in time."""

    code = "timeout"


class ResponseTooLarge(InternalError):
    """The destination's response is larger than allowed."""

    code = "output_too_large"
