from enum import StrEnum
from typing import Annotated

from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import Ref, TenantRecord, table
from retinue.users.models import User


@table("sessions", prefix="ses", indexes=[("tenant_id", "user_id"), ("expires_at",)])
class Session(TenantRecord, kw_only=True):
    """One sign-in and its family of refresh tokens; ending the session deletes the row."""

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
    """A token that was handed out; spent ones stay as long as the session, so that reuse is recognised."""

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
    """A link that was mailed; used once, known by its hash only."""

    user_id: Annotated[str, Ref(User, cascade=True)]
    purpose: TokenPurpose
    token_hash: str
    expires_at: Instant


@table("mfa_devices", prefix="mfa", indexes=[("tenant_id", "user_id")])
class MfaDevice(TenantRecord, kw_only=True):
    """An authenticator; `is_active` once a code of it was shown. A step is accepted once for each purpose."""

    user_id: Annotated[str, Ref(User, cascade=True)]
    name: str
    secret: Sealed
    is_active: bool = False
    last_used_at: Instant | None = None
    last_enable_step: int = 0
    last_login_step: int = 0
    last_disable_step: int = 0
    last_step_up_step: int = 0


@table("recovery_codes", prefix="rec", unique=[("tenant_id", "user_id", "code_hash")])
class RecoveryCode(TenantRecord, kw_only=True):
    """One of ten codes; a used one is deleted. A set is good once the device it came with is enabled."""

    user_id: Annotated[str, Ref(User, cascade=True)]
    code_hash: str
    is_active: bool = False


@table("mfa_challenges", prefix="mfc", indexes=[("expires_at",), ("tenant_id", "user_id")])
class MfaChallenge(TenantRecord, kw_only=True):
    """A sign-in that waits for its second factor; the row goes when it is used, and soon after it expired."""

    user_id: Annotated[str, Ref(User, cascade=True)]
    expires_at: Instant
    tries: int = 0
