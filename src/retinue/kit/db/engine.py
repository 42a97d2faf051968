"""The interface of a database, implemented in `sqlite.py` and `postgres.py`."""

from collections.abc import Sequence
from typing import Any, Literal, Protocol

Row = Sequence[Any]
Rows = list[Row]
Arguments = list[Any]
"""The values of a statement's parameters by position."""
StatementBatch = list[tuple[str, list[Arguments]]]
"""Statements in order, each with one list of arguments per execution."""
DirectConnection = Literal["ok", "not_needed", "not_tried", "missing", "unavailable"]
"""The connection on which notifications of other processes arrive; behind a pooler it needs its own URL."""


class DatabaseConnection(Protocol):
    """A connection inside one transaction."""

    async def fetch(self, sql: str, arguments: Arguments) -> Rows: ...

    async def execute(self, sql: str, arguments: Arguments) -> int:
        """Run the statement and return the number of changed rows."""
        ...

    async def execute_many(self, sql: str, many: list[Arguments]) -> None: ...


async def run_all(connection: DatabaseConnection, batch: StatementBatch) -> None:
    for sql, many in batch:
        if len(many) == 1:
            await connection.execute(sql, many[0])
        else:
            await connection.execute_many(sql, many)


class Database(Protocol):
    dialect: str

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def ping(self) -> None:
        """Raise `DatabaseUnavailable` if the database does not respond."""
        ...

    async def fetch(self, sql: str, arguments: Arguments, *, heavy: bool = False) -> Rows:
        """Read committed data outside any transaction."""
        ...

    async def apply(self, batch: StatementBatch) -> None:
        """Run the whole batch in its own transaction."""
        ...

    async def begin(self) -> DatabaseConnection: ...

    async def commit(self, connection: DatabaseConnection) -> None: ...

    async def rollback(self, connection: DatabaseConnection) -> None: ...

    async def wait_for_change(self, seconds: float) -> bool:
        """Wait this long, or less if another process may have committed work; return whether it may."""
        ...

    def direct_connection(self) -> DirectConnection:
        """Return the state of the connection that bypasses a pooler."""
        ...

    def connection_counts(self) -> dict[str, int]:
        """Return the number of used and idle connections, and of callers that wait for one."""
        ...

    async def announce(self) -> None:
        """Notify other processes that there is work."""
        ...
