from retinue.kit.errors import Conflict, RetinueError, Unavailable
from retinue.kit.references import Referrer


class CredentialNotFound(RetinueError):
    """There is no such credential."""

    status, code = 404, "credential_not_found"


class AccessRuleNotFound(RetinueError):
    """There is no such access rule."""

    status, code = 404, "access_rule_not_found"


class CredentialInUse(Conflict):
    """This credential is in use; detach it first, or delete it with force=true."""

    code = "credential_in_use"

    def __init__(self, users: dict[str, list[Referrer]]) -> None:
        super().__init__(details={kind: list(found) for kind, found in users.items()})


class CredentialAccessDenied(RetinueError):
    """This credential may not be used here."""

    status, code = 403, "credential_access_denied"


class CredentialUnusable(RetinueError):
    """This credential cannot be used: it has expired, or its secrets are incomplete."""

    status, code = 409, "auth_error"


class TokenNotRenewed(CredentialUnusable):
    """The access token of this credential could not be renewed."""

    def __init__(self, message: str | None = None, *, reason: str = "auth_error") -> None:
        super().__init__(message)
        self.reason = reason


class AuditUnavailable(Unavailable):
    """The audit trail cannot be written, so nothing is revealed."""

    code = "audit_unavailable"


class DestinationChanged(Conflict):
    """The secret was entered for another destination; enter it again to send it here."""

    code = "destination_changed"
