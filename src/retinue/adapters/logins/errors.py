"""How the check of a login can end badly."""

from retinue.kit.errors import RetinueError


class LoginFailed(RetinueError):
    """The login could not be checked."""

    status, code = 502, "runtime_error"


class LoginNotConfigured(LoginFailed):
    """The login is not complete."""

    status, code = 422, "not_configured"


class LoginUnreachable(LoginFailed):
    """The server could not be reached."""

    code = "network_error"


class LoginRefused(LoginFailed):
    """The server refused the login."""

    code = "auth_error"


class HostKeyMismatch(LoginFailed):
    """The server's key is not the expected one, so no login was tried."""

    code = "auth_error"


class LoginTimeout(LoginFailed):
    """The server did not answer in time."""

    status, code = 504, "timeout"
