"""The one way out of the server for HTTP, and the one source of addresses for other protocols."""

import io
import re
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self
from urllib.parse import urljoin

from retinue.kit.egress.decoding import ACCEPTED
from retinue.kit.egress.destination import Destination, parse_destination, refuse_odd_characters
from retinue.kit.egress.errors import EgressFailed, EgressRefused, ResponseTooLarge
from retinue.kit.egress.headers import check_headers, without_credentials
from retinue.kit.egress.hosts import parse_host
from retinue.kit.egress.policy import AllowList
from retinue.kit.egress.resolver import PinnedAddress, Resolver, SystemResolver, pin_host
from retinue.kit.egress.response import MAX_HEADER_BYTES, Deadline, Response, as_egress_error

if TYPE_CHECKING:
    import aiohttp

MAX_REDIRECTS = 3
MEBIBYTE = 1024 * 1024

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:", re.ASCII | re.IGNORECASE)
_ADDRESSES_TRIED = 3


@dataclass(frozen=True)
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
        max_connections: int = 500,
        user_agent: str = "Retinue",
    ) -> None:
        """`allow` is the operator's list (`Settings.egress_allowed()`)."""
        self._allow = AllowList(allow)
        self._resolver = resolver or SystemResolver()
        self._ssl_context = ssl_context
        self._max_connections = max_connections
        self._user_agent = user_agent
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

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
        stall_timeout_s: float = 30,
        max_bytes: int = MEBIBYTE,
        require_https: bool = False,
        follow_redirects: int = 0,
    ) -> AsyncIterator[Response]:
        """Send a request; `timeout_s` bounds it from here to the last byte of the body."""
        if not 0 <= follow_redirects <= MAX_REDIRECTS:
            raise ValueError(f"at most {MAX_REDIRECTS} redirects are followed")
        if method not in _METHODS:
            raise EgressRefused("method", "This method is not used for outgoing calls.")
        check_headers(headers or {})
        deadline = Deadline(timeout_s)
        call = _Call(method, self.check(url, require_https=require_https), headers or {}, content)
        raw = await self._send(call, deadline, connect_timeout_s)
        try:
            hops = 0
            while follow_redirects and (location := _location(raw)):
                hops += 1
                if hops > follow_redirects:
                    raise EgressFailed("The destination redirects too often.")
                raw.close()
                call = self._redirected(call, raw.status, location, require_https=require_https)
                raw = await self._send(call, deadline, connect_timeout_s)
            yield Response(
                raw,
                call.destination,
                deadline=deadline,
                stall_timeout_s=stall_timeout_s,
                max_bytes=max_bytes,
            )
        finally:
            # Closes the connection unless the body was read to its end; then it is already kept for reuse.
            raw.close()

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
        self, call: _Call, deadline: Deadline, connect_timeout_s: float
    ) -> "aiohttp.ClientResponse":
        """Try the first few checked addresses in turn until one takes the connection."""
        import aiohttp

        destination = call.destination
        connecting = Deadline(min(connect_timeout_s, deadline.remaining()))
        pinned = await pin_host(
            destination.parsed_host,
            destination.port,
            allow=self._allow,
            resolver=self._resolver,
            timeout_s=connecting.remaining(),
        )
        candidates = list(pinned.addresses[:_ADDRESSES_TRIED])
        while True:
            share = max(connecting.remaining(), 0.001) / len(candidates)
            try:
                async with deadline.limit():
                    raw = await self._send_to(candidates.pop(0), call, share)
                break
            except (aiohttp.ClientError, OSError) as error:
                if not candidates or not _never_connected(error):
                    raise as_egress_error(error) from None
        if sum(len(name) + len(value) + 4 for name, value in raw.raw_headers) > MAX_HEADER_BYTES:
            raw.close()
            raise ResponseTooLarge("The header of the destination's answer is larger than allowed.")
        return raw

    async def _send_to(self, address: str, call: _Call, connect_timeout_s: float) -> "aiohttp.ClientResponse":
        import aiohttp
        from yarl import URL

        destination = call.destination
        path, _, query = destination.path_and_query.partition("?")
        return await self._opened_session().request(
            call.method,
            URL.build(
                scheme=destination.scheme,
                host=address,
                port=destination.port,
                path=path,
                query_string=query,
                encoded=True,
            ),
            headers={
                **_agent(self._user_agent, call.headers),
                **call.headers,
                "Host": destination.authority,
                "Accept-Encoding": ACCEPTED,
            },
            skip_auto_headers=("Content-Type",),
            data=None if call.content is None else io.BytesIO(call.content),
            allow_redirects=False,
            # Part of the pool's key, for plain http too: a kept connection serves one name at one address.
            server_hostname=destination.host,
            timeout=aiohttp.ClientTimeout(total=None, connect=connect_timeout_s),
        )

    def _opened_session(self) -> "aiohttp.ClientSession":
        if self._session is None:
            from retinue.kit.egress.connector import open_session

            self._session = open_session(self._ssl_context, self._max_connections)
        return self._session


def _agent(ours: str, headers: Mapping[str, str]) -> dict[str, str]:
    """Who we are, unless the caller says who he is."""
    return {} if any(name.lower() == "user-agent" for name in headers) else {"User-Agent": ours}


def _location(raw: "aiohttp.ClientResponse") -> str | None:
    return raw.headers.get("Location") if raw.status in _REDIRECTS else None


def _never_connected(error: Exception) -> bool:
    """Whether nothing was sent yet, so that another address of the same host may be tried."""
    import aiohttp

    unusable = aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError
    reached = isinstance(error, unusable)
    return not reached and isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)
