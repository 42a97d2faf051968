"""The client for all outgoing HTTP calls, and the only source of addresses for other protocols."""

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from retinue.kit.egress.connector import EgressConnector
from retinue.kit.egress.destination import Destination, parse_destination
from retinue.kit.egress.errors import EgressRefused
from retinue.kit.egress.exchange import METHODS, CallLimits, EgressCall, EgressExchange
from retinue.kit.egress.headers import check_headers, with_traceparent
from retinue.kit.egress.hosts import parse_host
from retinue.kit.egress.policy import AllowList
from retinue.kit.egress.pool import EgressPool
from retinue.kit.egress.proxy import NO_PROXIES, Proxies
from retinue.kit.egress.resolver import PinnedAddress, Resolver
from retinue.kit.egress.system_resolver import SystemResolver
from retinue.kit.egress.tls import http_context
from retinue.kit.errors import Invalid
from retinue.kit.settings import Settings
from retinue.kit.transaction_retry import mark_side_effect

MAX_REDIRECTS = 3
# Web pages move more often than APIs.
MAX_PAGE_REDIRECTS = 5
MEBIBYTE = 1024 * 1024


class Egress:
    """Outgoing calls under one policy; lives as long as the process, so that connections are reused."""

    def __init__(
        self,
        allow: Sequence[str] = (),
        *,
        resolver: Resolver | None = None,
        ca_bundle: Path | None = None,
        proxies: Proxies = NO_PROXIES,
        max_connections: int = 2000,
        user_agent: str = "Retinue",
        traces_providers: bool = False,
    ) -> None:
        """Take the operator's exceptions as `allow` (`Settings.egress_allowed()`)."""
        self._allow = AllowList(allow)
        self._user_agent = user_agent
        self.traces_providers = traces_providers
        tls = functools.partial(http_context, ca_bundle)
        self._connector = EgressConnector(self._allow, resolver or SystemResolver(), tls, proxies)
        self._pool = EgressPool(self._connector, max_connections)
        # The same few URLs are called repeatedly, and the list of exceptions never changes.
        self._checked = functools.lru_cache(maxsize=256)(
            functools.partial(parse_destination, allow=self._allow)
        )

    @classmethod
    def from_settings(cls, settings: Settings, allow: Sequence[str] | None = None) -> Self:
        """Return a client as the operator configured it, if not told otherwise with the same exceptions."""
        return cls(
            settings.egress_allowed() if allow is None else allow,
            ca_bundle=settings.ca_bundle,
            proxies=Proxies.from_settings(settings),
            traces_providers=settings.trace_to_providers,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._pool.close()

    def check(self, url: str, *, require_https: bool = False) -> Destination:
        """Check a URL by its text alone, for storing it; nothing is resolved."""
        return self._checked(url, require_https=require_https)

    def check_field(self, url: str, field: str) -> None:
        """Check a URL that is to be stored: https, or a destination that the operator allows.

        Raise `Invalid` for the field. The address it resolves to is checked for each call.
        """
        try:
            self.check(url, require_https=True)
        except EgressRefused as refused:
            message = "must be https" if refused.reason == "https_required" else refused.message
            raise Invalid({field: message}) from None

    async def pin(self, host: str, port: int, *, timeout_s: float = 5) -> PinnedAddress:
        """Return checked addresses for a database, SSH or SMTP driver; brackets around IPv6 are optional."""
        mark_side_effect()
        bracketed = f"[{host}]" if ":" in host and not host.startswith("[") else host
        return await self._connector.pin(parse_host(bracketed), port, timeout_s)

    def request(
        self,
        method: str,
        url: str,
        *,
        timeout_s: float,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        content_encoding: str = "",
        connect_timeout_s: float = 5,
        answer_timeout_s: float | None = None,
        stall_timeout_s: float = 30,
        max_bytes: int = MEBIBYTE,
        require_https: bool = False,
        follow_redirects: int = 0,
    ) -> EgressExchange:
        """Prepare a request that `async with` sends.

        `timeout_s` limits the time to the last byte of the body, `answer_timeout_s` to the response headers.
        `content_encoding` says how `content` is compressed.
        """
        if not 0 <= follow_redirects <= MAX_PAGE_REDIRECTS:
            raise ValueError(f"at most {MAX_PAGE_REDIRECTS} redirects are followed")
        if method not in METHODS:
            raise EgressRefused("method", "The method is not allowed for outgoing calls.")
        check_headers(headers or {})
        mark_side_effect()
        sent_headers = with_traceparent(headers or {}, to_providers=self.traces_providers)
        if content_encoding:
            sent_headers = {**sent_headers, "Content-Encoding": content_encoding}
        call = EgressCall(method, self.check(url, require_https=require_https), sent_headers, content)
        limits = CallLimits(
            total_s=timeout_s,
            connect_s=connect_timeout_s,
            answer_s=min(timeout_s, answer_timeout_s or timeout_s),
            stall_s=stall_timeout_s,
            max_bytes=max_bytes,
            redirects=follow_redirects,
            require_https=require_https,
        )
        return EgressExchange(call, limits, self._pool, self._checked, self._user_agent)
