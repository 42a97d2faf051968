"""A pool of connections to checked addresses; idle ones are found by name and need no look-up (ADR 25)."""

import asyncio
import functools
import re
from collections import deque
from collections.abc import Mapping

from retinue.kit.egress.connection import EgressConnection
from retinue.kit.egress.connector import EgressConnector, EgressRoute
from retinue.kit.egress.destination import Destination
from retinue.kit.egress.errors import EgressFailed, EgressTimeout

_IDLE_TIMEOUT_SECONDS = 15.0
# A busy connection would otherwise never learn that its name has moved to another address.
_MAX_AGE_SECONDS = 300.0
# In addition to connections in use; calls to a thousand names must not leave a thousand sockets open.
_MAX_IDLE_CONNECTIONS = 256
# A request that is sent when the server is about to close the connection is lost, and a POST is not repeated.
_KEEP_ALIVE_MARGIN_SECONDS = 1.0
_KEEP_ALIVE_TIMEOUT = re.compile(r"(?:^|[,;\s])timeout\s*=\s*\"?(\d{1,9})", re.ASCII | re.IGNORECASE)


class _Slots:
    """A limited number of slots with a first-in, first-out queue."""

    def __init__(self, size: int) -> None:
        self._free = size
        self._waiting: deque[asyncio.Future[None]] = deque()

    def try_acquire(self) -> bool:
        """Take a slot if one is free; none is while anyone waits."""
        if not self._free:
            return False
        self._free -= 1
        return True

    async def acquire(self) -> None:
        if self.try_acquire():
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if not waiter.cancelled():
                self.release()
            raise

    def release(self) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
        self._free += 1


class EgressPool:
    def __init__(self, connector: EgressConnector, max_connections: int) -> None:
        self._connector = connector
        self._slots = _Slots(max_connections)
        self._used: set[EgressConnection] = set()
        # By origin. The address of each connection was checked for the name when it was opened.
        self._idle: dict[str, list[EgressConnection]] = {}
        self._idle_count = 0
        self._sweeping: asyncio.TimerHandle | None = None

    @functools.cached_property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Return the event loop, which is that of the first call: finding it costs a system call."""
        return asyncio.get_running_loop()

    async def acquire(
        self, destination: Destination, connect_by: float, *, is_new: bool = False
    ) -> EgressConnection:
        """Return an idle connection or, if there is none or `is_new`, a new one; release it after use."""
        if not is_new and self._slots.try_acquire():
            idle = self._find_idle(destination.origin)
            if idle is not None:
                self._used.add(idle)
                return idle
            self._slots.release()
        # Look-ups hold no slot: those of a dead name server must not keep others from connecting.
        route = await self._connector.find_route(destination, connect_by)
        try:
            async with asyncio.timeout_at(connect_by):
                await self._slots.acquire()
                connection = await self._connect_in_slot(route)
        except TimeoutError:
            self._connector.forget(route)
            raise EgressTimeout from None
        except EgressFailed:
            self._connector.forget(route)
            raise
        self._used.add(connection)
        return connection

    def release(self, destination: Destination, connection: EgressConnection) -> None:
        """Keep the connection if its exchange is complete, else close it; a second call does nothing."""
        if connection not in self._used:
            return
        self._used.remove(connection)
        self._slots.release()
        if not connection.is_reusable:
            connection.close()
            return
        now = self.loop.time()
        idle_s = _idle_seconds(connection.headers)
        connection.kept_until = min(now + idle_s, connection.made_at + _MAX_AGE_SECONDS)
        if connection.kept_until <= now:
            connection.close()
            return
        connection.was_kept = True
        if self._idle_count >= _MAX_IDLE_CONNECTIONS:
            self._drop_oldest()
        self._idle.setdefault(destination.origin, []).append(connection)
        self._idle_count += 1
        if self._sweeping is None:
            self._sweeping = self.loop.call_later(_IDLE_TIMEOUT_SECONDS, self._sweep)

    async def close(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None
        for connection in (*self._used, *(idle for kept in self._idle.values() for idle in kept)):
            connection.close()
        self._idle.clear()
        self._idle_count = 0
        # The event loop calls `connection_lost` in its next iteration.
        await asyncio.sleep(0)

    def _find_idle(self, origin: str) -> EgressConnection | None:
        kept = self._idle.get(origin)
        while kept:
            connection = kept.pop()
            self._idle_count -= 1
            if not kept:
                del self._idle[origin]
            if not connection.is_lost and connection.kept_until > self.loop.time():
                return connection
            connection.close()
        return None

    def _drop_oldest(self) -> None:
        """Close an idle connection of the least recently added origin."""
        origin, kept = next(iter(self._idle.items()))
        kept.pop(0).close()
        self._idle_count -= 1
        if not kept:
            del self._idle[origin]

    def _sweep(self) -> None:
        """Close connections that have been idle too long."""
        self._sweeping = None
        now = self.loop.time()
        for origin, kept in list(self._idle.items()):
            for connection in kept:
                if connection.kept_until <= now:
                    connection.close()
            kept[:] = [connection for connection in kept if not connection.is_lost]
            if not kept:
                del self._idle[origin]
        self._idle_count = sum(map(len, self._idle.values()))
        if self._idle:
            self._sweeping = self.loop.call_later(_IDLE_TIMEOUT_SECONDS, self._sweep)

    async def _connect_in_slot(self, route: EgressRoute) -> EgressConnection:
        try:
            return await self._connector.connect(route)
        except BaseException:
            self._slots.release()
            raise


def _idle_seconds(headers: Mapping[str, str]) -> float:
    """Return how long a connection may be idle: our limit, or less if the server announces less."""
    announced = headers.get("keep-alive")
    if announced is None:
        return _IDLE_TIMEOUT_SECONDS
    timeout = _KEEP_ALIVE_TIMEOUT.search(announced)
    if timeout is None:
        return _IDLE_TIMEOUT_SECONDS
    return min(_IDLE_TIMEOUT_SECONDS, int(timeout[1]) - _KEEP_ALIVE_MARGIN_SECONDS)
