from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from retinue.kit.lists import ListQuery
from retinue.kit.schema.base import Name, Schema
from retinue.service_accounts.models import ServiceAccount, ServiceAccountStatus

PermissionKey = Annotated[str, Meta(min_length=1, max_length=100)]
PermissionKeys = Annotated[list[PermissionKey], Meta(min_length=1, max_length=500)]
Network = Annotated[str, Meta(min_length=2, max_length=64)]
Networks = Annotated[list[Network], Meta(max_length=100)]
Description = Annotated[str, Meta(max_length=500)]
PerMinute = Annotated[int, Meta(ge=1, le=1_000_000)]
MonthlyTokens = Annotated[int, Meta(ge=1, le=1_000_000_000_000)]


class ServiceAccountCreate(Schema, kw_only=True):
    """A new account has no secret yet."""

    name: Name
    permissions: PermissionKeys
    description: Description = ""
    expires_at: str | None = None
    allowed_ips: Networks | None = None
    rate_limit_per_minute: PerMinute | None = None
    monthly_token_budget: MonthlyTokens | None = None
    strict: bool = False


class ServiceAccountUpdate(Schema, kw_only=True):
    """Fields that are omitted stay as they are."""

    name: Name | UnsetType = UNSET
    permissions: PermissionKeys | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    status: Literal["active", "disabled"] | UnsetType = UNSET
    expires_at: str | UnsetType | None = UNSET
    allowed_ips: Networks | UnsetType = UNSET
    rate_limit_per_minute: PerMinute | UnsetType | None = UNSET
    monthly_token_budget: MonthlyTokens | UnsetType | None = UNSET
    strict: bool | UnsetType = UNSET


class ServiceAccountOut(Schema, kw_only=True):
    """`client_id` is the id of the account, under the name that OAuth clients know."""

    id: str
    client_id: str
    name: str
    description: str
    permissions: list[str]
    status: ServiceAccountStatus
    expires_at: str | None
    allowed_ips: list[str]
    rate_limit_per_minute: int | None
    monthly_token_budget: int | None
    strict: bool
    tokens_used: int
    last_used_at: str | None
    last_used_ip: str | None
    created_by: str
    created_at: str
    updated_at: str


class ServiceAccountList(ListQuery, kw_only=True):
    pass


class SecretCreate(Schema, kw_only=True):
    """Without `expires_at`, the secret works for 90 days."""

    name: Annotated[str, Meta(max_length=100)] = ""
    expires_at: str | None = None


class SecretOut(Schema, kw_only=True):
    id: str
    client_id: str
    secret_prefix: str
    name: str
    expires_at: str
    last_used_at: str | None
    created_at: str


class NewSecretOut(Schema, kw_only=True):
    """`client_secret` is shown only in this response."""

    id: str
    client_id: str
    client_secret: str
    secret_prefix: str
    name: str
    expires_at: str
    created_at: str


class SecretList(Schema, kw_only=True):
    data: list[SecretOut]


class IssuedToken(Schema, kw_only=True):
    """The answer of RFC 6749, section 5.1; there is no refresh token."""

    access_token: str
    token_type: Literal["Bearer"] = "Bearer"  # noqa: S105  a type, not a token
    expires_in: int
    scope: str


class AuthorizationServer(Schema, kw_only=True):
    """The metadata of RFC 8414."""

    issuer: str
    token_endpoint: str
    response_types_supported: list[str]
    grant_types_supported: list[str]
    token_endpoint_auth_methods_supported: list[str]
    scopes_supported: list[str]


def current_status(account: ServiceAccount, now: str) -> ServiceAccountStatus:
    if account.status is ServiceAccountStatus.active and account.expires_at and account.expires_at <= now:
        return ServiceAccountStatus.expired
    return account.status
