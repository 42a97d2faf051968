"""How asking for a token can end badly."""

from typing import Literal, get_args

from retinue.kit.errors import RetinueError

# What RFC 6749 (5.2) and its relatives call it; other words of a server become `refused`.
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


class OAuthFailed(RetinueError):
    """The token endpoint gave no token."""

    status, code = 502, "oauth_failed"

    def __init__(self, kind: FailureKind, message: str | None = None, *, permanent: bool = False) -> None:
        """`permanent` says that asking the same again would be refused again."""
        super().__init__(message)
        self.kind: FailureKind = kind
        self.permanent = permanent
