"""One process at a time looks for servers on an SQLite database and migrates it.

PostgreSQL's advisory lock does this on the other database. SQLite's own locks do not: processes that wait for
the migration would look like the server that it must not meet.
"""

import asyncio
import contextlib
import fcntl
import os
from collections.abc import AsyncIterator
from pathlib import Path

_POLL_SECONDS = 0.1


@contextlib.asynccontextmanager
async def sqlite_turn(path: Path) -> AsyncIterator[None]:
    """Wait for the turn of this process; a killed one gives it back, and the file goes with the last."""
    lock = path.with_name(f"{path.name}.migration")
    descriptor = await _locked(lock)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(descriptor)


async def _locked(lock: Path) -> int:
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever had it before has removed the file: then this lock is on one that nobody else finds.
            if os.fstat(descriptor).st_nlink:
                return descriptor
        except BlockingIOError:
            await asyncio.sleep(_POLL_SECONDS)
        os.close(descriptor)
