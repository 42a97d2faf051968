"""SQLite: reads run on the event loop, writers take turns, commits are synced to disk in a thread."""

import asyncio
import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from retinue.kit.db.commit_thread import CommitThread
from retinue.kit.db.engine import DatabaseConnection, DirectConnection, Rows, StatementBatch
from retinue.kit.db.errors import (
    DatabaseUnavailable,
    ReferenceViolation,
    StorageFull,
    UniqueViolation,
    ValueRejected,
)
from retinue.kit.durable_files import make_private_file, make_private_folder, revoke_public_access
from retinue.kit.text.search import sqlite_regexp

_UNIQUE = re.compile(r"UNIQUE constraint failed: (.+)")
_BUSY_TIMEOUT_SECONDS = 10.0
_POLL_SECONDS = 0.05
# Python's default is 128, the product has hundreds; preparing a statement costs five times its execution.
_MAX_PREPARED_STATEMENTS = 1024
# Bounds how long a group of writers blocks the event loop.
_MAX_GROUP_SIZE = 50
# ADR 18: how long a transaction waits for others to join if the last one was shared.
_GROUP_COMMIT_WINDOW_SECONDS = 0.003


def connect(path: Path, *, busy_ms: int = 0) -> sqlite3.Connection:
    # A long timeout at first: switching to WAL waits for a process that is creating the database.
    connection = sqlite3.connect(
        path,
        isolation_level=None,
        check_same_thread=False,
        timeout=60,
        cached_statements=_MAX_PREPARED_STATEMENTS,
    )
    connection.create_function("regexp", 2, sqlite_regexp, deterministic=True)
    connection.execute("PRAGMA journal_mode=WAL")
    # FULL, because NORMAL acknowledges a commit before fsync, and acknowledged work must survive.
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    # Overwritten data, such as a secret before it was sealed, must not remain in the file.
    if connection.execute("PRAGMA secure_delete").fetchone() == (0,):
        connection.execute("PRAGMA secure_delete=FAST")
    # In KiB. ADR 17: changing pages are adjacent; the operating system caches the rest.
    connection.execute("PRAGMA cache_size=-4000")
    # Most pages change again soon, so rarer checkpoints copy less in total.
    connection.execute("PRAGMA wal_autocheckpoint=4000")
    connection.execute("PRAGMA journal_size_limit=67108864")
    connection.execute(f"PRAGMA busy_timeout={busy_ms}")
    return connection


_DRIVER_ERRORS = (OverflowError, UnicodeEncodeError, sqlite3.Error)


def _translate(error: Exception) -> Exception:
    has_a_bad_type = isinstance(error, sqlite3.ProgrammingError) and "type" in str(error)
    if has_a_bad_type or not isinstance(error, sqlite3.Error):
        return ValueRejected()
    code = getattr(error, "sqlite_errorcode", 0) or 0
    if code in {sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY}:
        return UniqueViolation(_constraint_name(str(error)))
    if code == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
        return ReferenceViolation()
    if code & 0xFF == sqlite3.SQLITE_FULL:
        return StorageFull()
    if code & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR}:
        return DatabaseUnavailable()
    return error


def _constraint_name(message: str) -> str:
    """Return the name PostgreSQL would report, from `UNIQUE constraint failed: users.email`."""
    match = _UNIQUE.search(message)
    if not match:
        return message
    columns = [part.strip().partition(".") for part in match[1].split(",")]
    table = columns[0][0]
    return f"uq_{table}_{'_'.join(column for _, _, column in columns)}"


def _run(
    connection: sqlite3.Connection, sql: str, arguments: list[Any], *, many: bool = False
) -> sqlite3.Cursor:
    try:
        return connection.executemany(sql, arguments) if many else connection.execute(sql, arguments)
    except _DRIVER_ERRORS as error:
        raise _translate(error) from error


def _commit(writer: sqlite3.Connection) -> None:
    try:
        writer.execute("COMMIT")
    except sqlite3.Error as error:
        if writer.in_transaction:
            writer.execute("ROLLBACK")
        raise _translate(error) from error


