"""The one way out of the server for HTTP, and the one source of addresses for other protocols."""

import functools
import ssl
from collections.abc import Mapping, Sequence
from typing import Self

from retinue.kit.egress.destination import Destination, parse_destination
from retinue.kit.egress.errors import EgressRefused
from retinue.kit.egress.exchange import METHODS, Bounds, Call, Exchange
from retinue.kit.egress.headers import check_headers
from retinue.kit.egress.hosts import Host, parse_host
from retinue.kit.egress.policy import AllowList
from retinue.kit.egress.pool import Pool
from retinue.kit.egress.resolver import PinnedAddress, Resolver, SystemResolver, pin_host

MAX_REDIRECTS = 3
MEBIBYTE = 1024 * 1024


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
        # The same few URLs are called again and again, and the list of exceptions stays as it is.
        self._checked = functools.lru_cache(maxsize=256)(
            functools.partial(parse_destination, allow=self._allow)
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._pool.close()

    def check(self, url: str, *, require_https: bool = False) -> Destination:
        """The check for storing a URL: by its text alone, nothing is resolved."""
        return self._checked(url, require_https=require_https)

    async def pin(self, host: str, port: int, *, timeout_s: float = 5) -> PinnedAddress:
        """The checked addresses for a database, SSH or SMTP driver; brackets around IPv6 are optional."""
        written = f"[{host}]" if ":" in host and not host.startswith("[") else host
        return await self._pinned(parse_host(written), port, timeout_s)

    async def _pinned(self, host: Host, port: int, timeout_s: float) -> PinnedAddress:
        return await pin_host(host, port, allow=self._allow, resolver=self._resolver, timeout_s=timeout_s)

    def request(
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
    ) -> Exchange:
        """A request, sent where `async with` begins; `timeout_s` bounds it to the last byte of the body.

        `answer_timeout_s` bounds it to the head of its answer.
        """
        if not 0 <= follow_redirects <= MAX_REDIRECTS:
            raise ValueError(f"at most {MAX_REDIRECTS} redirects are followed")
        if method not in METHODS:
            raise EgressRefused("method", "This method is not used for outgoing calls.")
        check_headers(headers or {})
        call = Call(method, self.check(url, require_https=require_https), headers or {}, content)
        bounds = Bounds(
            total_s=timeout_s,
            connect_s=connect_timeout_s,
            answer_s=min(timeout_s, answer_timeout_s or timeout_s),
            stall_s=stall_timeout_s,
            max_bytes=max_bytes,
            redirects=follow_redirects,
        )
        check = functools.partial(self.check, require_https=require_https)
        return Exchange(call, bounds, self._pool, self._pinned, check, self._user_agent)
