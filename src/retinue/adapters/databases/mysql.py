"""MySQL and MariaDB over aiomysql: one connection, one transaction, values quoted by the driver."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import aiomysql
import msgspec
from pymysql.constants import CLIENT, CR, ER, FIELD_TYPE
from pymysql.converters import decoders

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
from retinue.adapters.databases.grammar import is_system_schema
from retinue.adapters.databases.query import Query
from retinue.adapters.databases.tls import context_for, unreachable
from retinue.adapters.databases.values import MAX_RECEIVED_BYTES, Rows, rows_of, with_json
from retinue.kit.egress import Egress, PinnedAddress
from retinue.kit.errors import RetinueError

_GOODBYE_S = 2.0
_PING = "SELECT 1"
_GRANTS = "SHOW GRANTS"
_GLOBAL_GRANT = re.compile(r"GRANT (?P<privileges>.+?) ON \*\.\* TO ", re.IGNORECASE)
_DANGEROUS = {"ALL PRIVILEGES", "ALL", "FILE", "SUPER"}
# What the guard's grammar takes for granted: backslashes escape, double quotes make strings, || means OR.
_SQL_MODE = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
_CLEAR_TEXT = {"mysql_clear_password", "dialog"}
_ACCESS_DENIED_NO_PASSWORD, _READ_ONLY, _UNKNOWN_PLUGIN = 1698, 1792, 2059
_ERRORS: dict[int, Callable[[], RetinueError]] = {
    **dict.fromkeys((ER.ACCESS_DENIED_ERROR, ER.DBACCESS_DENIED_ERROR), DatabaseLoginRefused),
    **dict.fromkeys((_ACCESS_DENIED_NO_PASSWORD, _UNKNOWN_PLUGIN), DatabaseLoginRefused),
    **dict.fromkeys((ER.STATEMENT_TIMEOUT, ER.QUERY_TIMEOUT), DatabaseTimeout),
    **dict.fromkeys((ER.QUERY_INTERRUPTED, ER.LOCK_WAIT_TIMEOUT), DatabaseTimeout),
    **dict.fromkeys((CR.CR_SERVER_LOST, CR.CR_SERVER_GONE_ERROR), DatabaseUnreachable),
    ER.BAD_DB_ERROR: partial(DatabaseNotConfigured, "There is no such database on the server."),
    _READ_ONLY: partial(QueryNotAllowed, "The statement would change data."),
}
# TIME can be negative and longer than a day, so it stays the text it is.
_DECODERS = {kind: decode for kind, decode in decoders.items() if kind != FIELD_TYPE.TIME}


class _Connection(aiomysql.Connection):  # type: ignore[misc] # aiomysql has no types
    """aiomysql's, without what a hostile statement or server could use."""

    def __init__(self, spec: ConnectionSpec, **options: Any) -> None:
        super().__init__(**options)
        # aiomysql always asks for several statements in one text.
        self.client_flag &= ~(CLIENT.MULTI_STATEMENTS | CLIENT.LOCAL_FILES)
        self._tls = spec.tls
        self._left = MAX_RECEIVED_BYTES

    async def open(self) -> None:
        await self._connect()

    async def finish(self) -> None:
        """Say goodbye, unless the server is still sending rows that nobody wants."""
        writer, is_sending = self._writer, self._result is not None and self._result.unbuffered_active
        if writer is None or is_sending:
            self.abort()
            return
        with suppress(Exception):
            async with asyncio.timeout(_GOODBYE_S):
                await self.ensure_closed()
                await writer.wait_closed()

    def abort(self) -> None:
        if self._writer is not None:
            self._writer.transport.abort()
        self.close()

    def _close_on_cancel(self) -> None:
        # aiomysql would wait for a server that is busy to take part in the end of TLS.
        self.abort()

    async def _get_server_information(self) -> None:
        await super()._get_server_information()
        if not self.server_capabilities & CLIENT.SSL:
            if self._tls not in {"disable", "prefer"}:
                raise DatabaseUnreachable("The database server offers no secure connection.")
            # aiomysql would go on in plain, but still say that it wants TLS.
            self._ssl_context = None
            self.client_flag &= ~CLIENT.SSL
        if self._ssl_context is None:
            self._refuse_clear_text(self._server_auth_plugin)

    async def _process_auth(self, plugin_name: bytes, auth_packet: Any) -> Any:
        if not self._secure:
            self._refuse_clear_text(plugin_name.decode(errors="replace"))
        return await super()._process_auth(plugin_name, auth_packet)

    def _refuse_clear_text(self, plugin: str) -> None:
        if plugin in _CLEAR_TEXT:
            raise DatabaseLoginRefused("The server wants the password in clear text, without TLS.")

    async def _read_bytes(self, num_bytes: int) -> bytes:
        self._left -= num_bytes
        if self._left < 0:
            raise ResultTooLarge
        received: bytes = await super()._read_bytes(num_bytes)
        return received


class _Rows(aiomysql.SSCursor):  # type: ignore[misc] # aiomysql has no types
    """Takes rows one by one as they are asked for, so that the rest never has to be received."""

    async def _show_warnings(self, conn: Any) -> None:
        """Keep them from being printed."""


class _Change(aiomysql.Cursor):  # type: ignore[misc] # aiomysql has no types
    async def _show_warnings(self, conn: Any) -> None:
        """Keep them from being printed."""


