"""The shared state of a server's connections: limits, counts per client, and the periodic sweep."""

import ipaddress
from collections import Counter
from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol, cast

import msgspec
from uvicorn.server import ServerState

from retinue.kit.clock import Clock
from retinue.kit.errors import RetinueError
from retinue.kit.http.request import limit_address
from retinue.kit.ids import new_id


@dataclass(frozen=True, kw_only=True)
class ConnectionLimits:
    """Limits of time and size for a connection; times are precise to one sweep."""

    head_bytes: int = 64 * 1024
    headers: int = 100
    head_s: float = 10.0
    body_window_s: float = 10.0
    body_bytes_per_s: int = 1024
    idle_s: float = 15.0
    write_s: float = 30.0
    """How long a peer may read nothing of its pending data."""
    linger_s: float = 5.0
    """How long to keep reading and discarding data after the final response."""
    pipelined: int = 16
    connections_per_peer: int = 50
    uncounted_peers: tuple[str, ...] = ()
    """Addresses or networks without a connection limit, such as trusted proxies."""
    sweep_s: float = 0.5


class BadRequest(RetinueError):
    """The request is not valid HTTP."""

    status, code = 400, "bad_request"


class HeadersTooLarge(RetinueError):
    """The request line and headers are too large."""

    status, code = 431, "headers_too_large"


class Swept(Protocol):
    def is_overdue(self, now: float) -> bool: ...

    def abort(self) -> None: ...

    def drain(self, *, may_close_idle: bool) -> None: ...


class Connections(ServerState):
    """All connections of a server; one periodic sweep replaces a timer for each."""

    def __init__(self, limits: ConnectionLimits, clock: Clock) -> None:
        super().__init__()
        self.limits = limits
        self._clock = clock
        self._per_peer: Counter[str] = Counter()
        self._uncounted = tuple(ipaddress.ip_network(peer, strict=False) for peer in limits.uncounted_peers)

    def peer(self, client: tuple[str, int] | None) -> str | None:
        """Return the address to count a connection for (IPv4 address or IPv6 /64); None if uncounted."""
        if client is None:
            return None
        address = ipaddress.ip_address(client[0].partition("%")[0])
        if any(address in network for network in self._uncounted):
            return None
        return limit_address(client[0])

    def join(self, peer: str) -> bool:
        self._per_peer[peer] += 1
        return self._per_peer[peer] <= self.limits.connections_per_peer

    def leave(self, peer: str) -> None:
        self._per_peer[peer] -= 1
        if not self._per_peer[peer]:
            del self._per_peer[peer]

    def drain(self, *, may_close_idle: bool) -> None:
        for connection in cast("list[Swept]", list(self.connections)):
            connection.drain(may_close_idle=may_close_idle)

    def sweep(self) -> None:
        now = self._clock.monotonic()
        for connection in cast("list[Swept]", list(self.connections)):
            if connection.is_overdue(now):
                connection.abort()


def raw_error_response(error: RetinueError) -> bytes:
    """Return a complete response for a request that never reached the application."""
    body = msgspec.json.encode({"error": {"code": error.code, "message": error.message}})
    head = (
        f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
        f"x-request-id: {new_id('req')}\r\nx-content-type-options: nosniff\r\n"
        "cache-control: no-store\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body
