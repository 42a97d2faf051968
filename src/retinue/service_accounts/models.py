from enum import StrEnum
from typing import Annotated

from retinue.kit.clock import Instant
from retinue.kit.db.models import Ref, ServerDefault, TenantRecord, table


class ServiceAccountStatus(StrEnum):
    """`expired` follows from `expires_at` and is never stored."""

    active = "active"
    disabled = "disabled"
    expired = "expired"


@table(
    "service_accounts",
    prefix="sac",
    unique=[("tenant_id", "name")],
    identity_columns=(
        "permissions",
        "status",
        "expires_at",
        "allowed_ips",
        "rate_limit_per_minute",
        "monthly_token_budget",
        "strict",
    ),
)
class ServiceAccount(TenantRecord, kw_only=True):
    """A machine that calls the API with permissions of its own; it owns what it creates.

    `tokens_used` counts the tokens of `tokens_month`. A `strict` account's requests are refused if a name in
    them has no effect.
    """

    name: str
    description: str = ""
    permissions: list[str]
    status: ServiceAccountStatus = ServiceAccountStatus.active
    expires_at: Instant | None = None
    allowed_ips: list[str]
    rate_limit_per_minute: int | None = None
    monthly_token_budget: int | None = None
    strict: Annotated[bool, ServerDefault("false")] = False
    tokens_used: int = 0
    tokens_month: str = ""
    last_used_at: Instant | None = None
    last_used_ip: str | None = None
    created_by: str


@table("service_account_secrets", prefix="scs", unique=[("secret_hash",)], identity_columns=("expires_at",))
class ServiceAccountSecret(TenantRecord, kw_only=True):
    """A secret that yields access tokens; only the hash of its 256 random bits is stored."""

    account_id: Annotated[str, Ref(ServiceAccount, cascade=True)]
    name: str
    secret_prefix: str
    secret_hash: str
    expires_at: Instant
    last_used_at: Instant | None = None
    created_by: str


@table("token_refusals", prefix="tkr", unique=[("tenant_id", "account_id", "reason")])
class TokenRefusals(TenantRecord, kw_only=True):
    """The refusals of tokens for one account and reason that no audit row stands for yet.

    `hour` is that of the last audit row, `since` the time of the first uncounted refusal; the caller is the
    last one.
    """

    account_id: Annotated[str, Ref(ServiceAccount, cascade=True)]
    error: str
    reason: str
    hour: str = ""
    count: int = 0
    since: Instant = ""
    ip_address: str = ""
    user_agent: str = ""
