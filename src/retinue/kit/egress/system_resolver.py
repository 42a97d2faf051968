"""The operating system's resolver, with a short cache, in threads that no tenant can use up (ADR 25)."""

import asyncio
import contextlib
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from retinue.kit.egress.resolver import Resolver
from retinue.kit.logging import current_tenant_id

MAX_LOOKUPS = 32
MAX_LOOKUPS_PER_TENANT = 4
# In addition, for names that were resolved before: a tenant's tools with names that hang must not delay its
# calls to the model provider.
RESERVED_LOOKUPS_PER_TENANT = 2
# getaddrinfo does not tell how long an answer is valid.
_VALID_SECONDS = 10.0
_FAILURE_VALID_SECONDS = 1.0
_MAX_CACHED_NAMES = 1024

Addresses = tuple[str, ...]


def look_up(host: str) -> Addresses:
    """Return the addresses of a name by the system's own rules (hosts file, search domains); may block."""
    # Bytes, because a text would be encoded as an international name.
    results = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in results))


class _CachedAnswer(NamedTuple):
    addresses: Addresses
    valid_until: float


class _Lookup:
    """A look-up that is queued or running, with the tenants of the calls that wait for it."""

    __slots__ = ("answer", "host", "tenant_ids")

    def __init__(self, host: str) -> None:
        self.host = host
        self.answer: asyncio.Future[Addresses] = asyncio.get_running_loop().create_future()
        self.tenant_ids: list[str] = []


class SystemResolver(Resolver):
    """Looks each name up once at a time; a name that cannot be resolved has no addresses.

    A blocking look-up cannot be cancelled and may take half a minute if a name server is dead. Each one
    therefore has a thread of its own, and the number of threads is limited, per tenant and in all.
    """

    def __init__(
        self,
        look_up: Callable[[str], Addresses] = look_up,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look_up = look_up
        self._monotonic = monotonic
        self._cache: dict[str, _CachedAnswer] = {}
        self._queued: dict[str, _Lookup] = {}
        self._running: dict[str, _Lookup] = {}
        self._running_by_tenant: Counter[str] = Counter()

    async def resolve(self, host: str) -> Sequence[str]:
        cached = self._cache.get(host)
        if cached is not None and cached.valid_until > self._monotonic():
            return cached.addresses
        lookup = self._running.get(host) or self._queued.setdefault(host, _Lookup(host))
        tenant_id = current_tenant_id()
        lookup.tenant_ids.append(tenant_id)
        try:
            self._start_queued()
            # Others may wait for the same answer.
            return await asyncio.shield(lookup.answer)
        finally:
            lookup.tenant_ids.remove(tenant_id)
            if not lookup.tenant_ids and self._queued.get(host) is lookup:
                del self._queued[host]

    def forget(self, host: str) -> None:
        self._cache.pop(host, None)

    def _start_queued(self) -> None:
        """Start queued look-ups while there are threads left, those of the least busy tenants first."""
        while len(self._running) < MAX_LOOKUPS:
            startable = [
                (self._running_by_tenant[tenant_id], tenant_id, lookup)
                for lookup in self._queued.values()
                for tenant_id in lookup.tenant_ids
                if self._running_by_tenant[tenant_id] < self._max_running(lookup.host)
            ]
            if not startable:
                return
            _, tenant_id, lookup = min(startable, key=lambda candidate: candidate[0])
            try:
                self._start(lookup, tenant_id)
            except RuntimeError:
                # There may be no more threads; the look-up waits for the next chance, or its deadline.
                return

    def _max_running(self, host: str) -> int:
        """Return how many look-ups a tenant may have running for one of this name to start."""
        cached = self._cache.get(host)
        is_known = cached is not None and bool(cached.addresses)
        return MAX_LOOKUPS_PER_TENANT + (RESERVED_LOOKUPS_PER_TENANT if is_known else 0)

    def _start(self, lookup: _Lookup, tenant_id: str) -> None:
        loop = asyncio.get_running_loop()

        def run() -> None:
            addresses: Addresses = ()
            try:
                with contextlib.suppress(OSError):
                    addresses = self._look_up(lookup.host)
            finally:
                # The event loop may have been closed meanwhile.
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(self._finish, lookup, tenant_id, addresses)

        # A daemon, because a look-up that hangs must not delay the end of the process.
        threading.Thread(target=run, name=f"look-up {lookup.host}", daemon=True).start()
        del self._queued[lookup.host]
        self._running[lookup.host] = lookup
        self._running_by_tenant[tenant_id] += 1

    def _finish(self, lookup: _Lookup, tenant_id: str, addresses: Addresses) -> None:
        del self._running[lookup.host]
        self._running_by_tenant[tenant_id] -= 1
        if not self._running_by_tenant[tenant_id]:
            del self._running_by_tenant[tenant_id]
        self._remember(lookup.host, addresses)
        lookup.answer.set_result(addresses)
        self._start_queued()

    def _remember(self, host: str, addresses: Addresses) -> None:
        # Removed first, so that the oldest answer is always the first of the cache.
        self._cache.pop(host, None)
        if len(self._cache) >= _MAX_CACHED_NAMES:
            del self._cache[next(iter(self._cache))]
        valid_s = _VALID_SECONDS if addresses else _FAILURE_VALID_SECONDS
        self._cache[host] = _CachedAnswer(addresses, self._monotonic() + valid_s)
