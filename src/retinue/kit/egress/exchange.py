"""One outgoing call: sent to a checked address, redirected as far as it may be, answered by a response."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from urllib.parse import urljoin

from retinue.kit.egress.connection import Connection
from retinue.kit.egress.decoding import ACCEPTED
from retinue.kit.egress.destination import Destination, refuse_odd_characters
from retinue.kit.egress.errors import EgressFailed, EgressRefused
from retinue.kit.egress.headers import without_credentials
from retinue.kit.egress.hosts import Host
from retinue.kit.egress.pool import NotConnected, Place, Pool
from retinue.kit.egress.resolver import PinnedAddress
from retinue.kit.egress.response import Response

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# What may be asked again when a kept connection turns out to be dead; a POST may have been heard.
_REPEATABLE = METHODS - {"POST", "PATCH"}
_SENDS_CONTENT = frozenset({"POST", "PUT", "PATCH"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:", re.ASCII | re.IGNORECASE)
_ADDRESSES_TRIED = 3

Pin = Callable[[Host, int, float], Awaitable[PinnedAddress]]


@dataclass(frozen=True, slots=True)
class Call:
    method: str
    destination: Destination
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None = field(repr=False)


class Bounds(NamedTuple):
    """How long the parts of a call may take, and how much may come of it."""

    total_s: float
    connect_s: float
    answer_s: float
    stall_s: float
    max_bytes: int
    redirects: int


class Exchange:
    """`async with` sends the call and gives its answer; at the end the connection goes back to the pool."""

    __slots__ = (
        "_bounds",
        "_call",
        "_check",
        "_connection",
        "_loop",
        "_pin",
        "_place",
        "_pool",
        "_user_agent",
    )

    def __init__(
        self,
        call: Call,
        bounds: Bounds,
        pool: Pool,
        pin: Pin,
        check: Callable[[str], Destination],
        user_agent: str,
    ) -> None:
        """`pin` resolves and checks a host; `check` checks where a redirect leads."""
        self._call = call
        self._bounds = bounds
        self._pool = pool
        self._pin = pin
        self._check = check
        self._user_agent = user_agent
        self._loop = asyncio.get_running_loop()
        self._place: Place
        self._connection: Connection

    async def __aenter__(self) -> Response:
        now = self._loop.time()
        answer_by = now + self._bounds.answer_s
        await self._send(answer_by)
        try:
            if self._bounds.redirects:
                await self._follow(answer_by)
            return Response(
                self._connection,
                self._call.destination,
                ends_at=now + self._bounds.total_s,
                stall_timeout_s=self._bounds.stall_s,
                max_bytes=self._bounds.max_bytes,
            )
        except BaseException:
            self._give_back()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._give_back()

    def _give_back(self) -> None:
        self._pool.give_back(self._place, self._connection)

    async def _follow(self, answer_by: float) -> None:
        left = self._bounds.redirects
        while location := _location(self._connection):
            if not left:
                raise EgressFailed("The destination redirects too often.")
            left -= 1
            self._call = self._redirected(self._connection.status, location)
            self._connection.close()
            self._give_back()
            await self._send(answer_by)

    def _redirected(self, status: int, location: str) -> Call:
        """The next call of a redirect, checked like a first one."""
        call = self._call
        refuse_odd_characters(location)
        if not _ABSOLUTE.match(location):
            location = urljoin(f"{call.destination.origin}{call.destination.path_and_query}", location)
        target = self._check(location)
        if call.destination.scheme == "https" and target.scheme != "https":
            raise EgressRefused("redirect", "The destination redirects from https to http.")
        moved = replace(call, destination=target)
        if target.origin != call.destination.origin:
            moved = replace(moved, headers=without_credentials(call.headers))
        if status == 303 or (status in {301, 302} and call.method == "POST"):
            kept = {name: value for name, value in moved.headers.items() if name.lower() != "content-type"}
            moved = replace(
                moved, method="HEAD" if call.method == "HEAD" else "GET", headers=kept, content=None
            )
        return moved

    async def _send(self, answer_by: float) -> None:
        """Send the call, and wait until its answer begins."""
        call = self._call
        connect_by = min(self._loop.time() + self._bounds.connect_s, answer_by)
        places = await self._places(connect_by)
        head = self._head()
        is_new = False
        while True:
            self._place, connection = await self._connected(places, connect_by, is_new=is_new)
            self._connection = connection
            connection.send(head, call.content or b"", has_no_body=call.method == "HEAD")
            try:
                await connection.answer(answer_by)
            except BaseException as error:
                connection.close()
                self._give_back()
                is_dead = connection.was_kept and not connection.has_received
                if not (isinstance(error, EgressFailed) and is_dead and call.method in _REPEATABLE):
                    raise
                is_new = True
            else:
                return

    async def _places(self, connect_by: float) -> list[Place]:
        destination = self._call.destination
        left_s = connect_by - self._loop.time()
        pinned = await self._pin(destination.parsed_host, destination.port, left_s)
        is_tls = destination.scheme == "https"
        addresses = pinned.addresses[:_ADDRESSES_TRIED]
        return [Place(is_tls, destination.host, address, destination.port) for address in addresses]

    async def _connected(
        self, places: list[Place], connect_by: float, *, is_new: bool
    ) -> tuple[Place, Connection]:
        """Try the first few checked addresses in turn until one takes the connection."""
        left = len(places)
        for place in places:
            share_s = max(connect_by - self._loop.time(), 0.001) / left
            left -= 1
            try:
                return place, await self._pool.take(place, share_s, is_new=is_new)
            except NotConnected as failed:
                if not left:
                    raise failed.error from None
        raise AssertionError("a host has an address")

    def _head(self) -> bytes:
        call, destination = self._call, self._call.destination
        given = set(map(str.lower, call.headers))
        lines = [f"{call.method} {destination.path_and_query} HTTP/1.1", f"Host: {destination.authority}"]
        lines += [f"{name}: {value}" for name, value in call.headers.items()]
        lines.append(f"Accept-Encoding: {ACCEPTED}")
        if "accept" not in given:
            lines.append("Accept: */*")
        if "user-agent" not in given:
            lines.append(f"User-Agent: {self._user_agent}")
        if call.content is not None or call.method in _SENDS_CONTENT:
            lines.append(f"Content-Length: {len(call.content or b'')}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _location(raw: Connection) -> str | None:
    return raw.headers.get("Location") if raw.status in _REDIRECTS else None
