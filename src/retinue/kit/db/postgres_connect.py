"""Connections to PostgreSQL itself, or through a pooler such as PgBouncer.

In its transaction mode a pooler gives each transaction of a client to another session of the server, so
nothing that a session keeps may be relied on: prepared statements, `LISTEN`, session settings and locks.
"""

import secrets
from typing import Any, cast

import asyncpg

CONNECTION_LOST_ERRORS = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.InsufficientResourcesError,
    asyncpg.InternalClientError,
    asyncpg.OperatorInterventionError,
    asyncpg.TransactionRollbackError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    ConnectionError,
    OSError,
)
# The session that answers is not the one in which the statement was prepared.
PREPARED_STATEMENT_LOST_ERRORS = (
    asyncpg.InvalidSQLStatementNameError,
    asyncpg.DuplicatePreparedStatementError,
)
SERVER_NAME = "retinue"
"""The `application_name` of the connections of servers and workers: `running_servers` looks for it."""
COMMAND_NAME = "retinue command"
"""That of commands, and of a server until it knows that its database is migrated."""
_CACHED_STATEMENTS = 1000


class UniquelyNamed(asyncpg.Connection):  # type: ignore[misc]
    """Prepares statements under names that no other process uses.

    The driver counts from 1 in every process. Behind a pooler that mixes sessions, one process would then
    run the statement of another with its own arguments; with these names the server refuses instead.
    """

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._name_space = secrets.token_hex(8)

    def _get_unique_id(self, prefix: str) -> str:
        return cast("str", super()._get_unique_id(f"{prefix}_{self._name_space}"))


async def connect(
    url: str, *, keeps_statements: bool, is_patient: bool = False, is_command: bool = False
) -> asyncpg.Connection:
    """Open a connection; one that keeps no statements has no state in the session of the server.

    A patient one sets no limit on the time of a statement: a copy reads whole tables. One of a command does
    not count as a running server.
    """
    more: dict[str, Any] = {"max_cached_statement_lifetime": 0} if keeps_statements else {}
    return await asyncpg.connect(
        url,
        timeout=10 if is_patient else 5,
        command_timeout=None if is_patient else 60,
        statement_cache_size=_CACHED_STATEMENTS if keeps_statements else 0,
        connection_class=UniquelyNamed,
        server_settings={"application_name": COMMAND_NAME if is_command else SERVER_NAME},
        **more,
    )


async def is_pooled(connection: asyncpg.Connection) -> bool:
    """Return whether a pooler answers: it makes up the process id that it tells its clients."""
    return bool(await connection.fetchval("SELECT pg_backend_pid()") != connection.get_server_pid())
