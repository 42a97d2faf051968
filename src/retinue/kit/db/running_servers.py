"""Whether servers use a database just now; asked before a migration that they would not survive.

Servers of earlier releases are noticed as well, because nothing here depends on what they wrote. A killed one
is not: its connections end with it.
"""

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from retinue.kit.db.databases import direct_url, is_postgres, sqlite_path
from retinue.kit.settings import Settings

MAX_SILENCE_SECONDS = 15.0
"""A server reads its keys every five seconds. A pooler keeps silent connections of one that has gone."""
MAX_SQLITE_WAIT_SECONDS = 5.0
"""How long another command, such as a backup, may delay a migration before it counts as a server."""
_POLL_SECONDS = 0.25
# What belongs to another role is hidden, the type of its session and its address as well.
_ACTIVITY = (
    "SELECT CASE WHEN backend_type IS NULL THEN 'an unknown address'"
    " ELSE coalesce(client_addr::text, 'this machine') END, state_change IS NULL OR state_change > $1"
    " FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND coalesce(backend_type, 'client backend') = 'client backend' AND application_name = $2"
)

IsDone = Callable[[], Awaitable[bool]]
"""Whether the migration is not needed any more, because another process has made it meanwhile."""


async def find_servers(settings: Settings, is_done: IsDone) -> str:
    """Return what shows that a server runs, as words for a sentence; empty if none does, or `is_done`."""
    if is_postgres(settings):
        return await _find_on_postgres(settings, is_done)
    return await _find_on_sqlite(sqlite_path(settings), is_done)


async def _find_on_sqlite(path: Path, is_done: IsDone) -> str:
    loop = asyncio.get_running_loop()
    until = loop.time() + MAX_SQLITE_WAIT_SECONDS
    while is_in_use(path):
        if await is_done():
            return ""
        if loop.time() > until:
            return f"another process has {path} open"
        await asyncio.sleep(_POLL_SECONDS)
    return ""


def is_in_use(path: Path) -> bool:
    """Return whether anybody else has the SQLite database open: in WAL mode a connection keeps a lock on it.

    Not asked of the operating system: closing a file drops all locks that this process has on it.
    """
    if not path.exists():
        return False
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as connection:
        try:
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            # Of a database that is not in WAL mode the reading above takes no exclusive lock.
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
        except sqlite3.OperationalError as error:
            if (error.sqlite_errorcode or 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                return True
            raise
    return False


async def _find_on_postgres(settings: Settings, is_done: IsDone) -> str:
    loop = asyncio.get_running_loop()
    until = loop.time() + MAX_SILENCE_SECONDS
    async with _activity(direct_url(settings)) as read_activity:
        while loop.time() < until:
            found = await read_activity()
            if not found:
                return ""
            busy = [address for address, is_busy in found if is_busy]
            if busy:
                if await is_done():
                    return ""
                places = ", ".join(sorted(set(busy)))
                return f"a server uses the database ({len(found)} connections, from {places})"
            await asyncio.sleep(_POLL_SECONDS)
    return ""


@contextlib.asynccontextmanager
async def _activity(url: str) -> AsyncIterator[Callable[[], Awaitable[list[tuple[str, bool]]]]]:
    """Yield a function that lists the connections of servers, and whether each was used since we began.

    Connections of another role hide when they were used: they count as used.
    """
    # Its driver is imported only where it is used.
    from retinue.kit.db.postgres_command import command_connection
    from retinue.kit.db.postgres_connect import SERVER_NAME
    from retinue.kit.db.postgres_faults import DIRECT_URL_SETTING, URL_SETTING

    async with command_connection(url, f"{URL_SETTING} and {DIRECT_URL_SETTING}") as connection:
        began_at = await connection.fetchval("SELECT clock_timestamp()")

        async def read_activity() -> list[tuple[str, bool]]:
            return [(row[0], row[1]) for row in await connection.fetch(_ACTIVITY, began_at, SERVER_NAME)]

        yield read_activity
