from typing import Any

from retinue.kit.errors import Conflict, Forbidden, NotFound, RateLimited, RetinueError
from retinue.kit.logging import current_request
from retinue.kit.principal import SERVICE_ACCOUNT_ROLE
from retinue.kit.schema.base import Schema
from retinue.usage.errors import MonthlyTokensSpent


class ServiceAccountNotFound(NotFound):
    """There is no such service account."""

    code = "service_account_not_found"


class SecretNotFound(NotFound):
    """The service account has no such secret."""

    code = "secret_not_found"


class ServiceAccountNameTaken(Conflict):
    """Another service account has this name."""

    code = "name_taken"


class TooManySecrets(Conflict):
    """The service account already has two valid secrets. Delete one that is no longer used."""

    code = "too_many_secrets"


class AddressNotAllowed(Forbidden):
    """The service account may not be used from this IP address. Add the address to its allowed_ips."""

    def __init__(self) -> None:
        super().__init__("allowed_ip", SERVICE_ACCOUNT_ROLE, reason="ip_not_allowed")


class AccountTokensSpent(MonthlyTokensSpent):
    """The service account has used up its tokens for this month."""

    scope_type = "service_account"


class TokenRefusal(Schema, kw_only=True):
    """The error of RFC 6749, section 5.2, which OAuth clients read instead of this API's envelope."""

    error: str
    error_description: str
    request_id: str


class OAuthRefusal(RetinueError):
    """The token was refused."""

    status, code = 400, "invalid_request"
    body_shape = TokenRefusal

    def __init__(self, request_id: str, message: str | None = None) -> None:
        super().__init__(message, headers={"Pragma": "no-cache"})
        self.request_id = request_id

    def body(self) -> dict[str, Any]:
        return {"error": self.code, "error_description": self.message, "request_id": self.request_id}


class TooManyTokenRequests(RateLimited):
    """Too many requests for tokens. Try again later."""

    body_shape = TokenRefusal

    def body(self) -> dict[str, Any]:
        request_id = current_request.get().request_id
        return {"error": self.code, "error_description": self.message, "request_id": request_id}


class InvalidTokenRequest(OAuthRefusal):
    """The request for a token is malformed."""


class InvalidClient(OAuthRefusal):
    """The client id or the secret is wrong, or the service account may not get tokens now."""

    code = "invalid_client"


class InvalidBasicClient(InvalidClient):
    """The client id or the secret is wrong, or the service account may not get tokens now."""

    status = 401

    def __init__(self, request_id: str, message: str | None = None) -> None:
        super().__init__(request_id, message)
        self.headers["WWW-Authenticate"] = 'Basic realm="retinue"'


class InvalidScope(OAuthRefusal):
    """The service account does not hold a permission that `scope` names, or there is no such permission."""

    code = "invalid_scope"


class UnsupportedGrantType(OAuthRefusal):
    """Only the grant type client_credentials is supported."""

    code = "unsupported_grant_type"
