"""SQLite: readers run on the event loop, one writer at a time, commits are synced in a thread."""

import asyncio
import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from retinue.kit.db.committing import Committer
from retinue.kit.db.engine import Batch, Connection, Rows
from retinue.kit.db.errors import (
    DatabaseUnavailable,
    ReferenceViolation,
    StorageFull,
    UniqueViolation,
    ValueRejected,
)

_UNIQUE = re.compile(r"UNIQUE constraint failed: (.+)")
_BUSY_PATIENCE_S = 10.0
_POLL_S = 0.05
# Python keeps 128 and the product has hundreds; to prepare one anew costs five times as much as to run it.
_PREPARED = 1024
# So that a crowd of writers does not keep the event loop from everyone else.
_MOST_AT_ONCE = 50
# How long a transaction waits for company if the last one had some: docs/adr/0018-writers-wait-for-company.md
_GATHERING_S = 0.003


def connect(path: Path, *, busy_ms: int = 0) -> sqlite3.Connection:
    # Patient at first: switching to WAL waits for a process that is just making the database.
    connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, timeout=60, cached_statements=_PREPARED
    )
    connection.execute("PRAGMA journal_mode=WAL")
    # FULL: NORMAL acknowledges before any fsync, and what was acknowledged must survive.
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    # In kB: the pages that change lie together (docs/adr/0017-ids-led-by-time.md), the system has the rest.
    connection.execute("PRAGMA cache_size=-4000")
    # Most pages change again soon: the more rarely they are copied home, the less is copied.
    connection.execute("PRAGMA wal_autocheckpoint=4000")
    connection.execute("PRAGMA journal_size_limit=67108864")
    connection.execute(f"PRAGMA busy_timeout={busy_ms}")
    return connection


_REFUSALS = (OverflowError, UnicodeEncodeError, sqlite3.Error)


def _translated(error: Exception) -> Exception:
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
    """The name PostgreSQL would report, from `UNIQUE constraint failed: users.email`."""
    found = _UNIQUE.search(message)
    if not found:
        return message
    columns = [part.strip().partition(".") for part in found[1].split(",")]
    table = columns[0][0]
    return f"uq_{table}_{'_'.join(column for _, _, column in columns)}"


def _run(
    connection: sqlite3.Connection, sql: str, arguments: list[Any], *, many: bool = False
) -> sqlite3.Cursor:
    try:
        return connection.executemany(sql, arguments) if many else connection.execute(sql, arguments)
    except _REFUSALS as error:
        raise _translated(error) from error


def _commit(writer: sqlite3.Connection) -> None:
    try:
        writer.execute("COMMIT")
    except sqlite3.Error as error:
        if writer.in_transaction:
            writer.execute("ROLLBACK")
        raise _translated(error) from error


class SqliteConnection:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def fetch(self, sql: str, arguments: list[Any]) -> Rows:
        return _run(self._connection, sql, arguments).fetchall()

    async def execute(self, sql: str, arguments: list[Any]) -> int:
        return _run(self._connection, sql, arguments).rowcount

    async def execute_many(self, sql: str, many: list[list[Any]]) -> None:
        _run(self._connection, sql, many, many=True)


