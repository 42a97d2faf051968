from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from retinue.auth.schemas.sign_in import Password
from retinue.kit.clock import Instant
from retinue.kit.schema.base import Name, Schema


class MfaSignIn(Schema, kw_only=True):
    session: Literal["cookie"] | UnsetType = UNSET
    remember: bool = False
    mfa_token: Annotated[str, Meta(min_length=1, max_length=4096)]
    code: str


class MfaCode(Schema, kw_only=True):
    code: str


class StepUp(Schema, kw_only=True):
    """Sensitive operations accept a code or the password as additional proof."""

    code: str | None = None
    password: Password | None = None


class MfaSetupRequest(StepUp, kw_only=True):
    name: Name | None = None


class MfaSetup(Schema, kw_only=True):
    secret: str
    qr_code_url: str
    otpauth_url: str
    recovery_codes: list[str]


class MfaEnabledOut(Schema, kw_only=True):
    message: str
    recovery_codes_count: int


class MfaValidity(Schema, kw_only=True):
    valid: bool


class MfaStatus(Schema, kw_only=True):
    enabled: bool
    method: str = "totp"
    devices_count: int
    recovery_codes_remaining: int


class MfaDeviceOut(Schema, kw_only=True):
    id: str
    name: str
    type: str
    created_at: Instant
    last_used_at: Instant | None


class MfaDevices(Schema, kw_only=True):
    devices: list[MfaDeviceOut]


class RecoveryCodes(Schema, kw_only=True):
    recovery_codes: list[str]
    message: str
