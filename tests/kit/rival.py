"""A rival transaction that deadlocks with one of the product."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

PATIENCE_S = 20
_WAITS = """SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'retinue' AND wait_event_type = 'Lock'"""


class Rival:
    """Holds one row, and locks another once a transaction of the product waits for the first: a deadlock.

    PostgreSQL ends the transaction whose `deadlock_timeout` is over first, and that of the rival is long.
    """

    def __init__(self, connection: asyncpg.Connection, look: asyncpg.Connection) -> None:
        self._connection = connection
        self._look = look

    async def hold(self, table: str, id: str) -> None:
        await self._connection.execute("BEGIN; SET LOCAL deadlock_timeout = '30s'")
        await self._lock(table, id)

    async def collide(self, table: str, id: str) -> None:
        """Lock the row that the waiting transaction holds; return once that was rolled back."""
        async with asyncio.timeout(PATIENCE_S):
            while not await self._look.fetchval(_WAITS):
                await asyncio.sleep(0.01)
            await self._lock(table, id)
        await self._connection.execute("COMMIT")

    async def _lock(self, table: str, id: str) -> None:
        found = await self._connection.fetch(f"SELECT id FROM {table} WHERE id = $1 FOR UPDATE", id)
        assert found, f"no {id} in {table}"


@asynccontextmanager
async def rival_at(url: str) -> AsyncIterator[Rival]:
    connection, look = await asyncpg.connect(url), await asyncpg.connect(url)
    try:
        yield Rival(connection, look)
    finally:
        await connection.close()
        await look.close()
