"""Connections kept between calls, so that a warm call is one round trip."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from retinue.adapters.mcp.connection import Connection
from retinue.adapters.mcp.errors import ConnectionStale
from retinue.adapters.mcp.handshake import agree_on_version
from retinue.adapters.mcp.messages import McpServer
from retinue.kit.clock import Clock
from retinue.kit.egress import Egress

_IDLE_S = 600.0
_HANDSHAKE_S = 30.0


class _Kept:
    """A connection, whether open or being opened, and how many calls use it now."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.opening = asyncio.create_task(self._open())
        self.users = 0
        self.used_at = 0.0

    async def _open(self) -> None:
        async with asyncio.timeout(_HANDSHAKE_S):
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
    def __init__(self, egress: Egress, clock: Clock, *, max_bytes: int, most_connections: int) -> None:
        self._egress = egress
        self._clock = clock
        self._max_bytes = max_bytes
        self._most_connections = most_connections
        self._kept: dict[bytes, _Kept] = {}
        self._closing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def lease(self, server: McpServer) -> AsyncIterator[Connection]:
        """An open connection; callers of the same server share it, its opening and what fails of it."""
        key = _fingerprint(server)
        kept = self._kept.pop(key, None) or self._begin(key, server)
        # Last in the order is the one used last.
        self._kept[key] = kept
        kept.users += 1
        self._retire_idle()
        try:
            await asyncio.shield(kept.opening)
            yield kept.connection
        except ConnectionStale:
            self._forget(key, kept)
            raise
        finally:
            kept.users -= 1
            kept.used_at = self._clock.monotonic()
            if kept.users == 0 and not kept.opening.done():
                self._forget(key, kept)
                kept.opening.cancel()

    async def close(self) -> None:
        for kept in self._kept.values():
            self._close_in_background(kept)
        self._kept.clear()
        if self._closing:
            await asyncio.wait(self._closing)

    def _begin(self, key: bytes, server: McpServer) -> _Kept:
        kept = _Kept(Connection(self._egress, server, self._max_bytes))
        kept.opening.add_done_callback(lambda _: self._forget(key, kept) if kept.is_broken else None)
        return kept

    def _forget(self, key: bytes, kept: _Kept) -> None:
        if self._kept.get(key) is kept:
            del self._kept[key]

    def _retire_idle(self) -> None:
        expired_before = self._clock.monotonic() - _IDLE_S
        surplus = len(self._kept) - self._most_connections
        for key, kept in list(self._kept.items()):
            is_expired = kept.used_at < expired_before
            if surplus <= 0 and not is_expired:
                break
            if kept.users == 0:
                del self._kept[key]
                surplus -= 1
                self._close_in_background(kept)

    def _close_in_background(self, kept: _Kept) -> None:
        task = asyncio.create_task(kept.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


def _fingerprint(server: McpServer) -> bytes:
    parts: list[Any] = [server.scope, server.url, sorted(server.headers.items())]
    return hashlib.sha256(msgspec.json.encode(parts)).digest()
