"""A pool of connections, so that a warm call takes one round trip."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from retinue.adapters.mcp.connection import McpConnection
from retinue.adapters.mcp.errors import ConnectionStale
from retinue.adapters.mcp.handshake import agree_on_version
from retinue.adapters.mcp.messages import McpServer
from retinue.kit.clock import Clock
from retinue.kit.egress import Egress

_IDLE_TIMEOUT_SECONDS = 600.0
_HANDSHAKE_TIMEOUT_SECONDS = 30.0


class _PooledConnection:
    """A connection that is open or opening, and the number of calls that use it."""

    def __init__(self, connection: McpConnection) -> None:
        self.connection = connection
        self.opening = asyncio.create_task(self._open())
        self.users = 0
        self.used_at = 0.0

    async def _open(self) -> None:
        async with asyncio.timeout(_HANDSHAKE_TIMEOUT_SECONDS):
            await agree_on_version(self.connection)

    @property
    def is_broken(self) -> bool:
        return self.opening.done() and (self.opening.cancelled() or self.opening.exception() is not None)

    async def close(self) -> None:
        if not self.opening.done():
            self.opening.cancel()
        await asyncio.wait([self.opening])
        if not self.is_broken:
            await self.connection.close()


class ConnectionPool:
    def __init__(self, egress: Egress, clock: Clock, *, max_bytes: int, max_pooled_connections: int) -> None:
        self._egress = egress
        self._clock = clock
        self._max_bytes = max_bytes
        self._max_connections = max_pooled_connections
        self._pooled: dict[bytes, _PooledConnection] = {}
        self._closing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def lease(self, server: McpServer) -> AsyncIterator[McpConnection]:
        """Yield an open connection; concurrent callers of a server share it and its failures to open."""
        key = _fingerprint(server)
        pooled = self._pooled.pop(key, None) or self._start_opening(key, server)
        # The order is by last use, the most recent last.
        self._pooled[key] = pooled
        pooled.users += 1
        self._retire_idle()
        try:
            await asyncio.shield(pooled.opening)
            yield pooled.connection
        except ConnectionStale:
            self._forget(key, pooled)
            raise
        finally:
            pooled.users -= 1
            pooled.used_at = self._clock.monotonic()
            if pooled.users == 0 and not pooled.opening.done():
                self._forget(key, pooled)
                pooled.opening.cancel()

    async def close(self) -> None:
        for pooled in self._pooled.values():
            self._close_in_background(pooled)
        self._pooled.clear()
        if self._closing:
            await asyncio.wait(self._closing)

    def _start_opening(self, key: bytes, server: McpServer) -> _PooledConnection:
        pooled = _PooledConnection(McpConnection(self._egress, server, self._max_bytes))
        pooled.opening.add_done_callback(lambda _: self._forget(key, pooled) if pooled.is_broken else None)
        return pooled

    def _forget(self, key: bytes, pooled: _PooledConnection) -> None:
        if self._pooled.get(key) is pooled:
            del self._pooled[key]

    def _retire_idle(self) -> None:
        expired_before = self._clock.monotonic() - _IDLE_TIMEOUT_SECONDS
        surplus = len(self._pooled) - self._max_connections
        for key, pooled in list(self._pooled.items()):
            is_expired = pooled.used_at < expired_before
            if surplus <= 0 and not is_expired:
                break
            if pooled.users == 0:
                del self._pooled[key]
                surplus -= 1
                self._close_in_background(pooled)

    def _close_in_background(self, pooled: _PooledConnection) -> None:
        task = asyncio.create_task(pooled.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


def _fingerprint(server: McpServer) -> bytes:
    parts: list[Any] = [server.scope, server.url, sorted(server.headers.items())]
    return hashlib.sha256(msgspec.json.encode(parts)).digest()
