"""How the use of a foreign database can end badly; the codes are those of a failed tool execution."""

from retinue.kit.errors import RetinueError


class QueryNotAllowed(RetinueError):
    """This statement is not allowed."""

    status, code = 422, "query_not_allowed"


class DatabaseFailed(RetinueError):
    """The database could not be used."""

    status, code = 502, "runtime_error"


class DatabaseNotConfigured(DatabaseFailed):
    """The connection is not complete."""

    status, code = 422, "not_configured"


class DatabaseUnreachable(DatabaseFailed):
    """The database server could not be reached."""

    code = "network_error"


class DatabaseLoginRefused(DatabaseFailed):
    """The database server refused the login."""

    code = "auth_error"


class DatabaseLoginTooPowerful(DatabaseFailed):
    """This login may read the server's files or is a superuser; use one that only has the rights it needs."""

    code = "auth_error"


class DatabaseTimeout(DatabaseFailed):
    """The database did not answer in time; the statement was cancelled."""

    status, code = 504, "timeout"


class ResultTooLarge(DatabaseFailed):
    """The result is larger than allowed; ask for fewer rows or columns."""

    code = "output_too_large"


class QueryFailed(DatabaseFailed):
    """The database did not accept the statement."""


# A shorter one would take letters out of ordinary words.
_SHORTEST_SECRET = 4


def said(message: str, *secrets: str) -> str:
    """What a server said, on one line, not too long, and without the secrets it was given."""
    line = " ".join(message.split())
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            line = line.replace(secret, "***")
    return line if len(line) <= 300 else f"{line[:299]}…"
