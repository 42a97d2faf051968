"""MySQL and MariaDB with aiomysql: one connection, one transaction, values quoted by the driver."""

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

from retinue.adapters.databases import errors
from retinue.adapters.databases.connection import CONNECT_TIMEOUT_SECONDS, ConnectionSpec, pin
from retinue.adapters.databases.drivers.rows import MAX_RECEIVED_BYTES, Rows, build_rows, decode_json_columns
from retinue.adapters.databases.drivers.tls import tls_context, unreachable_error
from retinue.adapters.databases.sql.grammar import is_system_schema
from retinue.adapters.databases.sql.query import Query
from retinue.kit.egress import Egress, PinnedAddress
from retinue.kit.errors import RetinueError

_CLOSE_TIMEOUT_SECONDS = 2.0
_PING = "SELECT 1"
_GRANTS = "SHOW GRANTS"
_GLOBAL_GRANT = re.compile(r"GRANT (?P<privileges>.+?) ON \*\.\* TO ", re.IGNORECASE)
_DANGEROUS_PRIVILEGES = {"ALL PRIVILEGES", "ALL", "FILE", "SUPER"}
# The guard's grammar relies on it: backslashes escape, double quotes delimit strings, || means OR.
_SQL_MODE = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
_CLEAR_TEXT_PLUGINS = {"mysql_clear_password", "dialog"}
_ACCESS_DENIED_NO_PASSWORD, _READ_ONLY, _UNKNOWN_PLUGIN = 1698, 1792, 2059
_ERRORS: dict[int, Callable[[], RetinueError]] = {
    **dict.fromkeys((ER.ACCESS_DENIED_ERROR, ER.DBACCESS_DENIED_ERROR), errors.DatabaseLoginRefused),
    **dict.fromkeys((_ACCESS_DENIED_NO_PASSWORD, _UNKNOWN_PLUGIN), errors.DatabaseLoginRefused),
    **dict.fromkeys((ER.STATEMENT_TIMEOUT, ER.QUERY_TIMEOUT), errors.DatabaseTimeout),
    **dict.fromkeys((ER.QUERY_INTERRUPTED, ER.LOCK_WAIT_TIMEOUT), errors.DatabaseTimeout),
    **dict.fromkeys((CR.CR_SERVER_LOST, CR.CR_SERVER_GONE_ERROR), errors.DatabaseUnreachable),
    ER.BAD_DB_ERROR: partial(errors.DatabaseNotConfigured, "The database does not exist on the server."),
    _READ_ONLY: partial(errors.QueryNotAllowed, "The statement would change data."),
}
# TIME can be negative or longer than a day, so it stays text.
_DECODERS = {kind: decode for kind, decode in decoders.items() if kind != FIELD_TYPE.TIME}


class _Connection(aiomysql.Connection):  # type: ignore[misc] # no type hints
    """aiomysql's connection without the features that a hostile statement or server could abuse."""

    def __init__(self, spec: ConnectionSpec, **options: Any) -> None:
        super().__init__(**options)
        # aiomysql always enables multiple statements per text.
        self.client_flag &= ~(CLIENT.MULTI_STATEMENTS | CLIENT.LOCAL_FILES)
        self._tls = spec.tls
        self._bytes_left = MAX_RECEIVED_BYTES

    async def open(self) -> None:
        await self._connect()

    async def close_gracefully(self) -> None:
        """Close politely, unless the server is still sending unwanted rows."""
        writer, is_sending = self._writer, self._result is not None and self._result.unbuffered_active
        if writer is None or is_sending:
            self.abort()
            return
        with suppress(Exception):
            async with asyncio.timeout(_CLOSE_TIMEOUT_SECONDS):
                await self.ensure_closed()
                await writer.wait_closed()

    def abort(self) -> None:
        if self._writer is not None:
            self._writer.transport.abort()
        self.close()

    def _close_on_cancel(self) -> None:
        # aiomysql would wait for a busy server to complete the TLS shutdown.
        self.abort()

    async def _get_server_information(self) -> None:
        await super()._get_server_information()
        if not self.server_capabilities & CLIENT.SSL:
            if self._tls not in {"disable", "prefer"}:
                raise errors.DatabaseUnreachable("The database server does not support TLS.")
            # aiomysql would continue without TLS, but still announce that it wants it.
            self._ssl_context = None
            self.client_flag &= ~CLIENT.SSL
        if self._ssl_context is None:
            self._refuse_clear_text(self._server_auth_plugin)

    async def _process_auth(self, plugin_name: bytes, auth_packet: object) -> Any:
        if not self._secure:
            self._refuse_clear_text(plugin_name.decode(errors="replace"))
        return await super()._process_auth(plugin_name, auth_packet)

    def _refuse_clear_text(self, plugin: str) -> None:
        if plugin in _CLEAR_TEXT_PLUGINS:
            raise errors.DatabaseLoginRefused("The server requests the password in clear text, without TLS.")

    async def _read_bytes(self, num_bytes: int) -> bytes:
        self._bytes_left -= num_bytes
        if self._bytes_left < 0:
            raise errors.ResultTooLarge
        received: bytes = await super()._read_bytes(num_bytes)
        return received


class _StreamingCursor(aiomysql.SSCursor):  # type: ignore[misc] # no type hints
    """Fetches rows one by one, so that the rest is never received."""

    async def _show_warnings(self, conn: object) -> None:
        """Suppress printing of warnings."""


class _ChangeCursor(aiomysql.Cursor):  # type: ignore[misc] # no type hints
    async def _show_warnings(self, conn: object) -> None:
        """Suppress printing of warnings."""


