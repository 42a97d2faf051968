"""A moment of a PostgreSQL database that others can read as well, and what is in it."""

import contextlib
from collections.abc import AsyncIterator
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from retinue.kit.db.database_content import (
    BLOBS_QUERY,
    FINGERPRINTS_QUERY,
    REVISION_QUERY,
    DatabaseContent,
    StoredBlob,
    count_query,
)
from retinue.kit.db.postgres_connect import connect, is_pooled
from retinue.kit.db.postgres_faults import CONNECT_ERRORS, DIRECT_URL_SETTING, URL_SETTING, cannot_connect
from retinue.kit.errors import CannotStart

_TABLES_QUERY = (
    "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') ORDER BY c.relname"
)


class PostgresSnapshot:
    """An open transaction; `id` lets `pg_dump` read exactly what it sees."""

    def __init__(self, connection: asyncpg.Connection, id: str) -> None:
        self._connection = connection
        self.id = id
        self.server_major = connection.get_server_version().major

    async def read_content(self) -> DatabaseContent:
        return await _read_content(self._connection)


@contextlib.asynccontextmanager
async def open_snapshot(url: str) -> AsyncIterator[PostgresSnapshot]:
    async with (
        _connected(url) as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        # The transaction waits while `pg_dump` works, which may take hours.
        await connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        await connection.execute("SET LOCAL statement_timeout = 0")
        yield PostgresSnapshot(connection, await connection.fetchval("SELECT pg_export_snapshot()"))


async def read_content(url: str) -> DatabaseContent:
    async with _connected(url) as connection:
        return await _read_content(connection)


async def read_server_major(url: str) -> int:
    async with _connected(url) as connection:
        return int(connection.get_server_version().major)


async def has_tables(url: str) -> bool:
    async with _connected(url) as connection:
        return bool(await connection.fetch(_TABLES_QUERY))


@contextlib.asynccontextmanager
async def temporary_database(url: str, name: str) -> AsyncIterator[str]:
    """Create an empty database on the same server, and drop it afterwards."""
    async with _connected(url) as connection:
        try:
            await connection.execute(f'CREATE DATABASE "{name}"')
        except asyncpg.InsufficientPrivilegeError:
            raise CannotStart(
                "the role may not create a database for the check. Grant it CREATEDB, or restore into an "
                "empty database without --check"
            ) from None
        try:
            yield urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
        finally:
            await connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


async def _read_content(connection: asyncpg.Connection) -> DatabaseContent:
    names = [row[0] for row in await connection.fetch(_TABLES_QUERY)]
    tables = {name: int(await connection.fetchval(count_query(name))) for name in names}
    blobs = await connection.fetch(BLOBS_QUERY) if "files" in tables else []
    roots = await connection.fetch(FINGERPRINTS_QUERY) if "vault_keys" in tables else []
    revision = await connection.fetchval(REVISION_QUERY) if "alembic_version" in tables else None
    return DatabaseContent(
        revision=str(revision or ""),
        tables=tables,
        blobs=[StoredBlob(*row) for row in blobs],
        root_fingerprints=frozenset(str(row[0]) for row in roots),
    )


@contextlib.asynccontextmanager
async def _connected(url: str) -> AsyncIterator[asyncpg.Connection]:
    try:
        connection = await connect(url, keeps_statements=False, is_patient=True, is_command=True)
    except CONNECT_ERRORS as error:
        raise cannot_connect(url, error, f"{URL_SETTING} and {DIRECT_URL_SETTING}") from error
    try:
        if await is_pooled(connection):
            # The settings of `pg_dump` would stay in a session that the pooler gives to a server next.
            raise CannotStart(
                "a pooler is between, and a backup needs the PostgreSQL server itself: set "
                "RETINUE_DATABASE_DIRECT_URL to it"
            )
        yield connection
    except asyncpg.InsufficientPrivilegeError as error:
        raise CannotStart(f"the database role lacks a right: {error}") from error
    finally:
        await connection.close(timeout=10)
