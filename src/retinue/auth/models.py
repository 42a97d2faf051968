from enum import StrEnum
from typing import Annotated

from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import Record, Ref, ServerDefault, TenantRecord, table
from retinue.users.models import User


@table(
    "sessions",
    prefix="ses",
    indexes=[("tenant_id", "user_id"), ("expires_at",)],
    identity_columns=("second_factor_at",),
)
class Session(TenantRecord, kw_only=True):
    """A sign-in and its chain of refresh tokens. Ending the session deletes the row."""

    user_id: Annotated[str, Ref(User, cascade=True)]
    expires_at: Instant
    last_used_at: Instant
    second_factor_at: Instant | None = None
    ip_address: str = ""
    user_agent: str = ""


@table(
    "refresh_tokens",
    prefix="rft",
    unique=[("token_hash",)],
    indexes=[("tenant_id", "session_id"), ("spent_at",)],
)
class RefreshToken(TenantRecord, kw_only=True):
    """An issued refresh token. Spent ones are kept as long as the session, to detect reuse."""

    session_id: Annotated[str, Ref(Session, cascade=True)]
    token_hash: str
    generation: int
    spent_at: Instant | None = None


class TokenPurpose(StrEnum):
    verify_email = "verify_email"
    reset_password = "reset_password"  # noqa: S105  a purpose, not a password


@table(
    "one_time_tokens",
    prefix="ott",
    unique=[("token_hash",)],
    indexes=[("tenant_id", "user_id"), ("expires_at",)],
)
class OneTimeToken(TenantRecord, kw_only=True):
    """A mailed link that works once. Only its hash is stored."""

    user_id: Annotated[str, Ref(User, cascade=True)]
    purpose: TokenPurpose
    token_hash: str
    expires_at: Instant


@table("mfa_devices", prefix="mfa", indexes=[("tenant_id", "user_id")])
class MfaDevice(TenantRecord, kw_only=True):
    """An authenticator, active after its first code. A time step is accepted once for each purpose.

    `trusted_from`: when it may remove other factors; empty if another factor vouched for it.
    """

    user_id: Annotated[str, Ref(User, cascade=True)]
    name: str
    secret: Sealed
    is_active: bool = False
    last_used_at: Instant | None = None
    last_enable_step: int = 0
    last_login_step: int = 0
    last_disable_step: int = 0
    last_step_up_step: int = 0
    trusted_from: Annotated[Instant, ServerDefault("''")] = ""


@table("recovery_codes", prefix="rec", unique=[("tenant_id", "user_id", "code_hash")])
class RecoveryCode(TenantRecord, kw_only=True):
    """One of ten codes; a used one is deleted. A set becomes active when its device is enabled."""

    user_id: Annotated[str, Ref(User, cascade=True)]
    code_hash: str
    is_active: bool = False
    trusted_from: Annotated[Instant, ServerDefault("''")] = ""


@table("mfa_challenges", prefix="mfc", indexes=[("expires_at",), ("tenant_id", "user_id")])
class MfaChallenge(TenantRecord, kw_only=True):
    """A sign-in that waits for its second factor; deleted when it is used or has expired."""

    user_id: Annotated[str, Ref(User, cascade=True)]
    expires_at: Instant
    tries: int = 0


@table("instance_setup", prefix="stp")
class InstanceSetup(Record, kw_only=True):
    """Whether the instance waits for its first administrator: one row, with hashes of the printed links."""

    token_hashes: list[str]
    closed_at: Instant | None = None


class PasswordPurpose(StrEnum):
    """The action that a password confirms."""

    login = "login"
    change_password = "change_password"  # noqa: S105  a purpose, not a password
    step_up = "step_up"
