from retinue.kit.events.declare import Event, event


@event("auth.mfa_enabled", subject="user_id", audited=True, listed=False)
class MfaEnabled(Event, kw_only=True):
    """An account enabled multi-factor authentication."""

    user_id: str


@event("auth.mfa_disabled", subject="user_id", audited=True, listed=False)
class MfaDisabled(Event, kw_only=True):
    """An account disabled multi-factor authentication."""

    user_id: str


@event("auth.mfa_device_added", subject="user_id", audited=True, listed=False)
class MfaDeviceAdded(Event, kw_only=True):
    """An authenticator was enabled."""

    user_id: str
    device_id: str
    name: str


@event("auth.mfa_device_removed", subject="user_id", audited=True, listed=False)
class MfaDeviceRemoved(Event, kw_only=True):
    """An authenticator was removed."""

    user_id: str
    device_id: str
    name: str


@event("auth.mfa_code_refused", subject="user_id", audited=True, listed=False)
class MfaCodeRefused(Event, kw_only=True):
    """A signed-in user entered a wrong code."""

    user_id: str
    purpose: str


@event("auth.recovery_codes_renewed", subject="user_id", audited=True, listed=False)
class RecoveryCodesRenewed(Event, kw_only=True):
    """A new set of recovery codes replaced the old one."""

    user_id: str


@event("auth.recovery_code_used", subject="user_id", audited=True, listed=False)
class RecoveryCodeUsed(Event, kw_only=True):
    """A recovery code was used."""

    user_id: str
    purpose: str
    remaining: int


@event(
    "system.auth.recovery_codes_low",
    subject="user_id",
    audited=True,
    example={"user_id": "usr_…", "remaining": 2},
)
class RecoveryCodesLow(Event, kw_only=True):
    """An account has fewer than three recovery codes left."""

    user_id: str
    remaining: int