class SqliteConnection:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def fetch(self, sql: str, arguments: list[Any]) -> Rows:
        return _run(self._connection, sql, arguments).fetchall()

    async def execute(self, sql: str, arguments: list[Any]) -> int:
        return _run(self._connection, sql, arguments).rowcount

    async def execute_many(self, sql: str, many: list[list[Any]]) -> None:
        _run(self._connection, sql, many, many=True)


class _PendingBatch(NamedTuple):
    """A batch to store, and the future of its caller."""

    batch: StatementBatch
    stored: asyncio.Future[None]

    def succeeded(self) -> None:
        if not self.stored.done():
            self.stored.set_result(None)

    def failed(self, error: Exception) -> None:
        if not self.stored.done():
            self.stored.set_exception(error)


class SqliteDatabase:
    dialect = "sqlite"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = asyncio.Lock()
        self._commit_thread = CommitThread()
        self._read_threads = ThreadPoolExecutor(2, thread_name_prefix="sqlite-read")
        self._idle_readers: list[sqlite3.Connection] = []
        self._reader: sqlite3.Connection | None = None
        self._writer: sqlite3.Connection | None = None
        self._seen_version = -1
        self._pending: list[_PendingBatch] = []
        self._applying: asyncio.Task[None] | None = None
        self._has_concurrent_writers = False
        self._free_since = 0.0

    async def open(self) -> None:
        if sqlite3.sqlite_version_info < (3, 40):
            raise RuntimeError(f"SQLite 3.40 or newer is required, found {sqlite3.sqlite_version}")
        make_private_folder(self._path.parent)
        # SQLite gives its companion files the mode of the database; fix those of an older release.
        make_private_file(self._path)
        for suffix in ("-wal", "-shm"):
            revoke_public_access(self._path.with_name(self._path.name + suffix))
        self._writer = connect(self._path)
        self._reader = connect(self._path, busy_ms=5000)

    async def close(self) -> None:
        async with self._lock:
            for connection in (self._reader, self._writer):
                if connection is not None:
                    connection.close()
            self._reader = self._writer = None
        self._commit_thread.close()
        self._read_threads.shutdown(wait=True)
        while self._idle_readers:
            self._idle_readers.pop().close()

    async def ping(self) -> None:
        await self.fetch("SELECT 1", [])

    async def fetch(self, sql: str, arguments: list[Any], *, heavy: bool = False) -> Rows:
        if self._reader is None:
            raise DatabaseUnavailable
        if heavy:
            return await asyncio.get_running_loop().run_in_executor(
                self._read_threads, self._fetch_in_thread, sql, arguments
            )
        return _run(self._reader, sql, arguments).fetchall()

    def _fetch_in_thread(self, sql: str, arguments: list[Any]) -> Rows:
        # Connections are kept: opening one takes as long as a search of a million rows.
        try:
            connection = self._idle_readers.pop()
        except IndexError:
            connection = connect(self._path, busy_ms=5000)
        try:
            return _run(connection, sql, arguments).fetchall()
        finally:
            self._idle_readers.append(connection)

    async def apply(self, batch: StatementBatch) -> None:
        """Store a batch; concurrent batches share one transaction and one sync to disk (ADR 18)."""
        pending = _PendingBatch(batch, asyncio.get_running_loop().create_future())
        self._pending.append(pending)
        if self._applying is None:
            self._applying = asyncio.create_task(self._apply_pending())
        try:
            await pending.stored
        except asyncio.CancelledError:
            if pending in self._pending:
                self._pending.remove(pending)
            raise

    async def _apply_pending(self) -> None:
        try:
            while self._pending:
                await self._wait_for_group()
                await self._apply_group()
        finally:
            self._applying = None

    async def _wait_for_group(self) -> None:
        """Wait briefly under concurrent writes: one shared transaction costs far less than many."""
        left = self._free_since + _GROUP_COMMIT_WINDOW_SECONDS - asyncio.get_running_loop().time()
        if self._has_concurrent_writers and left > 0:
            await asyncio.sleep(left)

    async def _apply_group(self) -> None:
        group = self._pending
        try:
            connection = await self.begin()
            group, self._pending = self._pending[:_MAX_GROUP_SIZE], self._pending[_MAX_GROUP_SIZE:]
            await self._apply_all(connection, group)
            await self.commit(connection)
        except Exception as error:  # noqa: BLE001  passed to the callers
            for pending in group:
                pending.failed(error)
            self._pending = [pending for pending in self._pending if not pending.stored.done()]
        self._has_concurrent_writers = len(group) > 1
        self._free_since = asyncio.get_running_loop().time()
        for pending in group:
            pending.succeeded()

    async def _apply_all(self, connection: DatabaseConnection, group: list[_PendingBatch]) -> None:
        """Run all batches; if one fails, repeat them with savepoints, so that the others succeed."""
        try:
            try:
                for pending in group:
                    self._run_all(pending.batch)
            except Exception:  # noqa: BLE001  recurs in the second run and is passed to its caller
                # Some errors, such as a full disk, have already ended the transaction.
                if self._writer is not None and self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                await self._begin_immediate()
                await self._apply_with_savepoints(connection, group)
        except BaseException:
            await self.rollback(connection)
            raise

    def _run_all(self, batch: StatementBatch) -> None:
        assert self._writer is not None
        cursor = self._writer.cursor()
        try:
            for sql, many in batch:
                if len(many) == 1:
                    cursor.execute(sql, many[0])
                else:
                    cursor.executemany(sql, many)
        except _DRIVER_ERRORS as error:
            raise _translate(error) from error

    async def _apply_with_savepoints(
        self, connection: DatabaseConnection, group: list[_PendingBatch]
    ) -> None:
        """Isolate each batch; not the default, because a savepoint costs as much as the write itself."""
        for pending in group:
            await connection.execute("SAVEPOINT one", [])
            try:
                self._run_all(pending.batch)
            except Exception as error:
                if self._writer is None or not self._writer.in_transaction:
                    raise
                await connection.execute("ROLLBACK TO one", [])
                pending.failed(error)
            await connection.execute("RELEASE one", [])

    async def begin(self) -> DatabaseConnection:
        await self._lock.acquire()
        try:
            await self._begin_immediate()
        except BaseException:
            self._lock.release()
            raise
        assert self._writer is not None
        return SqliteConnection(self._writer)

    async def _begin_immediate(self) -> None:
        """Begin a transaction; wait for other processes without blocking the event loop."""
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + _BUSY_TIMEOUT_SECONDS
        pause = 0.001
        while True:
            if self._writer is None:
                raise DatabaseUnavailable
            try:
                self._writer.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                busy = (error.sqlite_errorcode or 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
                if not busy or loop.time() > give_up_at:
                    raise _translate(error) from error
                await asyncio.sleep(pause)
                pause = min(pause * 2, 0.05)
            else:
                return

    async def commit(self, connection: DatabaseConnection) -> None:
        """Commit and sync in a thread; the next writer waits for it, readers do not."""
        assert isinstance(connection, SqliteConnection)
        assert self._writer is not None
        writer, committed = self._writer, asyncio.get_running_loop().create_future()

        def settle(error: Exception | None) -> None:
            # Released here, because the waiting task may be cancelled before the commit is done.
            self._lock.release()
            if committed.done():
                return
            if error is None:
                committed.set_result(None)
            else:
                committed.set_exception(error)

        self._commit_thread.run(lambda: _commit(writer), settle)
        await committed

    async def rollback(self, connection: DatabaseConnection) -> None:
        assert isinstance(connection, SqliteConnection)
        try:
            if self._writer is not None and self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
        finally:
            self._lock.release()

    async def wait_for_change(self, seconds: float) -> bool:
        """Poll the writer's `PRAGMA data_version`, which changes when another connection commits."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while True:
            version = await self._data_version()
            if version != self._seen_version:
                self._seen_version = version
                return True
            left = until - loop.time()
            if left <= 0:
                return False
            await asyncio.sleep(min(_POLL_SECONDS, left))

    async def _data_version(self) -> int:
        # In turn with our writers: the thread that commits has the connection, and nobody else commits then.
        async with self._lock:
            if self._writer is None:
                raise DatabaseUnavailable
            return int(_run(self._writer, "PRAGMA data_version", []).fetchone()[0])

    def direct_connection(self) -> DirectConnection:
        return "not_needed"

    def connection_counts(self) -> dict[str, int]:
        used = int(self._lock.locked())
        return {"used": used, "idle": 2 - used + len(self._idle_readers), "waiting": len(self._pending)}

    async def announce(self) -> None:
        """Do nothing: a commit is noticed by polling."""