class _Waiting(NamedTuple):
    """A batch that is to be stored, and who waits for it."""

    batch: Batch
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
        self._committer = Committer()
        self._heavy = ThreadPoolExecutor(2, thread_name_prefix="sqlite-read")
        self._apart: list[sqlite3.Connection] = []
        self._reader: sqlite3.Connection | None = None
        self._writer: sqlite3.Connection | None = None
        self._seen_version = -1
        self._waiting: list[_Waiting] = []
        self._applying: asyncio.Task[None] | None = None
        self._has_company = False
        self._free_since = 0.0

    async def open(self) -> None:
        if sqlite3.sqlite_version_info < (3, 40):
            raise RuntimeError(f"SQLite 3.40 or newer is needed, found {sqlite3.sqlite_version}")
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._writer = connect(self._path)
        self._reader = connect(self._path, busy_ms=5000)

    async def close(self) -> None:
        async with self._lock:
            for connection in (self._reader, self._writer):
                if connection is not None:
                    connection.close()
            self._reader = self._writer = None
        self._committer.close()
        self._heavy.shutdown(wait=True)
        while self._apart:
            self._apart.pop().close()

    async def ping(self) -> None:
        await self.fetch("SELECT 1", [])

    async def fetch(self, sql: str, arguments: list[Any], *, heavy: bool = False) -> Rows:
        if self._reader is None:
            raise DatabaseUnavailable
        if heavy:
            return await asyncio.get_running_loop().run_in_executor(
                self._heavy, self._fetch_apart, sql, arguments
            )
        return _run(self._reader, sql, arguments).fetchall()

    def _fetch_apart(self, sql: str, arguments: list[Any]) -> Rows:
        # Kept: opening one takes as long as a search of a million rows.
        try:
            connection = self._apart.pop()
        except IndexError:
            connection = connect(self._path, busy_ms=5000)
        try:
            return _run(connection, sql, arguments).fetchall()
        finally:
            self._apart.append(connection)

    async def apply(self, batch: Batch) -> None:
        """Whatever waits for the writer at the same time is one transaction, with one sync to disk."""
        waiting = _Waiting(batch, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._applying is None:
            self._applying = asyncio.create_task(self._apply_waiting())
        try:
            await waiting.stored
        except asyncio.CancelledError:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
            raise

    async def _apply_waiting(self) -> None:
        try:
            while self._waiting:
                await self._gather()
                await self._apply_some()
        finally:
            self._applying = None

    async def _gather(self) -> None:
        """Where several write at the same time, one transaction for many of them costs far less than many."""
        left = self._free_since + _GATHERING_S - asyncio.get_running_loop().time()
        if self._has_company and left > 0:
            await asyncio.sleep(left)

    async def _apply_some(self) -> None:
        some = self._waiting
        try:
            connection = await self.begin()
            some, self._waiting = self._waiting[:_MOST_AT_ONCE], self._waiting[_MOST_AT_ONCE:]
            await self._apply_each(connection, some)
            await self.commit(connection)
        except Exception as error:  # noqa: BLE001  handed to those who wait
            for waiting in some:
                waiting.failed(error)
            self._waiting = [waiting for waiting in self._waiting if not waiting.stored.done()]
        self._has_company = len(some) > 1
        self._free_since = asyncio.get_running_loop().time()
        for waiting in some:
            waiting.succeeded()

    async def _apply_each(self, connection: Connection, some: list[_Waiting]) -> None:
        """All of them; where one fails, again with care, so that it leaves nothing and the others alone."""
        try:
            try:
                for waiting in some:
                    self._run_all(waiting.batch)
            except Exception:  # noqa: BLE001  whatever it was, it comes again, and to the one whose it is
                # A full disk, for example, has ended the whole transaction already.
                if self._writer is not None and self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                await self._begin_immediate()
                await self._apply_with_care(connection, some)
        except BaseException:
            await self.rollback(connection)
            raise

    def _run_all(self, batch: Batch) -> None:
        assert self._writer is not None
        cursor = self._writer.cursor()
        try:
            for sql, many in batch:
                if len(many) == 1:
                    cursor.execute(sql, many[0])
                else:
                    cursor.executemany(sql, many)
        except _REFUSALS as error:
            raise _translated(error) from error

    async def _apply_with_care(self, connection: Connection, some: list[_Waiting]) -> None:
        """A savepoint costs as much as the writing itself: SQLite notes down every page before it changes."""
        for waiting in some:
            await connection.execute("SAVEPOINT one", [])
            try:
                self._run_all(waiting.batch)
            except Exception as error:
                if self._writer is None or not self._writer.in_transaction:
                    raise
                await connection.execute("ROLLBACK TO one", [])
                waiting.failed(error)
            await connection.execute("RELEASE one", [])

    async def begin(self) -> Connection:
        await self._lock.acquire()
        try:
            await self._begin_immediate()
        except BaseException:
            self._lock.release()
            raise
        assert self._writer is not None
        return SqliteConnection(self._writer)

    async def _begin_immediate(self) -> None:
        """Another process may hold the file: wait for it without holding up the event loop."""
        loop = asyncio.get_running_loop()
        patience = loop.time() + _BUSY_PATIENCE_S
        pause = 0.001
        while True:
            if self._writer is None:
                raise DatabaseUnavailable
            try:
                self._writer.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                busy = (error.sqlite_errorcode or 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
                if not busy or loop.time() > patience:
                    raise _translated(error) from error
                await asyncio.sleep(pause)
                pause = min(pause * 2, 0.05)
            else:
                return

    async def commit(self, connection: Connection) -> None:
        """The sync to disk happens in a thread; the next writer waits for it, readers do not."""
        assert isinstance(connection, SqliteConnection)
        assert self._writer is not None
        writer, committed = self._writer, asyncio.get_running_loop().create_future()

        def settle(error: Exception | None) -> None:
            # Here, because whoever waits for it may be gone before it is done.
            self._lock.release()
            if committed.done():
                return
            if error is None:
                committed.set_result(None)
            else:
                committed.set_exception(error)

        self._committer.run(lambda: _commit(writer), settle)
        await committed

    async def rollback(self, connection: Connection) -> None:
        assert isinstance(connection, SqliteConnection)
        try:
            if self._writer is not None and self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
        finally:
            self._lock.release()

    async def wait_for_change(self, seconds: float) -> None:
        """`PRAGMA data_version` moves when any other connection commits, ours included."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while True:
            if self._reader is None:
                raise DatabaseUnavailable
            version = self._reader.execute("PRAGMA data_version").fetchone()[0]
            if version != self._seen_version:
                self._seen_version = version
                return
            left = until - loop.time()
            if left <= 0:
                return
            await asyncio.sleep(min(_POLL_S, left))

    async def announce(self) -> None:
        """Nothing to do: a commit is its own announcement."""
