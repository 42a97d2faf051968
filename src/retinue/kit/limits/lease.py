"""Leases: slots of which a limited number may be held at the same time."""

import asyncio
from typing import Protocol

LEASE_SECONDS = 10.0
"""With a shared store the slots of a killed process expire after this time; a live process renews them."""
RENEW_SECONDS = 3.0


class LeaseStore(Protocol):
    async def acquire(self, key: str, limit: int | None, lease_id: str, ttl: float) -> bool: ...

    async def release(self, key: str, lease_id: str) -> None: ...


class Lease:
    """A held slot; the caller must release it."""

    __slots__ = ("_key", "_lease_id", "_limit", "_renewal", "_renewals_left", "_store", "_timer")

    def __init__(
        self, store: LeaseStore, key: str, limit: int | None, lease_id: str, *, renew_for: float
    ) -> None:
        """Renew the lease for at most `renew_for` seconds, so that a leaked slot expires in the end."""
        self._store = store
        self._key = key
        self._limit = limit
        self._lease_id = lease_id
        self._renewals_left = int(renew_for / RENEW_SECONDS)
        self._renewal: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._schedule_renewal()

    async def __aenter__(self) -> None:
        pass

    async def __aexit__(self, *_: object) -> None:
        await self.release()

    async def release(self) -> None:
        self._renewals_left = 0
        if self._timer is not None:
            self._timer.cancel()
        if self._renewal is not None:
            # A renewal still in flight would acquire the slot again after its release.
            await asyncio.wait([self._renewal])
        await self._store.release(self._key, self._lease_id)

    def _schedule_renewal(self) -> None:
        if self._renewals_left > 0:
            self._timer = asyncio.get_running_loop().call_later(RENEW_SECONDS, self._start_renewal)

    def _start_renewal(self) -> None:
        self._renewals_left -= 1
        self._renewal = asyncio.get_running_loop().create_task(self._renew())

    async def _renew(self) -> None:
        await self._store.acquire(self._key, self._limit, self._lease_id, LEASE_SECONDS)
        self._schedule_renewal()
