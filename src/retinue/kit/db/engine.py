"""What the data layer asks of a database; `sqlite.py` and `postgres.py` answer it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from retinue.kit.settings import Settings

Rows = list[Sequence[Any]]
Batch = list[tuple[str, list[list[Any]]]]
"""Statements in their order, each with the arguments of every row it is run for."""


class Connection(Protocol):
    """A connection inside one transaction."""

    async def fetch(self, sql: str, arguments: list[Any]) -> Rows: ...

    async def execute(self, sql: str, arguments: list[Any]) -> int:
        """How many rows were changed."""
        ...

    async def execute_many(self, sql: str, many: list[list[Any]]) -> None: ...


async def run_all(connection: Connection, batch: Batch) -> None:
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
        """Whether it answers: `DatabaseUnavailable` otherwise."""
        ...

    async def fetch(self, sql: str, arguments: list[Any], *, heavy: bool = False) -> Rows:
        """Read outside any transaction: what is committed now."""
        ...

    async def apply(self, batch: Batch) -> None:
        """Run all of it in a transaction of its own, whose whole content is known from the beginning."""
        ...

    async def begin(self) -> Connection: ...

    async def commit(self, connection: Connection) -> None: ...

    async def rollback(self, connection: Connection) -> None: ...

    async def wait_for_change(self, seconds: float) -> None:
        """Return after so long, or sooner when another process may have committed work."""
        ...

    async def announce(self) -> None:
        """Tell other processes that there is work."""
        ...


def database_for(settings: Settings) -> Database:
    url = settings.database_url
    if url.startswith(("postgresql://", "postgres://")):
        from retinue.kit.db.postgres import PostgresDatabase

        return PostgresDatabase(url, pool_size=settings.database_pool)
    from retinue.kit.db.sqlite import SqliteDatabase

    return SqliteDatabase(sqlite_path(settings))


def sqlite_path(settings: Settings) -> Path:
    url = settings.database_url
    if not url:
        return settings.data_dir / "retinue.db"
    if url.startswith("sqlite:///"):
        return Path(url.removeprefix("sqlite:///"))
    from retinue.kit.settings import BadSetting

    raise BadSetting("RETINUE_DATABASE_URL must start with postgresql:// or sqlite:///")
