"""The one way out of the server for HTTP, and the one source of addresses for other protocols."""

import re
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Self
from urllib.parse import urljoin

from retinue.kit.egress.connection import Connection
from retinue.kit.egress.decoding import ACCEPTED
from retinue.kit.egress.destination import Destination, parse_destination, refuse_odd_characters
from retinue.kit.egress.errors import EgressFailed, EgressRefused
from retinue.kit.egress.headers import check_headers, without_credentials
from retinue.kit.egress.hosts import parse_host
from retinue.kit.egress.policy import AllowList
from retinue.kit.egress.pool import NotConnected, Place, Pool
from retinue.kit.egress.resolver import PinnedAddress, Resolver, SystemResolver, pin_host
from retinue.kit.egress.response import Deadline, Response

MAX_REDIRECTS = 3
MEBIBYTE = 1024 * 1024

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# What may be asked again when a kept connection turns out to be dead; a POST may have been heard.
_REPEATABLE = _METHODS - {"POST", "PATCH"}
_SENDS_CONTENT = frozenset({"POST", "PUT", "PATCH"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:", re.ASCII | re.IGNORECASE)
_ADDRESSES_TRIED = 3


@dataclass(frozen=True, slots=True)
class _Call:
    method: str
    destination: Destination
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None = field(repr=False)


class Egress:
    """Outgoing calls under one policy; kept for the life of the process, so that connections are reused."""

    def __init__(
        self,
        allow: Sequence[str] = (),
        *,
        resolver: Resolver | None = None,
        ssl_context: ssl.SSLContext | None = None,
        max_connections: int = 2000,
        user_agent: str = "Retinue",
    ) -> None:
        """`allow` is the operator's list (`Settings.egress_allowed()`)."""
        self._allow = AllowList(allow)
        self._resolver = resolver or SystemResolver()
        self._user_agent = user_agent
        self._pool = Pool(ssl_context, max_connections)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._pool.close()

    def check(self, url: str, *, require_https: bool = False) -> Destination:
        """The check for storing a URL: by its text alone, nothing is resolved."""
        return parse_destination(url, self._allow, require_https=require_https)

    async def pin(self, host: str, port: int, *, timeout_s: float = 5) -> PinnedAddress:
        """The checked addresses for a database, SSH or SMTP driver; brackets around IPv6 are optional."""
        written = f"[{host}]" if ":" in host and not host.startswith("[") else host
        return await pin_host(
            parse_host(written), port, allow=self._allow, resolver=self._resolver, timeout_s=timeout_s
        )

    @asynccontextmanager
    async def request(
        self,
        method: str,
        url: str,
        *,
        timeout_s: float,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        connect_timeout_s: float = 5,
        answer_timeout_s: float | None = None,
        stall_timeout_s: float = 30,
        max_bytes: int = MEBIBYTE,
        require_https: bool = False,
        follow_redirects: int = 0,
    ) -> AsyncIterator[Response]:
        """Send a request; `timeout_s` bounds it from here to the last byte of the body.

        `answer_timeout_s` bounds it to the head of its answer.
        """
        if not 0 <= follow_redirects <= MAX_REDIRECTS:
            raise ValueError(f"at most {MAX_REDIRECTS} redirects are followed")
        if method not in _METHODS:
            raise EgressRefused("method", "This method is not used for outgoing calls.")
        check_headers(headers or {})
        deadline = Deadline(timeout_s)
        call = _Call(method, self.check(url, require_https=require_https), headers or {}, content)
        answering = Deadline(min(timeout_s, answer_timeout_s or timeout_s))
        place, raw = await self._send(call, answering, connect_timeout_s)
        try:
            hops = 0
            while follow_redirects and (location := _location(raw)):
                hops += 1
                if hops > follow_redirects:
                    raise EgressFailed("The destination redirects too often.")
                call = self._redirected(call, raw.status, location, require_https=require_https)
                raw.close()
                self._pool.give_back(place, raw)
                place, raw = await self._send(call, answering, connect_timeout_s)
            yield Response(
                raw,
                call.destination,
                deadline=deadline,
                stall_timeout_s=stall_timeout_s,
                max_bytes=max_bytes,
            )
        finally:
            self._pool.give_back(place, raw)

    def _redirected(self, call: _Call, status: int, location: str, *, require_https: bool) -> _Call:
        """The next call of a redirect, checked like a first one."""
        refuse_odd_characters(location)
        if not _ABSOLUTE.match(location):
            location = urljoin(f"{call.destination.origin}{call.destination.path_and_query}", location)
        target = self.check(location, require_https=require_https)
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

    async def _send(
        self, call: _Call, answering: Deadline, connect_timeout_s: float
    ) -> tuple[Place, Connection]:
        """Send the call, and wait until its answer begins."""
        connecting = Deadline(min(connect_timeout_s, answering.remaining()))
        places = await self._places(call.destination, connecting)
        head = self._head(call)
        is_new = False
        while True:
            place, connection = await self._connected(places, connecting, is_new=is_new)
            connection.send(head, call.content or b"", has_no_body=call.method == "HEAD")
            try:
                await connection.answer(answering.at)
            except BaseException as error:
                connection.close()
                self._pool.give_back(place, connection)
                is_dead = connection.was_kept and not connection.has_received
                if not (isinstance(error, EgressFailed) and is_dead and call.method in _REPEATABLE):
                    raise
                is_new = True
            else:
                return place, connection

    async def _places(self, destination: Destination, connecting: Deadline) -> list[Place]:
        pinned = await pin_host(
            destination.parsed_host,
            destination.port,
            allow=self._allow,
            resolver=self._resolver,
            timeout_s=connecting.remaining(),
        )
        is_tls = destination.scheme == "https"
        addresses = pinned.addresses[:_ADDRESSES_TRIED]
        return [Place(is_tls, destination.host, address, destination.port) for address in addresses]

    async def _connected(
        self, places: list[Place], connecting: Deadline, *, is_new: bool
    ) -> tuple[Place, Connection]:
        """Try the first few checked addresses in turn until one takes the connection."""
        left = len(places)
        for place in places:
            share_s = max(connecting.remaining(), 0.001) / left
            left -= 1
            try:
                return place, await self._pool.take(place, share_s, is_new=is_new)
            except NotConnected as failed:
                if not left:
                    raise failed.error from None
        raise AssertionError("a host has an address")

    def _head(self, call: _Call) -> bytes:
        destination = call.destination
        given = {name.lower() for name in call.headers}
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
