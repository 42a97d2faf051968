"""PostgreSQL with asyncpg: one connection, one transaction, one prepared statement."""

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import asyncpg

from retinue.adapters.databases import errors
from retinue.adapters.databases.connection import CONNECT_TIMEOUT_SECONDS, ConnectionSpec, pin
from retinue.adapters.databases.drivers.byte_meter import ByteMeter
from retinue.adapters.databases.drivers.coercion import coerce_parameter
from retinue.adapters.databases.drivers.rows import MAX_RECEIVED_BYTES, Rows, build_rows, decode_json_columns
from retinue.adapters.databases.drivers.tls import tls_context, unreachable_error
from retinue.adapters.databases.sql.query import Query
from retinue.kit.egress import Egress, PinnedAddress
from retinue.kit.errors import RetinueError

_CLOSE_TIMEOUT_SECONDS = 2.0
_DANGEROUS_ROLES = ["pg_read_server_files", "pg_write_server_files", "pg_execute_server_program"]
_PING = "SELECT 1"
# Sets limits for this transaction only, because a pooler may reuse the connection, and checks privileges.
_SESSION_SETUP = """
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
# Finds a name that would call a function with one argument and is not a column of its table.
_FIND_FUNCTION_CALL = """
SELECT named.name
FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) AS named (name, relation)
WHERE EXISTS (
        SELECT FROM pg_catalog.pg_proc AS p
        WHERE p.proname = named.name AND p.pronargs > 0 AND p.pronargs - p.pronargdefaults <= 1)
  AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = pg_catalog.to_regclass(nullif(named.relation, ''))
          AND a.attname = named.name AND NOT a.attisdropped)
LIMIT 1
"""


async def ping(egress: Egress, spec: ConnectionSpec) -> None:
    async with _open_connection(spec, await pin(egress, spec)) as connection:
        await connection.fetchval(_PING)


async def run(egress: Egress, spec: ConnectionSpec, query: Query, *, timeout_s: float, max_rows: int) -> Rows:
    async with _open_connection(spec, await pin(egress, spec)) as connection:
        transaction = connection.transaction(readonly=query.is_read)
        await transaction.start()
        session = await connection.fetchrow(
            _SESSION_SETUP, str(max(1, round(timeout_s * 1000))), _DANGEROUS_ROLES
        )
        if session["is_too_powerful"]:
            raise errors.DatabaseLoginTooPowerful
        await _check_attributes(connection, query)
        rows = await _execute(connection, query, max_rows)
        if not query.is_read:
            await transaction.commit()
        return rows


async def _check_attributes(connection: Any, query: Query) -> None:
    if not query.attributes:
        return
    names = [attribute.name for attribute in query.attributes]
    function_name = await connection.fetchval(
        _FIND_FUNCTION_CALL, names, [attribute.relation for attribute in query.attributes]
    )
    if function_name is not None:
        raise errors.QueryNotAllowed(
            f"{function_name[:60]} after a dot is not a column and would call the function of that name, "
            "which is not allowed."
        )


async def _execute(connection: Any, query: Query, max_rows: int) -> Rows:
    # Prepared, because that allows one statement only; unnamed, because a pooler may not keep it.
    statement = await connection.prepare(query.written(lambda index: f"${index + 1}"), name="")
    names = [parameter.name for parameter in statement.get_parameters()]
    arguments = [coerce_parameter(value, name) for value, name in zip(query.arguments, names, strict=True)]
    attributes = statement.get_attributes()
    columns = [attribute.name for attribute in attributes]
    json_columns = {index for index, column in enumerate(attributes) if column.type.name in {"json", "jsonb"}}
    if query.is_read:
        cursor = await statement.cursor(*arguments)
        fetched = await cursor.fetch(max_rows + 1)
        return build_rows(columns, (decode_json_columns(row, json_columns) for row in fetched), max_rows)
    fetched = await statement.fetch(*arguments)
    changed = int(statement.get_statusmsg().rpartition(" ")[2])
    return build_rows(columns, (decode_json_columns(row, json_columns) for row in fetched), max_rows, changed)


@asynccontextmanager
async def _open_connection(spec: ConnectionSpec, pinned: PinnedAddress) -> AsyncIterator[Any]:
    """Open a connection for one use; closing it cancels what still runs at the server."""
    meter = ByteMeter(MAX_RECEIVED_BYTES)
    connection = None
    try:
        connection = await _connect(spec, pinned, meter)
        yield connection
    except RetinueError:
        raise
    except Exception as error:  # noqa: BLE001 - a hostile server can make the driver raise anything
        if meter.is_exceeded:
            raise errors.ResultTooLarge from None
        raise _translate_error(error, spec) from None
    finally:
        if connection is not None:
            await _close(connection)


async def _close(connection: Any) -> None:
    try:
        await connection.close(timeout=_CLOSE_TIMEOUT_SECONDS)
    except Exception:  # noqa: BLE001 - as above; nothing is left to save
        connection.terminate()


async def _connect(spec: ConnectionSpec, pinned: PinnedAddress, meter: ByteMeter) -> Any:
    context = tls_context(spec, pinned.host)
    last_error: Exception = errors.DatabaseUnreachable()
    for address in pinned.addresses:
        try:
            return await _connect_to(address, spec, pinned.port, context, meter)
        except ConnectionError as error:
            # asyncpg raises exactly this type if the server has no TLS.
            if type(error) is ConnectionError and spec.tls == "prefer":
                return await _connect_to(address, spec, pinned.port, None, meter)
            last_error = error
        except OSError as error:
            last_error = error
    raise last_error


async def _connect_to(
    address: str, spec: ConnectionSpec, port: int, context: ssl.SSLContext | None, meter: ByteMeter
) -> Any:
    # Pass every option: asyncpg takes missing ones from the server's environment and home folder.
    return await asyncpg.connect(
        host=address,
        port=port,
        user=spec.username,
        password=spec.password.reveal(),
        database=spec.database or spec.username,
        ssl=context or False,
        direct_tls=False,
        target_session_attrs="any",
        timeout=CONNECT_TIMEOUT_SECONDS,
        statement_cache_size=0,
        loop=meter.loop(),
    )


_ERRORS: tuple[tuple[type[Exception], Callable[[], RetinueError]], ...] = (
    (asyncpg.InvalidAuthorizationSpecificationError, errors.DatabaseLoginRefused),
    (
        asyncpg.InvalidCatalogNameError,
        partial(errors.DatabaseNotConfigured, "The database does not exist on the server."),
    ),
    (asyncpg.QueryCanceledError, errors.DatabaseTimeout),
    (asyncpg.LockNotAvailableError, errors.DatabaseTimeout),
    (
        asyncpg.ReadOnlySQLTransactionError,
        partial(errors.QueryNotAllowed, "The statement would change data."),
    ),
    (asyncpg.PostgresConnectionError, errors.DatabaseUnreachable),
    (asyncpg.CannotConnectNowError, errors.DatabaseUnreachable),
)


def _translate_error(error: Exception, spec: ConnectionSpec) -> RetinueError:
    for kind, make_error in _ERRORS:
        if isinstance(error, kind):
            return make_error()
    if isinstance(error, asyncpg.PostgresError | asyncpg.InterfaceError):
        return errors.QueryFailed(
            errors.redact_server_message(f"The database reported: {error}", spec.password.reveal())
        )
    if isinstance(error, OSError):
        return unreachable_error(error)
    return errors.DatabaseFailed("The server's response is not in the PostgreSQL protocol.")
