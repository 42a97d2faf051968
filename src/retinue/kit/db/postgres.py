"""PostgreSQL through asyncpg, with our own pool that runs no reset query between uses of a connection.

Our statements leave no session state behind (no SET, no advisory session lock, no temporary table), so there
is nothing to reset; a connection released inside a transaction is discarded. The one state of a session are
prepared statements, which a pooler may not keep (`postgres_connect`).
"""

import asyncio
from collections import deque
from typing import Any

import asyncpg
import structlog

from retinue.kit.db.engine import DatabaseConnection, DirectConnection, Rows, StatementBatch, run_all
from retinue.kit.db.errors import (
    DatabaseUnavailable,
    ReferenceViolation,
    RolledBack,
    StorageFull,
    UniqueViolation,
    ValueRejected,
)
from retinue.kit.db.postgres_connect import (
    CONNECTION_LOST_ERRORS,
    PREPARED_STATEMENT_LOST_ERRORS,
    connect,
    is_pooled,
)
from retinue.kit.db.postgres_faults import CONNECT_ERRORS, URL_SETTING, cannot_connect
from retinue.kit.db.postgres_listener import CHANNEL, ChangeListener
from retinue.kit.errors import CannotStart

log = structlog.get_logger("retinue.database")

_PING_TIMEOUT_SECONDS = 2
_LONG_IDLE_SECONDS = 10
# The server rolled back the whole transaction, so it can safely be retried (ADR 22).
_ROLLED_BACK = (
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    *PREPARED_STATEMENT_LOST_ERRORS,
)
_ERROR_TRANSLATIONS: tuple[tuple[Any, type[Exception]], ...] = (
    (_ROLLED_BACK, RolledBack),
    (asyncpg.ForeignKeyViolationError, ReferenceViolation),
    (asyncpg.DiskFullError, StorageFull),
    ((asyncpg.DataError, asyncpg.CharacterNotInRepertoireError, UnicodeEncodeError), ValueRejected),
    ((*CONNECTION_LOST_ERRORS, TimeoutError), DatabaseUnavailable),
)


def _translate(error: BaseException) -> BaseException:
    if isinstance(error, asyncpg.UniqueViolationError):
        return UniqueViolation(error.constraint_name or "")
    return next((target() for source, target in _ERROR_TRANSLATIONS if isinstance(error, source)), error)


