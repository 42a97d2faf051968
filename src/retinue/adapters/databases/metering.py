"""A bound on what a PostgreSQL server may send: asyncpg takes a message of any length into memory."""

import asyncio
import ssl
from collections.abc import Callable
from typing import Any


class Meter:
    """Counts the bytes of one connection and drops it when there are too many."""

    def __init__(self, most: int) -> None:
        self._left = most

    @property
    def is_exceeded(self) -> bool:
        return self._left < 0

    def loop(self) -> Any:
        """The running event loop, for a driver that is to be counted."""
        return _MeteredLoop(asyncio.get_running_loop(), self)

    def passes(self, data: bytes, transport: Any) -> bool:
        self._left -= len(data)
        if self.is_exceeded:
            transport.abort()
        return not self.is_exceeded


class _MeteredProtocol(asyncio.Protocol):
    def __init__(self, protocol: Any, meter: Meter) -> None:
        self.protocol = protocol
        self._meter = meter
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self.protocol.connection_made(transport)

    def attached_to(self, transport: Any) -> "_MeteredProtocol":
        self._transport = transport
        return self

    def data_received(self, data: bytes) -> None:
        if self._meter.passes(data, self._transport):
            self.protocol.data_received(data)

    def eof_received(self) -> bool | None:
        received: bool | None = self.protocol.eof_received()
        return received

    def connection_lost(self, exc: Exception | None) -> None:
        self.protocol.connection_lost(exc)

    def pause_writing(self) -> None:
        self.protocol.pause_writing()

    def resume_writing(self) -> None:
        self.protocol.resume_writing()


class _MeteredTransport:
    """A transport whose next protocol is counted too: asyncpg changes it after the TLS handshake."""

    def __init__(self, transport: Any, meter: Meter) -> None:
        self._transport = transport
        self._meter = meter

    def set_protocol(self, protocol: Any) -> None:
        self._transport.set_protocol(_MeteredProtocol(protocol, self._meter).attached_to(self._transport))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class _MeteredLoop:
    def __init__(self, loop: asyncio.AbstractEventLoop, meter: Meter) -> None:
        self._loop = loop
        self._meter = meter

    async def create_connection(self, factory: Callable[[], Any], *args: Any, **options: Any) -> Any:
        transport, metered = await self._loop.create_connection(
            lambda: _MeteredProtocol(factory(), self._meter), *args, **options
        )
        return transport, metered.protocol

    async def start_tls(
        self, transport: Any, protocol: Any, context: ssl.SSLContext, **options: Any
    ) -> _MeteredTransport:
        encrypted = await self._loop.start_tls(transport, protocol, context, **options)
        return _MeteredTransport(encrypted, self._meter)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)
