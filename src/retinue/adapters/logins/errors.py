"""Failures of a login test."""

from retinue.kit.errors import InternalError


class LoginCheckFailed(InternalError):
    """The login could not be tested. Check the server and try again."""

    code = "runtime_error"
    shown_in = "credential tests"


class LoginNotConfigured(LoginCheckFailed):
    """The login is incomplete or invalid. Check its settings."""

    code = "not_configured"


class LoginUnreachable(LoginCheckFailed):
    """The server could not be reached. Check its host, port and firewall."""

    code = "network_error"


class LoginRefused(LoginCheckFailed):
    """The server rejected the login. Check the username and the credentials."""

    code = "auth_error"


class HostKeyMismatch(LoginCheckFailed):
    """The server's host key does not match the expected one; no login was attempted.

    Check the fingerprint.
    """

    code = "auth_error"


class LoginTimeout(LoginCheckFailed):
    """The server did not respond in time. Check its address or try again later."""

    code = "timeout"