async def ping(egress: Egress, spec: ConnectionSpec) -> None:
    async with _connected(spec, await pin(egress, spec)) as connection:
        await connection.query(_PING)


async def run(egress: Egress, spec: ConnectionSpec, query: Query, *, timeout_s: float, max_rows: int) -> Rows:
    if is_system_schema("mysql", spec.database):
        raise DatabaseNotConfigured("This database belongs to the server itself.")
    async with _connected(spec, await pin(egress, spec)) as connection:
        await _refuse_power(connection)
        for statement in _settings(connection.server_version, query, timeout_s, max_rows):
            await connection.query(statement)
        cursor = await connection.cursor(_Rows if query.is_read else _Change)
        await cursor.execute(
            query.written(lambda index: connection.escape(_bindable(query.arguments[index])))
        )
        rows = await _fetched(cursor, query, max_rows)
        if not query.is_read:
            await connection.commit()
        return rows


async def _refuse_power(connection: _Connection) -> None:
    cursor = await connection.cursor(_Change)
    await cursor.execute(_GRANTS)
    for (grant,) in await cursor.fetchall():
        found = _GLOBAL_GRANT.match(grant)
        if found and _DANGEROUS & {name.strip().upper() for name in found["privileges"].split(",")}:
            raise DatabaseLoginTooPowerful


def _settings(version: str, query: Query, timeout_s: float, max_rows: int) -> list[str]:
    """Limits the server keeps even when nobody waits for the answer any more."""
    is_mariadb = "mariadb" in version.lower()
    limit = (
        f"max_statement_time = {timeout_s:f}"
        if is_mariadb
        else f"max_execution_time = {timeout_s * 1000:.0f}"
    )
    waits = f"lock_wait_timeout = {timeout_s:.0f}, innodb_lock_wait_timeout = {max(1, timeout_s):.0f}"
    settings = f"SET SESSION sql_mode = '{_SQL_MODE}', {limit}, {waits}"
    if not query.is_read:
        return [settings, "START TRANSACTION"]
    # MariaDB lets a read-only transaction drop tables, unless the session is read-only too.
    return [
        f"{settings}, sql_select_limit = {max_rows + 1}",
        "SET SESSION TRANSACTION READ ONLY",
        "START TRANSACTION READ ONLY",
    ]


async def _fetched(cursor: Any, query: Query, max_rows: int) -> Rows:
    described = cursor.description or ()
    found = await cursor.fetchmany(max_rows + 1) if described else []
    json_columns = {index for index, column in enumerate(described) if column[1] == FIELD_TYPE.JSON}
    decoded = (with_json(row, json_columns) for row in found)
    changed = None if query.is_read else cursor.rowcount
    return rows_of([column[0] for column in described], decoded, max_rows, changed)


def _bindable(value: Any) -> Any:
    return msgspec.json.encode(value).decode() if isinstance(value, dict | list) else value


@asynccontextmanager
async def _connected(spec: ConnectionSpec, pinned: PinnedAddress) -> AsyncIterator[_Connection]:
    """A connection for one use; whoever leaves before its end cancels what still runs at the server."""
    connection = None
    try:
        connection = await _connect(spec, pinned)
        yield connection
        await connection.finish()
    except RetinueError:
        raise
    except asyncio.CancelledError:
        if connection is not None:
            await _kill(spec, pinned, connection)
        raise
    except Exception as error:  # noqa: BLE001 - a hostile server can make a driver raise anything
        raise _translated(error, spec) from None
    finally:
        if connection is not None:
            connection.abort()


async def _kill(spec: ConnectionSpec, pinned: PinnedAddress, running: _Connection) -> None:
    """Closing the connection would not stop a statement that is not sending rows."""
    running.abort()
    with suppress(Exception):
        async with asyncio.timeout(_GOODBYE_S):
            other = await _connect(spec, pinned)
            try:
                await other.query(f"KILL QUERY {running.thread_id()}")
            finally:
                other.abort()


async def _connect(spec: ConnectionSpec, pinned: PinnedAddress) -> _Connection:
    context = context_for(spec, pinned.host)
    last: Exception = DatabaseUnreachable()
    for address in pinned.addresses[:ADDRESSES_TRIED]:
        connection = _Connection(
            spec,
            host=address,
            port=pinned.port,
            user=spec.username,
            # aiomysql writes passwords in Latin-1, servers read them in UTF-8.
            password=spec.password.reveal().encode().decode("latin-1"),
            db=spec.database or None,
            ssl=context,
            charset="utf8mb4",
            conv=_DECODERS,
            autocommit=None,
            connect_timeout=CONNECT_S,
        )
        try:
            await connection.open()
        except aiomysql.OperationalError as error:
            if error.args[0] != CR.CR_CONN_HOST_ERROR:
                raise
            last = error
        except asyncio.CancelledError:
            connection.abort()
            raise
        else:
            return connection
    raise last


def _translated(error: Exception, spec: ConnectionSpec) -> RetinueError:
    if not isinstance(error, aiomysql.Error) or not error.args:
        return DatabaseFailed("The server gave an answer that is not MySQL's.")
    code = error.args[0]
    if code == CR.CR_CONN_HOST_ERROR:
        return unreachable(error)
    if code in _ERRORS:
        return _ERRORS[code]()
    return QueryFailed(said(f"The database answered: {error.args[-1]}", spec.password.reveal()))
