"""Why PostgreSQL cannot be used, in words for the operator; a password is never shown."""

from urllib.parse import parse_qs, unquote, urlsplit

import asyncpg

from retinue.kit.connection_faults import describe_fault, shown_address
from retinue.kit.db.postgres_connect import CONNECTION_LOST_ERRORS, connect
from retinue.kit.errors import CannotStart

URL_SETTING = "RETINUE_DATABASE_URL"
DIRECT_URL_SETTING = "RETINUE_DATABASE_DIRECT_URL"
CONNECT_ERRORS = (asyncpg.PostgresError, *CONNECTION_LOST_ERRORS, TimeoutError, ValueError)
_PORT = 5432


async def require_connection(url: str, setting: str) -> None:
    """Raise CannotStart unless the URL of this setting leads to a database."""
    try:
        connection = await connect(url, keeps_statements=False, is_command=True)
    except CONNECT_ERRORS as error:
        raise cannot_connect(url, error, setting) from error
    await connection.close(timeout=5)


def cannot_connect(url: str, error: Exception, setting: str) -> CannotStart:
    """Return the error that says which server, which database, which setting, and why."""
    if isinstance(error, ValueError) and not isinstance(error, OSError | asyncpg.PostgresError):
        # The driver's text may quote parts of the URL.
        return CannotStart(
            f"{setting} is not a valid URL. It must look like postgresql://user:password@host:5432/database, "
            "with special characters of the password percent-encoded."
        )
    where = f"PostgreSQL at {_address(url)}, database {_database(url)}"
    return CannotStart(f"{where}, cannot be used: {_reason(url, error)}. Check {setting}.")


def _reason(url: str, error: Exception) -> str:
    user, text = _user(url) or "this user", " ".join(str(error).split())[:300].rstrip(".")
    reasons = {
        asyncpg.InvalidPasswordError: f"it rejected the password of {user}",
        asyncpg.InvalidAuthorizationSpecificationError: f"it does not let {user} in ({text})",
        asyncpg.InvalidCatalogNameError: "it has no database of this name",
        asyncpg.TooManyConnectionsError: "it has no connection left (max_connections)",
        asyncpg.CannotConnectNowError: f"it is starting or stopping ({text})",
        asyncpg.PostgresError: f"it refused the connection ({text})",
    }
    known = next((reason for kind, reason in reasons.items() if isinstance(error, kind)), None)
    if known is None and "rejected SSL upgrade" in text:
        return "it does not offer TLS, which sslmode asks for"
    return known or describe_fault(error)


def _address(url: str) -> str:
    named = parse_qs(urlsplit(url).query)
    if "host" in named and not urlsplit(url).netloc.rpartition("@")[2]:
        return f"{named['host'][0]}:{named.get('port', [str(_PORT)])[0]}"
    return shown_address(url, _PORT)


def _database(url: str) -> str:
    parts = urlsplit(url)
    if "@" in parts.path:
        return "unknown"
    return unquote(parts.path.strip("/")) or parse_qs(parts.query).get("database", [_user(url)])[0]


def _user(url: str) -> str:
    return unquote(urlsplit(url).username or "")
