"""Foreign databases that tools and credential tests talk to: one checked statement at a time.

Parameters on every engine: `:name` with an object, or `?`, `%s` or `$1` with a list. Values are always bound.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Protocol

from retinue.adapters.databases.connection import ConnectionSpec, DbType, TlsMode, find_db_type, tls_mode
from retinue.adapters.databases.errors import (
    DatabaseFailed,
    DatabaseLoginRefused,
    DatabaseLoginTooPowerful,
    DatabaseNotConfigured,
    DatabaseTimeout,
    DatabaseUnreachable,
    QueryFailed,
    QueryNotAllowed,
    ResultTooLarge,
)
from retinue.adapters.databases.query import Operation, Query
from retinue.adapters.databases.values import MAX_RESULT_BYTES, Rows
from retinue.kit.egress import Egress

__all__ = [
    "MAX_RESULT_BYTES",
    "ConnectionSpec",
    "DatabaseFailed",
    "DatabaseLoginRefused",
    "DatabaseLoginTooPowerful",
    "DatabaseNotConfigured",
    "DatabaseTimeout",
    "DatabaseUnreachable",
    "DbType",
    "Operation",
    "Query",
    "QueryFailed",
    "QueryNotAllowed",
    "ResultTooLarge",
    "Rows",
    "TlsMode",
    "build",
    "check",
    "find_db_type",
    "ping",
    "run",
    "tls_mode",
]


def check(
    sql: str,
    params: Any = None,
    *,
    db_type: DbType,
    allowed: Iterable[str],
    operation: str | None = None,
) -> Query:
    """Read one statement, refuse it unless all of it is allowed, and bind its parameters."""
    from retinue.adapters.databases import guard

    return guard.check(sql, params, db_type=db_type, allowed=allowed, operation=operation)


def build(
    *,
    db_type: DbType,
    allowed: Iterable[str],
    operation: str,
    table: Any,
    where: Any = None,
    values: Any = None,
) -> Query:
    """A statement from a table's name, conditions and values, checked like a written one."""
    from retinue.adapters.databases import builder

    return builder.build(
        db_type=db_type, allowed=allowed, operation=operation, table=table, where=where, values=values
    )


async def run(egress: Egress, spec: ConnectionSpec, query: Query, *, timeout_s: float, max_rows: int) -> Rows:
    """Run a checked statement; when the time is over it is cancelled at the server too."""
    if query.db_type != spec.db_type:
        raise ValueError("the statement was checked for another kind of database")
    async with _time_limit(timeout_s):
        return await _driver(spec.db_type).run(egress, spec, query, timeout_s=timeout_s, max_rows=max_rows)


async def ping(egress: Egress, spec: ConnectionSpec, *, timeout_s: float) -> None:
    """Connect, log in and ask for a number; the rights of the login do not matter for this."""
    async with _time_limit(timeout_s):
        await _driver(spec.db_type).ping(egress, spec)


class _Driver(Protocol):
    async def run(
        self, egress: Egress, spec: ConnectionSpec, query: Query, *, timeout_s: float, max_rows: int
    ) -> Rows: ...

    async def ping(self, egress: Egress, spec: ConnectionSpec) -> None: ...


def _driver(db_type: DbType) -> _Driver:
    if db_type == "postgresql":
        from retinue.adapters.databases import postgresql

        return postgresql
    if db_type == "mysql":
        from retinue.adapters.databases import mysql

        return mysql
    from retinue.adapters.databases import sqlite

    return sqlite


@asynccontextmanager
async def _time_limit(timeout_s: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(timeout_s):
            yield
    except TimeoutError:
        raise DatabaseTimeout(f"The database did not answer within {timeout_s:g} seconds.") from None
