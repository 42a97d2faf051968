from retinue.kit.errors import Conflict, Forbidden, Invalid, RetinueError, Unauthorized


class InvalidCredentials(Unauthorized):
    """The email or the password is wrong."""

    def __init__(self) -> None:
        super().__init__("invalid_credentials")


class InvalidRefreshToken(Unauthorized):
    """The refresh token is not valid. Sign in again."""

    def __init__(self) -> None:
        super().__init__("invalid_refresh_token")


class ForeignOrigin(Forbidden):
    """A cookie session accepts requests from pages of this server only."""

    def __init__(self) -> None:
        super().__init__("own_origin", "", reason="foreign_origin", message=type(self).__doc__)


class MfaTokenInvalid(Unauthorized):
    """The sign-in has expired or was tried too often. Start again."""

    def __init__(self) -> None:
        super().__init__("mfa_token_invalid")


class InvalidCode(Unauthorized):
    """The code is wrong."""

    def __init__(self) -> None:
        super().__init__("invalid_code")


class AccountInactive(Forbidden):
    """This account is deactivated. Ask an administrator to reactivate it."""

    def __init__(self, role: str) -> None:
        super().__init__("active_account", role, reason="account_inactive", message=type(self).__doc__)


class EmailNotVerified(Forbidden):
    """Verify your email address first. A link was sent to it."""

    def __init__(self, role: str) -> None:
        super().__init__("verified_email", role, reason="email_not_verified", message=type(self).__doc__)


class InvalidToken(Invalid):
    """The link is no longer valid. Ask for a new one."""

    def __init__(self) -> None:
        super().__init__({"token": "is not valid or has expired"})


class WrongCurrentPassword(Invalid):
    """The current password is wrong."""

    def __init__(self) -> None:
        super().__init__({"current_password": "is not your current password"})


class InvalidInvitation(Invalid):
    """The invitation is not valid. Ask for a new one."""

    def __init__(self) -> None:
        super().__init__({"invite_token": "is not valid for this address or has expired"})


class RegistrationDisabled(Forbidden):
    """Registration is closed on this instance. Ask an administrator for an invitation."""

    def __init__(self) -> None:
        super().__init__(
            "invitation", "anonymous", reason="registration_disabled", message=type(self).__doc__
        )


class RegistrationBeforeSetup(Forbidden):
    """This instance has no administrator yet. People can register once it is set up."""

    def __init__(self) -> None:
        super().__init__(
            "administrator", "anonymous", reason="registration_disabled", message=type(self).__doc__
        )


class SetupClosed(Conflict):
    """This instance is set up already. Sign in."""

    code = "setup_closed"


class StepUpRequired(Forbidden):
    """Confirm with a code or your password."""

    def __init__(self, role: str, message: str | None = None) -> None:
        super().__init__("step_up", role, reason="step_up_required", message=message or type(self).__doc__)


class MfaNotSetUp(Conflict):
    """Set up an authenticator first."""

    code = "mfa_not_setup"


class MfaNotEnabled(Conflict):
    """Multi-factor authentication is not enabled."""

    code = "mfa_not_enabled"


class TooManyDevices(Conflict):
    """You have the maximum number of authenticators. Remove one first."""

    code = "too_many_devices"


class DeviceNotFound(RetinueError):
    """There is no such device."""

    status, code = 404, "device_not_found"


class SessionNotFound(RetinueError):
    """There is no such session."""

    status, code = 404, "session_not_found"