async def ping(egress: Egress, spec: ConnectionSpec) -> None:
    async with _open_connection(spec, await pin(egress, spec)) as connection:
        await connection.query(_PING)


async def run(egress: Egress, spec: ConnectionSpec, query: Query, *, timeout_s: float, max_rows: int) -> Rows:
    if is_system_schema("mysql", spec.database):
        raise errors.DatabaseNotConfigured("This is a system database of the server. Choose another one.")
    async with _open_connection(spec, await pin(egress, spec)) as connection:
        await _refuse_privileged_login(connection)
        for statement in _settings(connection.server_version, query, timeout_s, max_rows):
            await connection.query(statement)
        cursor = await connection.cursor(_StreamingCursor if query.is_read else _ChangeCursor)
        await cursor.execute(
            query.written(lambda index: connection.escape(_to_bindable(query.arguments[index])))
        )
        rows = await _fetch_rows(cursor, query, max_rows)
        if not query.is_read:
            await connection.commit()
        return rows


async def _refuse_privileged_login(connection: _Connection) -> None:
    cursor = await connection.cursor(_ChangeCursor)
    await cursor.execute(_GRANTS)
    for (grant,) in await cursor.fetchall():
        match = _GLOBAL_GRANT.match(grant)
        if match and _DANGEROUS_PRIVILEGES & {
            name.strip().upper() for name in match["privileges"].split(",")
        }:
            raise errors.DatabaseLoginTooPowerful


def _settings(version: str, query: Query, timeout_s: float, max_rows: int) -> list[str]:
    """Return the statements that set limits, which the server enforces even without a waiting client."""
    is_mariadb = "mariadb" in version.lower()
    limit = (
        f"max_statement_time = {timeout_s:f}"
        if is_mariadb
        else f"max_execution_time = {timeout_s * 1000:.0f}"
    )
    lock_timeouts = f"lock_wait_timeout = {timeout_s:.0f}, innodb_lock_wait_timeout = {max(1, timeout_s):.0f}"
    settings = f"SET SESSION sql_mode = '{_SQL_MODE}', {limit}, {lock_timeouts}"
    if not query.is_read:
        return [settings, "START TRANSACTION"]
    # MariaDB lets a read-only transaction drop tables unless the session is read-only too.
    return [
        f"{settings}, sql_select_limit = {max_rows + 1}",
        "SET SESSION TRANSACTION READ ONLY",
        "START TRANSACTION READ ONLY",
    ]


async def _fetch_rows(cursor: Any, query: Query, max_rows: int) -> Rows:
    description = cursor.description or ()
    fetched = await cursor.fetchmany(max_rows + 1) if description else []
    json_columns = {index for index, column in enumerate(description) if column[1] == FIELD_TYPE.JSON}
    decoded = (decode_json_columns(row, json_columns) for row in fetched)
    changed = None if query.is_read else cursor.rowcount
    return build_rows([column[0] for column in description], decoded, max_rows, changed)


def _to_bindable(value: object) -> Any:
    return msgspec.json.encode(value).decode() if isinstance(value, dict | list) else value


@asynccontextmanager
async def _open_connection(spec: ConnectionSpec, pinned: PinnedAddress) -> AsyncIterator[_Connection]:
    """Open a connection for one use; a cancellation also stops the running statement at the server."""
    connection = None
    try:
        connection = await _connect(spec, pinned)
        yield connection
        await connection.close_gracefully()
    except RetinueError:
        raise
    except asyncio.CancelledError:
        if connection is not None:
            await _kill(spec, pinned, connection)
        raise
    except Exception as error:  # noqa: BLE001 - a hostile server can make the driver raise anything
        raise _translate_error(error, spec) from None
    finally:
        if connection is not None:
            connection.abort()


async def _kill(spec: ConnectionSpec, pinned: PinnedAddress, running: _Connection) -> None:
    """Kill the statement; closing the connection would not stop it unless it is sending rows."""
    running.abort()
    with suppress(Exception):
        async with asyncio.timeout(_CLOSE_TIMEOUT_SECONDS):
            other = await _connect(spec, pinned)
            try:
                await other.query(f"KILL QUERY {running.thread_id()}")
            finally:
                other.abort()


async def _connect(spec: ConnectionSpec, pinned: PinnedAddress) -> _Connection:
    context = tls_context(spec, pinned.host)
    last_error: Exception = errors.DatabaseUnreachable()
    for address in pinned.addresses:
        connection = _Connection(
            spec,
            host=address,
            port=pinned.port,
            user=spec.username,
            # aiomysql encodes passwords as Latin-1, but servers expect UTF-8.
            password=spec.password.reveal().encode().decode("latin-1"),
            db=spec.database or None,
            ssl=context,
            charset="utf8mb4",
            conv=_DECODERS,
            autocommit=None,
            connect_timeout=CONNECT_TIMEOUT_SECONDS,
        )
        try:
            await connection.open()
        except aiomysql.OperationalError as error:
            if error.args[0] != CR.CR_CONN_HOST_ERROR:
                raise
            last_error = error
        except asyncio.CancelledError:
            connection.abort()
            raise
        else:
            return connection
    raise last_error


def _translate_error(error: Exception, spec: ConnectionSpec) -> RetinueError:
    if not isinstance(error, aiomysql.Error) or not error.args:
        return errors.DatabaseFailed("The server's response is not in the MySQL protocol.")
    code = error.args[0]
    if code == CR.CR_CONN_HOST_ERROR:
        return unreachable_error(error)
    if code in _ERRORS:
        return _ERRORS[code]()
    return errors.QueryFailed(
        errors.redact_server_message(f"The database reported: {error.args[-1]}", spec.password.reveal())
    )
