"""Failures of token requests."""

from typing import Literal, get_args

from retinue.kit.errors import InternalError

# The error codes of RFC 6749 (5.2) and its extensions; others become `refused`.
_RefusalKind = Literal[
    "invalid_client",
    "invalid_grant",
    "invalid_request",
    "invalid_scope",
    "invalid_target",
    "unauthorized_client",
    "unsupported_grant_type",
    "access_denied",
    "refused",
]
FailureKind = Literal[
    _RefusalKind,
    "invalid_response",
    "rate_limited",
    "server_error",
    "network_error",
    "timeout",
    "output_too_large",
    "ssrf_blocked",
]
REFUSALS: dict[str, FailureKind] = {kind: kind for kind in get_args(_RefusalKind)}


class OAuthFailed(InternalError):
    """The token endpoint returned no token. Check the client's credentials and the token URL."""

    def __init__(self, kind: FailureKind, message: str | None = None, *, permanent: bool = False) -> None:
        """`permanent` means that the same request would be rejected again."""
        super().__init__(message)
        self.kind: FailureKind = kind
        self.permanent = permanent
