from retinue.kit.context.references import Referrer
from retinue.kit.errors import Conflict, RetinueError, Unavailable


class CredentialNotFound(RetinueError):
    """There is no such credential."""

    status, code = 404, "credential_not_found"


class AccessRuleNotFound(RetinueError):
    """There is no such access rule."""

    status, code = 404, "access_rule_not_found"


class CredentialInUse(Conflict):
    """The credential is in use. Detach it first, or delete it with force=true."""

    code = "credential_in_use"

    def __init__(self, users: dict[str, list[Referrer]]) -> None:
        super().__init__(details={kind: list(referrers) for kind, referrers in users.items()})


class CredentialAccessDenied(RetinueError):
    """The credential may not be used here. Add an access rule to allow it."""

    status, code = 403, "credential_access_denied"


class CredentialUnusable(RetinueError):
    """The credential has expired or its secrets are incomplete. Update it."""

    status, code = 409, "auth_error"


class TokenNotRenewed(CredentialUnusable):
    """The access token of the credential could not be renewed. Check its secrets."""

    def __init__(self, message: str | None = None, *, reason: str = "auth_error") -> None:
        super().__init__(message)
        self.reason = reason


class AuditUnavailable(Unavailable):
    """The audit trail cannot be written, so nothing is revealed. Try again later."""

    code = "audit_unavailable"


class DestinationChanged(Conflict):
    """The secret was entered for another destination. Enter it again to send it here."""

    code = "destination_changed"


TEST_CODES = {
    "access_denied": "The token endpoint denied access.",
    "invalid_client": "The token endpoint refused the client id or secret.",
    "invalid_grant": "The token endpoint refused the refresh token.",
    "invalid_request": "The token endpoint considers the request invalid, or there is no refresh token.",
    "invalid_response": "The token endpoint's response has no usable token.",
    "invalid_scope": "The token endpoint refused the scopes.",
    "invalid_target": "The token endpoint refused the target.",
    "network_error": "The test URL or the token endpoint could not be reached.",
    "output_too_large": "The response is larger than allowed.",
    "rate_limited": "The token endpoint accepts no more requests for now.",
    "refused": "The token endpoint refused the request for another reason.",
    "server_error": "The token endpoint is out of order.",
    "ssrf_blocked": "Outgoing calls may not go to this destination.",
    "timeout": "The service or the token endpoint did not respond in time.",
    "unauthorized_client": "The token endpoint does not allow this client the grant.",
    "unsupported_grant_type": "The token endpoint does not support the grant.",
}
"""The codes of failed tests, beside those of databases and servers."""
