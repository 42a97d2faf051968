"""Failures of foreign databases; the codes are those of a failed tool execution."""

from retinue.kit.errors import InternalError


class QueryNotAllowed(InternalError):
    """The statement is not allowed. Use only the operations and features that the tool permits."""

    code = "query_not_allowed"
    shown_in = "tool executions"


class DatabaseFailed(InternalError):
    """The database could not be used. Check the connection and try again."""

    code = "runtime_error"
    shown_in = "tool executions, credential tests"


class DatabaseNotConfigured(DatabaseFailed):
    """The database connection is incomplete or invalid. Check its settings."""

    code = "not_configured"


class DatabaseUnreachable(DatabaseFailed):
    """The database server could not be reached. Check its host, port and firewall."""

    code = "network_error"


class DatabaseLoginRefused(DatabaseFailed):
    """The database server rejected the login. Check the username and the password."""

    code = "auth_error"


class DatabaseLoginTooPowerful(DatabaseFailed):
    """This login is a superuser or can read the server's files. Use one with only the privileges it needs."""

    code = "auth_error"


class DatabaseTimeout(DatabaseFailed):
    """The database did not respond in time; the statement was cancelled. Simplify it and try again."""

    code = "timeout"


class ResultTooLarge(DatabaseFailed):
    """The result is too large. Request fewer rows or columns."""

    code = "output_too_large"


class QueryFailed(DatabaseFailed):
    """The database rejected the statement. Check its syntax and values."""


# Replacing shorter secrets would mutilate ordinary words.
_MIN_SECRET_LENGTH = 4


def redact_server_message(message: str, *secrets: str) -> str:
    """Return a server's message as one short line without the given secrets."""
    line = " ".join(message.split())
    for secret in secrets:
        if len(secret) >= _MIN_SECRET_LENGTH:
            line = line.replace(secret, "***")
    return line if len(line) <= 300 else f"{line[:299]}…"
