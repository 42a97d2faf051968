"""PostgreSQL over asyncpg: one connection, one transaction, one prepared statement."""

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import asyncpg

from retinue.adapters.databases.coercion import coerced
from retinue.adapters.databases.connection import ADDRESSES_TRIED, CONNECT_S, ConnectionSpec, pin
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
    said,
)
from retinue.adapters.databases.metering import Meter
from retinue.adapters.databases.query import Query
from retinue.adapters.databases.tls import context_for, unreachable
from retinue.adapters.databases.values import MAX_RECEIVED_BYTES, Rows, rows_of, with_json
from retinue.kit.egress import Egress, PinnedAddress
from retinue.kit.errors import RetinueError

_GOODBYE_S = 2.0
_DANGEROUS_ROLES = ["pg_read_server_files", "pg_write_server_files", "pg_execute_server_program"]
_PING = "SELECT 1"
# One round trip: limits for this transaction only, for a pooler may hand the connection on, and who we are.
_SETTLE = """
SELECT pg_catalog.set_config('statement_timeout', $1, true),
       pg_catalog.set_config('lock_timeout', $1, true),
       pg_catalog.set_config('idle_in_transaction_session_timeout', $1, true),
       pg_catalog.set_config('standard_conforming_strings', 'on', true),
       EXISTS (
         SELECT FROM pg_catalog.pg_roles AS me CROSS JOIN pg_catalog.pg_roles AS other
         WHERE me.rolname IN (current_user, session_user)
           AND (me.rolsuper
                OR other.rolname = ANY ($2::text[]) AND pg_catalog.pg_has_role(me.oid, other.oid, 'MEMBER'))
       ) AS is_too_powerful
"""


async def ping(egress: Egress, spec: ConnectionSpec) -> None:
    async with _connected(spec, await pin(egress, spec)) as connection:
        await connection.fetchval(_PING)


async def run(egress: Egress, spec: ConnectionSpec, query: Query, *, timeout_s: float, max_rows: int) -> Rows:
    async with _connected(spec, await pin(egress, spec)) as connection:
        transaction = connection.transaction(readonly=query.is_read)
        await transaction.start()
        settled = await connection.fetchrow(_SETTLE, str(max(1, round(timeout_s * 1000))), _DANGEROUS_ROLES)
        if settled["is_too_powerful"]:
            raise DatabaseLoginTooPowerful
        rows = await _execute(connection, query, max_rows)
        if not query.is_read:
            await transaction.commit()
        return rows


async def _execute(connection: Any, query: Query, max_rows: int) -> Rows:
    # Prepared: a prepared text can only be one statement. Without a name: a pooler may not keep it.
    statement = await connection.prepare(query.written(lambda index: f"${index + 1}"), name="")
    kinds = [parameter.name for parameter in statement.get_parameters()]
    arguments = [coerced(value, kind) for value, kind in zip(query.arguments, kinds, strict=True)]
    attributes = statement.get_attributes()
    columns = [attribute.name for attribute in attributes]
    json_columns = {index for index, column in enumerate(attributes) if column.type.name in {"json", "jsonb"}}
    if query.is_read:
        cursor = await statement.cursor(*arguments)
        found = await cursor.fetch(max_rows + 1)
        return rows_of(columns, (with_json(row, json_columns) for row in found), max_rows)
    found = await statement.fetch(*arguments)
    changed = int(statement.get_statusmsg().rpartition(" ")[2])
    return rows_of(columns, (with_json(row, json_columns) for row in found), max_rows, changed)


@asynccontextmanager
async def _connected(spec: ConnectionSpec, pinned: PinnedAddress) -> AsyncIterator[Any]:
    """A connection for one use; every way out of it cancels what still runs at the server."""
    meter = Meter(MAX_RECEIVED_BYTES)
    connection = None
    try:
        connection = await _connect(spec, pinned, meter)
        yield connection
    except RetinueError:
        raise
    except Exception as error:  # noqa: BLE001 - a hostile server can make a driver raise anything
        if meter.is_exceeded:
            raise ResultTooLarge from None
        raise _translated(error, spec) from None
    finally:
        if connection is not None:
            await _close(connection)


async def _close(connection: Any) -> None:
    try:
        await connection.close(timeout=_GOODBYE_S)
    except Exception:  # noqa: BLE001 - as above, and nothing is left to save
        connection.terminate()


async def _connect(spec: ConnectionSpec, pinned: PinnedAddress, meter: Meter) -> Any:
    context = context_for(spec, pinned.host)
    last: Exception = DatabaseUnreachable()
    for address in pinned.addresses[:ADDRESSES_TRIED]:
        try:
            return await _connect_to(address, spec, pinned.port, context, meter)
        except ConnectionError as error:
            # asyncpg's word for a server that has no TLS.
            if type(error) is ConnectionError and spec.tls == "prefer":
                return await _connect_to(address, spec, pinned.port, None, meter)
            last = error
        except OSError as error:
            last = error
    raise last


async def _connect_to(
    address: str, spec: ConnectionSpec, port: int, context: ssl.SSLContext | None, meter: Meter
) -> Any:
    # Everything is said here: asyncpg would take what is left out from the server's own environment and home.
    return await asyncpg.connect(
        host=address,
        port=port,
        user=spec.username,
        password=spec.password.reveal(),
        database=spec.database or spec.username,
        ssl=context or False,
        direct_tls=False,
        target_session_attrs="any",
        timeout=CONNECT_S,
        statement_cache_size=0,
        loop=meter.loop(),
    )


_ERRORS: tuple[tuple[type[Exception], Callable[[], RetinueError]], ...] = (
    (asyncpg.InvalidAuthorizationSpecificationError, DatabaseLoginRefused),
    (
        asyncpg.InvalidCatalogNameError,
        partial(DatabaseNotConfigured, "There is no such database on the server."),
    ),
    (asyncpg.QueryCanceledError, DatabaseTimeout),
    (asyncpg.LockNotAvailableError, DatabaseTimeout),
    (asyncpg.ReadOnlySQLTransactionError, partial(QueryNotAllowed, "The statement would change data.")),
    (asyncpg.PostgresConnectionError, DatabaseUnreachable),
    (asyncpg.CannotConnectNowError, DatabaseUnreachable),
)


def _translated(error: Exception, spec: ConnectionSpec) -> RetinueError:
    for kind, ours in _ERRORS:
        if isinstance(error, kind):
            return ours()
    if isinstance(error, asyncpg.PostgresError | asyncpg.InterfaceError):
        return QueryFailed(said(f"The database answered: {error}", spec.password.reveal()))
    if isinstance(error, OSError):
        return unreachable(error)
    return DatabaseFailed("The server gave an answer that is not PostgreSQL's.")
