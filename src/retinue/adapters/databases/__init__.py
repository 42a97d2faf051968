"""Connections of tools and credential tests to foreign databases: one checked statement at a time.

All engines accept `:name` with an object, or `?`, `%s` or `$1` with a list. Values are always bound.
"""

from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from retinue.adapters.databases.connection import ConnectionSpec, DbType, TlsMode, find_db_type, tls_mode
from retinue.adapters.databases.drivers.rows import MAX_RESULT_BYTES, Rows
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
from retinue.adapters.databases.sql.builder import build
from retinue.adapters.databases.sql.query import Operation, Query
from retinue.kit.egress import Egress
from retinue.kit.extras import require_extra
from retinue.kit.time_limit import time_limit

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
    params: object = None,
    *,
    db_type: DbType,
    allowed: Iterable[str],
    operation: str | None = None,
) -> Query:
    """Parse one statement, reject it unless every part is allowed, and bind its parameters."""
    from retinue.adapters.databases.sql import guard

    return guard.check(sql, params, db_type=db_type, allowed=allowed, operation=operation)


async def run(egress: Egress, spec: ConnectionSpec, query: Query, *, timeout_s: float, max_rows: int) -> Rows:
    """Run a checked statement; on a timeout it is also cancelled at the server."""
    if query.db_type != spec.db_type:
        raise ValueError("the statement was checked for another type of database")
    async with _time_limit(timeout_s):
        return await _driver(spec.db_type).run(egress, spec, query, timeout_s=timeout_s, max_rows=max_rows)


async def ping(egress: Egress, spec: ConnectionSpec, *, timeout_s: float) -> None:
    """Connect, log in and run a trivial query; the privileges of the login are not checked."""
    async with _time_limit(timeout_s):
        await _driver(spec.db_type).ping(egress, spec)


class _Driver(Protocol):
    async def run(
        self, egress: Egress, spec: ConnectionSpec, query: Query, *, timeout_s: float, max_rows: int
    ) -> Rows: ...

    async def ping(self, egress: Egress, spec: ConnectionSpec) -> None: ...


def _driver(db_type: DbType) -> _Driver:
    if db_type == "postgresql":
        from retinue.adapters.databases.drivers import postgresql

        return postgresql
    if db_type == "mysql":
        require_extra("mysql", DatabaseNotConfigured)
        from retinue.adapters.databases.drivers import mysql

        return mysql
    from retinue.adapters.databases.drivers import sqlite

    return sqlite


def _time_limit(timeout_s: float) -> AbstractAsyncContextManager[None]:
    return time_limit(
        timeout_s, DatabaseTimeout(f"The database did not respond within {timeout_s:g} seconds.")
    )
