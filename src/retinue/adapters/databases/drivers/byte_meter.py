"""A limit on what a PostgreSQL server may send: asyncpg buffers messages of any length."""

import asyncio
import ssl
from collections.abc import Callable
from typing import Any


class ByteMeter:
    """Counts the bytes received on one connection and aborts it beyond the limit."""

    def __init__(self, max_bytes: int) -> None:
        self._bytes_left = max_bytes

    @property
    def is_exceeded(self) -> bool:
        return self._bytes_left < 0

    def loop(self) -> Any:
        """Return the running event loop, wrapped so that the driver's traffic is counted."""
        return _MeteredLoop(asyncio.get_running_loop(), self)

    def admit(self, data: bytes, transport: asyncio.Transport) -> bool:
        self._bytes_left -= len(data)
        if self.is_exceeded:
            transport.abort()
        return not self.is_exceeded


class _MeteredProtocol(asyncio.Protocol):
    def __init__(self, protocol: asyncio.Protocol, meter: ByteMeter) -> None:
        self.protocol = protocol
        self._meter = meter
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self.protocol.connection_made(transport)

    def attached_to(self, transport: asyncio.Transport) -> "_MeteredProtocol":
        self._transport = transport
        return self

    def data_received(self, data: bytes) -> None:
        if self._meter.admit(data, self._transport):
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
    """A transport that also meters its next protocol: asyncpg replaces it after the TLS handshake."""

    def __init__(self, transport: asyncio.Transport, meter: ByteMeter) -> None:
        self._transport = transport
        self._meter = meter

    def set_protocol(self, protocol: asyncio.Protocol) -> None:
        self._transport.set_protocol(_MeteredProtocol(protocol, self._meter).attached_to(self._transport))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class _MeteredLoop:
    def __init__(self, loop: asyncio.AbstractEventLoop, meter: ByteMeter) -> None:
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
        assert encrypted is not None
        return _MeteredTransport(encrypted, self._meter)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)
