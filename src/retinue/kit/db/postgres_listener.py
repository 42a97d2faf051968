"""The connection on which PostgreSQL tells of work that other processes have committed."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import asyncpg
import structlog

from retinue.kit.db.engine import DirectConnection
from retinue.kit.db.errors import DatabaseUnavailable
from retinue.kit.db.postgres_connect import CONNECTION_LOST_ERRORS

CHANNEL = "retinue_jobs"
_MAX_SILENCE_SECONDS = 5.0

log = structlog.get_logger("retinue.database")


class ChangeListener:
    """Listens on a connection of its own, which must reach the server itself.

    It announces something itself as soon as it listens: only a notification that arrives shows that this
    connection and the pool lead to the same database, and that no pooler has swallowed the `LISTEN`.
    """

    def __init__(
        self, connect: Callable[[], Awaitable[asyncpg.Connection]], announce: Callable[[], Awaitable[None]]
    ) -> None:
        self._connect = connect
        self._announce = announce
        self._connection: asyncpg.Connection | None = None
        self._opened_at = 0.0
        self.changed = asyncio.Event()
        self.status: DirectConnection = "not_tried"

    async def wait(self, seconds: float) -> bool:
        """Wait for a notification, or this long; return whether one came."""
        try:
            if self._connection is None or self._connection.is_closed():
                await self._open()
        except DatabaseUnavailable:
            self.status = "unavailable"
            await asyncio.sleep(seconds)
            return False
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.changed.wait()
        has_changed = self.changed.is_set()
        self.changed.clear()
        self._judge_silence()
        return has_changed

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close(timeout=5)
            self._connection = None

    async def _open(self) -> None:
        connection = await self._connect()
        try:
            await connection.add_listener(CHANNEL, self._notified)
        except BaseException as error:  # also a cancellation: a runner may stop while it starts to listen
            connection.terminate()
            if isinstance(error, CONNECTION_LOST_ERRORS):
                raise DatabaseUnavailable from error
            raise
        self._connection = connection
        self._opened_at = asyncio.get_running_loop().time()
        self.status = "not_tried"
        await self._announce()

    def _notified(self, *_: object) -> None:
        self.status = "ok"
        self.changed.set()

    def _judge_silence(self) -> None:
        silence = asyncio.get_running_loop().time() - self._opened_at
        if self.status == "not_tried" and silence > _MAX_SILENCE_SECONDS:
            self.status = "unavailable"
            log.warning(
                "notifications_do_not_arrive",
                hint="RETINUE_DATABASE_DIRECT_URL must reach the same database, without a pooler between",
            )