class PostgresConnection:
    def __init__(self, raw: asyncpg.Connection) -> None:
        self.raw = raw
        self.is_broken = False
        self.has_lost_statements = False
        self.used_at = 0.0

    def has_been_idle(self) -> bool:
        """Return whether it was idle so long that a proxy or firewall may have dropped it."""
        return asyncio.get_running_loop().time() - self.used_at > _LONG_IDLE_SECONDS

    async def fetch(self, sql: str, arguments: list[Any]) -> Rows:
        try:
            return await self.raw.fetch(sql, *arguments)  # type: ignore[no-any-return]
        except Exception as error:
            raise self._translate_and_mark(error) from error

    async def execute(self, sql: str, arguments: list[Any]) -> int:
        status = await self.run(sql, *arguments)
        count = status.rpartition(" ")[2]
        return int(count) if count.isdigit() else 0

    async def run(self, sql: str, *arguments: Any) -> str:
        """Run a command and return PostgreSQL's status text."""
        try:
            return await self.raw.execute(sql, *arguments)  # type: ignore[no-any-return]
        except Exception as error:
            raise self._translate_and_mark(error) from error

    async def execute_many(self, sql: str, many: list[list[Any]]) -> None:
        try:
            await self.raw.executemany(sql, many)
        except Exception as error:
            raise self._translate_and_mark(error) from error

    async def copy(self, table: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
        try:
            await self.raw.copy_records_to_table(table, records=rows, columns=columns)
        except Exception as error:
            raise self._translate_and_mark(error) from error

    def _translate_and_mark(self, error: Exception) -> BaseException:
        translated = _translate(error)
        is_lost = isinstance(translated, DatabaseUnavailable) and not isinstance(translated, RolledBack)
        self.has_lost_statements |= isinstance(error, PREPARED_STATEMENT_LOST_ERRORS)
        self.is_broken = self.is_broken or is_lost or self.has_lost_statements
        return translated


class PostgresDatabase:
    dialect = "postgresql"

    def __init__(
        self,
        url: str,
        *,
        direct_url: str = "",
        prepared_statements: str = "auto",
        pool_size: int = 10,
        is_command: bool = False,
    ) -> None:
        """`prepared_statements` is `on`, `off`, or `auto`: on unless a pooler stands before the server."""
        self._is_command = is_command
        self._url = url
        self._direct_url = direct_url
        self._prepared_statements = prepared_statements
        self._keeps_statements = prepared_statements == "on"
        self._is_pooled = False
        self._size = pool_size
        self._opened = 0
        self._idle: list[PostgresConnection] = []
        self._waiting: deque[asyncio.Future[PostgresConnection]] = deque()
        self._listener = ChangeListener(self._connect_directly, self.announce)
        self._announcing = False
        self._closed = True

    async def open(self) -> None:
        self._closed = False
        try:
            connection = await connect(self._url, keeps_statements=False, is_command=self._is_command)
        except CONNECT_ERRORS as error:
            raise cannot_connect(self._url, error, URL_SETTING) from error
        try:
            await self._assert_durable(PostgresConnection(connection))
            self._is_pooled = await is_pooled(connection)
        except (*CONNECTION_LOST_ERRORS, TimeoutError) as error:
            raise cannot_connect(self._url, error, URL_SETTING) from error
        finally:
            await connection.close(timeout=5)
        if self._prepared_statements == "auto":
            self._keeps_statements = not self._is_pooled
        if self.direct_connection() == "missing" and not self._is_command:
            log.warning(
                "direct_connection_missing",
                hint="behind a pooler, work of other processes is found by asking every second: set "
                "RETINUE_DATABASE_DIRECT_URL to the server itself",
            )

    @staticmethod
    async def _assert_durable(connection: PostgresConnection) -> None:
        """Refuse a server that does not sync to disk: acknowledged work must be durable."""
        rows = await connection.fetch(
            "SELECT name, setting FROM pg_settings"
            " WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off'",
            [],
        )
        if rows:
            names = ", ".join(row[0] for row in rows)
            raise CannotStart(f"PostgreSQL could lose acknowledged work: {names} is off. Turn it on.")

    async def close(self) -> None:
        self._closed = True
        for connection in self._idle:
            await connection.raw.close(timeout=5)
        self._idle.clear()
        await self._listener.close()

    async def _connect_directly(self) -> asyncpg.Connection:
        return await self._connect(self._direct_url or self._url, keeps_statements=False)

    async def _connect(self, url: str, *, keeps_statements: bool) -> asyncpg.Connection:
        try:
            return await connect(url, keeps_statements=keeps_statements, is_command=self._is_command)
        except CONNECT_ERRORS as error:
            raise DatabaseUnavailable from error

    async def _acquire(self) -> PostgresConnection:
        while self._idle:
            connection = self._idle.pop()
            if not connection.raw.is_closed():
                return connection
            self._opened -= 1
        if self._opened < self._size:
            self._opened += 1
            try:
                raw = await self._connect(self._url, keeps_statements=self._keeps_statements)
                return PostgresConnection(raw)
            except BaseException:
                self._opened -= 1
                self._wake_one()
                raise
        waiter: asyncio.Future[PostgresConnection] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        # Not `wait_for`: before Python 3.12 it ignores a cancellation that arrives with the result.
        try:
            async with asyncio.timeout(30):
                return await waiter
        except (TimeoutError, asyncio.CancelledError) as error:
            if waiter.done() and not waiter.cancelled() and not waiter.exception():
                self._release(waiter.result())
            if isinstance(error, TimeoutError):
                raise DatabaseUnavailable from error
            raise

    def _release(self, connection: PostgresConnection) -> None:
        if connection.has_lost_statements:
            self._give_up_statements()
        if connection.is_broken:
            self._drop_idle()
        if (
            connection.is_broken
            or connection.raw.is_closed()
            or connection.raw.is_in_transaction()
            or self._closed
        ):
            self._discard(connection)
            return
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(connection)
                return
        connection.used_at = asyncio.get_running_loop().time()
        self._idle.append(connection)

    def _drop_idle(self) -> None:
        """Drop all idle connections after one was lost: the others are probably lost too."""
        while self._idle:
            self._opened -= 1
            self._idle.pop().raw.terminate()

    def _give_up_statements(self) -> None:
        """Prepare nothing from now on, unless the operator insists: a pooler mixes the sessions."""
        log.error(
            "prepared_statements_lost",
            hint="a pooler keeps no prepared statements: set RETINUE_DATABASE_PREPARED_STATEMENTS=off",
        )
        self._keeps_statements = self._prepared_statements == "on"

    def _discard(self, connection: PostgresConnection) -> None:
        self._opened -= 1
        if not connection.raw.is_closed():
            connection.raw.terminate()
        self._wake_one()

    def _wake_one(self) -> None:
        """Let the longest waiting caller open a connection in the freed slot."""
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                asyncio.get_running_loop().create_task(self._connect_for(waiter))
                return

    async def _connect_for(self, waiter: asyncio.Future[PostgresConnection]) -> None:
        try:
            connection = await self._acquire()
        except Exception as error:  # noqa: BLE001  passed to the waiter
            if not waiter.done():
                waiter.set_exception(error)
            return
        if waiter.done():
            self._release(connection)
        else:
            waiter.set_result(connection)

    async def ping(self) -> None:
        """Check the database; a pool without a free connection within the timeout counts as unavailable."""
        try:
            async with asyncio.timeout(_PING_TIMEOUT_SECONDS):
                await self.fetch("SELECT 1", [])
        except TimeoutError as error:
            raise DatabaseUnavailable from error

    async def fetch(self, sql: str, arguments: list[Any], *, heavy: bool = False) -> Rows:  # noqa: ARG002
        try:
            return await self._fetch(sql, arguments)
        except DatabaseUnavailable:
            # The connection may have died while idle; a read can be retried.
            return await self._fetch(sql, arguments)

    async def _fetch(self, sql: str, arguments: list[Any]) -> Rows:
        connection = await self._acquire()
        try:
            return await connection.fetch(sql, arguments)
        finally:
            self._release(connection)

    async def apply(self, batch: StatementBatch) -> None:
        if len(batch) == 1 and len(batch[0][1]) == 1:
            sql, (arguments,) = batch[0]
            await self._execute_alone(sql, arguments)
            return
        connection = await self.begin()
        try:
            await run_all(connection, batch)
        except BaseException:
            await self.rollback(connection)
            raise
        await self.commit(connection)

    async def _execute_alone(self, sql: str, arguments: list[Any]) -> None:
        """Run a single statement as its own transaction, which saves BEGIN and COMMIT.

        It is never retried: if the connection is lost, it is unknown whether the statement took effect.
        """
        if self._idle and self._idle[-1].has_been_idle():
            await self.fetch("SELECT 1", [])  # retried if necessary; leaves a live connection
        connection = await self._acquire()
        try:
            await connection.execute(sql, arguments)
        finally:
            self._release(connection)

    async def begin(self) -> DatabaseConnection:
        try:
            return await self._begin()
        except DatabaseUnavailable:
            return await self._begin()

    async def _begin(self) -> PostgresConnection:
        connection = await self._acquire()
        try:
            await connection.execute("BEGIN", [])
        except BaseException:
            self._release(connection)
            raise
        return connection

    async def commit(self, connection: DatabaseConnection) -> None:
        assert isinstance(connection, PostgresConnection)
        try:
            status = await connection.run("COMMIT")
        finally:
            self._release(connection)
        if status != "COMMIT":
            # After a failed statement PostgreSQL answers COMMIT with a rollback, without an error.
            raise RuntimeError("a statement of this transaction failed, so nothing was committed")

    async def rollback(self, connection: DatabaseConnection) -> None:
        assert isinstance(connection, PostgresConnection)
        try:
            if not connection.raw.is_closed():
                await connection.execute("ROLLBACK", [])
        except DatabaseUnavailable:
            pass
        finally:
            self._release(connection)

    async def wait_for_change(self, seconds: float) -> bool:
        if self.direct_connection() == "missing":
            await asyncio.sleep(seconds)
            return False
        return await self._listener.wait(seconds)

    def direct_connection(self) -> DirectConnection:
        if self._is_pooled and not self._direct_url:
            return "missing"
        status = self._listener.status
        return status if self._direct_url or status == "unavailable" else "not_needed"

    def connection_counts(self) -> dict[str, int]:
        idle = len(self._idle)
        return {"used": self._opened - idle, "idle": idle, "waiting": len(self._waiting)}

    async def announce(self) -> None:
        """Send one notification for all commits within a few milliseconds; a lost one only delays a job."""
        if self._announcing:
            return
        self._announcing = True
        try:
            await asyncio.sleep(0.002)
            await self.fetch(f"SELECT pg_notify('{CHANNEL}', '')", [])
        except DatabaseUnavailable:
            pass
        finally:
            self._announcing = False
