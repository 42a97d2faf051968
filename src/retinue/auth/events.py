from retinue.kit.events.declare import Event, event


@event(
    "system.auth.login_failed",
    subject="user_id",
    audited=True,
    example={"user_id": "usr_…", "reason": "invalid_credentials", "purpose": "login"},
)
class LoginFailed(Event, kw_only=True):
    """A sign-in to an account, or a confirmation by its owner, failed."""

    user_id: str
    reason: str
    purpose: str


@event(
    "system.auth.token_reuse",
    subject="user_id",
    audited=True,
    example={"user_id": "usr_…", "session_id": "ses_…"},
)
class RefreshTokenReused(Event, kw_only=True):
    """A spent refresh token was used again; its session was ended."""

    user_id: str
    session_id: str


@event("auth.logged_in", subject="user_id", audited=True, listed=False)
class LoggedIn(Event, kw_only=True):
    """Someone signed in."""

    user_id: str
    session_id: str
    second_factor: bool


@event("auth.logged_out", subject="user_id", audited=True, listed=False)
class LoggedOut(Event, kw_only=True):
    """A session was ended by its user."""

    user_id: str
    session_id: str


@event("auth.sessions_ended", subject="user_id", audited=True, listed=False)
class OtherSessionsEnded(Event, kw_only=True):
    """A user ended all their other sessions."""

    user_id: str
    count: int


@event("auth.session_revoked", subject="user_id", audited=True, listed=False)
class SessionRevoked(Event, kw_only=True):
    """An administrator ended a session of a user."""

    user_id: str
    session_id: str


@event("auth.email_verified", subject="user_id", audited=True, listed=False)
class EmailVerified(Event, kw_only=True):
    """A user verified their email address."""

    user_id: str


@event("auth.password_reset_requested", subject="user_id", audited=True, listed=False)
class PasswordResetRequested(Event, kw_only=True):
    """A password reset link was mailed."""

    user_id: str


@event("auth.password_reset_link_printed", subject="user_id", audited=True, listed=False)
class PasswordResetLinkPrinted(Event, kw_only=True):
    """A password reset link was printed on the server's command line."""

    user_id: str


@event("auth.password_reset_link_issued", subject="user_id", audited=True, listed=False)
class PasswordResetLinkIssued(Event, kw_only=True):
    """An administrator had a password reset link made for a user.

    `is_link_shown`: there is no mail server, so the administrator got the link.
    """

    user_id: str
    is_link_shown: bool


@event("auth.password_changed", subject="user_id", audited=True, listed=False)
class PasswordChanged(Event, kw_only=True):
    """A password was changed: by its owner, who knew the old one, or with a reset link."""

    user_id: str
    with_link: bool


@event("tenant.acted_in", subject="user_id", audited=True, listed=False)
class TenantActedIn(Event, kw_only=True):
    """A super administrator of another tenant changed something in this one, or began to read here.

    Each request that is no read is recorded, and the first read of a session in an hour.
    """

    user_id: str
    method: str
    path: str
