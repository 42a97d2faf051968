"""Connections to checked addresses, new or kept for the next call to the same name at the same address."""

import asyncio
import ipaddress
import ssl
from collections import deque
from typing import NamedTuple

from retinue.kit.egress.connection import Connection
from retinue.kit.egress.errors import EgressFailed, EgressRefused, EgressTimeout

_KEEP_S = 15.0
# Beyond those in use; whoever calls a thousand names must not leave a thousand sockets open.
_MOST_KEPT = 256


class Place(NamedTuple):
    """Where a connection leads: a kept one serves one name at one address."""

    is_tls: bool
    host: str
    address: str
    port: int


class NotConnected(Exception):
    """Nothing was sent yet, so that another address of the same host may be tried."""

    def __init__(self, error: EgressFailed | EgressTimeout) -> None:
        self.error = error


class _Room:
    """So many at once, the others in the order in which they came."""

    def __init__(self, size: int) -> None:
        self._free = size
        self._waiting: deque[asyncio.Future[None]] = deque()

    def take_if_free(self) -> bool:
        """Whoever waits comes first: as long as anyone does, nothing is free."""
        if not self._free:
            return False
        self._free -= 1
        return True

    async def take(self) -> None:
        if self.take_if_free():
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self.give_back()
            raise

    def give_back(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


class Pool:
    def __init__(self, ssl_context: ssl.SSLContext | None, max_connections: int) -> None:
        self._ssl_context = ssl_context
        self._room = _Room(max_connections)
        self._used: set[Connection] = set()
        self._kept: dict[Place, list[Connection]] = {}
        self._kept_count = 0
        self._sweeping: asyncio.TimerHandle | None = None

    async def take(self, place: Place, timeout_s: float, *, is_new: bool = False) -> Connection:
        """A connection to give back; a kept one unless it has to be new."""
        if not is_new and self._room.take_if_free():
            kept = self._find_kept(place)
            if kept is not None:
                self._used.add(kept)
                return kept
            self._room.give_back()
        try:
            async with asyncio.timeout(timeout_s):
                await self._room.take()
                connection = await self._connect_in_place(place)
        except TimeoutError:
            raise NotConnected(EgressTimeout()) from None
        self._used.add(connection)
        return connection

    def give_back(self, place: Place, connection: Connection) -> None:
        """Keeps the connection if the exchange came to its end, and hangs up if not; once is enough."""
        if connection not in self._used:
            return
        self._used.remove(connection)
        self._room.give_back()
        if not connection.is_reusable:
            connection.close()
            return
        loop = asyncio.get_running_loop()
        connection.was_kept, connection.kept_since = True, loop.time()
        if self._kept_count >= _MOST_KEPT:
            self._drop_oldest()
        self._kept.setdefault(place, []).append(connection)
        self._kept_count += 1
        if self._sweeping is None:
            self._sweeping = loop.call_later(_KEEP_S, self._sweep)

    async def close(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None
        for connection in (*self._used, *(one for kept in self._kept.values() for one in kept)):
            connection.close()
        self._kept.clear()
        self._kept_count = 0
        # The event loop tells a connection of its end in its next turn.
        await asyncio.sleep(0)

    def _find_kept(self, place: Place) -> Connection | None:
        kept = self._kept.get(place)
        oldest = asyncio.get_running_loop().time() - _KEEP_S
        while kept:
            connection = kept.pop()
            self._kept_count -= 1
            if not kept:
                del self._kept[place]
            if not connection.is_lost and connection.kept_since > oldest:
                return connection
            connection.close()
        return None

    def _drop_oldest(self) -> None:
        """Of the place that was used least lately."""
        place, kept = next(iter(self._kept.items()))
        kept.pop(0).close()
        self._kept_count -= 1
        if not kept:
            del self._kept[place]

    def _sweep(self) -> None:
        """Hang up what nobody needed for a while."""
        self._sweeping = None
        loop = asyncio.get_running_loop()
        oldest = loop.time() - _KEEP_S
        for place, kept in list(self._kept.items()):
            for connection in kept:
                if connection.kept_since <= oldest:
                    connection.close()
            kept[:] = [one for one in kept if not one.is_lost]
            if not kept:
                del self._kept[place]
        self._kept_count = sum(map(len, self._kept.values()))
        if self._kept:
            self._sweeping = loop.call_later(_KEEP_S, self._sweep)

    async def _connect_in_place(self, place: Place) -> Connection:
        try:
            return await self._connect(place)
        except BaseException:
            self._room.give_back()
            raise

    async def _connect(self, place: Place) -> Connection:
        """Connect to the address and nothing else, and look at who is at its other end."""
        try:
            _, connection = await asyncio.get_running_loop().create_connection(
                Connection,
                place.address,
                place.port,
                ssl=self._tls() if place.is_tls else None,
                server_hostname=place.host if place.is_tls else None,
            )
        except ssl.SSLCertVerificationError:
            raise EgressFailed("The destination's certificate is not valid for this host.") from None
        except ssl.SSLError:
            raise EgressFailed("No secure connection to the destination could be made.") from None
        except OSError:
            raise NotConnected(EgressFailed("The destination could not be reached.")) from None
        if not _is_same(connection.peer(), place):
            connection.close()
            raise EgressRefused("address", "The connection led to another address than the one checked.")
        return connection

    def _tls(self) -> ssl.SSLContext:
        if self._ssl_context is None:
            self._ssl_context = ssl.create_default_context()
            self._ssl_context.set_alpn_protocols(["http/1.1"])
        return self._ssl_context


def _is_same(peer: tuple[str, int], place: Place) -> bool:
    """The text decides where it is the same; the same IPv6 address can be written in several ways."""
    if peer == (place.address, place.port):
        return True
    return peer[1] == place.port and ipaddress.ip_address(peer[0]) == ipaddress.ip_address(place.address)
