"""The rate limiter: backed by Redis or by the supervisor if there is one, else by this process's memory."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

import structlog

from retinue.kit.ids import new_id
from retinue.kit.limits.decision import LimitsUnreachable, RateLimitDecision
from retinue.kit.limits.lease import LEASE_SECONDS, Lease
from retinue.kit.limits.memory import MemoryStore, WindowUsage
from retinue.kit.limits.plans import PlanLimits
from retinue.kit.limits.shared_store import SharedStore

log = structlog.get_logger("retinue.limits")

Result = TypeVar("Result")
Args = ParamSpec("Args")

MAX_REDIS_CALLS = 16
"""Concurrent Redis calls; more would only wait for this process's single thread."""
RECOVERY_PATIENCE_SECONDS = 2.0
"""Time for the call that ends an outage: no request waits for it, and it may have to ask sentinels."""


class Limiter:
    """Limits of all processes through a shared store, or of this process.

    While Redis or the supervisor does not answer, those of this process hold.
    """

    def __init__(
        self,
        local: MemoryStore,
        shared: SharedStore | None = None,
        *,
        burst: bool = True,
        patience: float = 0.1,
        retry_seconds: float = 3.0,
    ) -> None:
        self._local = local
        self._shared = shared
        self._burst = burst
        self._patience = patience
        self._retry_seconds = retry_seconds
        self._gate = asyncio.Semaphore(MAX_REDIS_CALLS)
        self._recovery: asyncio.Task[None] | None = None
        self._calls: set[asyncio.Task[Any]] = set()
        self._is_closed = False

    @property
    def is_without_redis(self) -> bool:
        """Whether Redis is configured and did not answer when it was last asked."""
        return self._recovery is not None

    async def hit(self, key: str, limits: PlanLimits, cost: int) -> RateLimitDecision:
        """Charge a request to its plan; a cost of 0 only reads and is never refused."""
        if self._shared:
            decision = await self._ask(self._shared.hit, key, limits, cost, burst=self._burst)
            if decision is not None:
                return decision
        return self._local.hit(key, limits, cost, burst=self._burst)

    async def hit_window(
        self, key: str, limit: int | None, window_seconds: int, cost: int = 1
    ) -> RateLimitDecision:
        """Charge a throttle with a single window."""
        if self._shared:
            decision = await self._ask(self._shared.hit_window, key, limit, window_seconds, cost)
            if decision is not None:
                return decision
        return self._local.hit_window(key, limit, window_seconds, cost)

    async def used(self, key: str) -> WindowUsage:
        """Return the usage of a key in each window of its plan."""
        if self._shared and (used := await self._ask(self._shared.used, key)) is not None:
            return used
        return self._local.used(key)

    async def hold(self, key: str, limit: int | None, max_seconds: float) -> Lease | None:
        """Hold one of `limit` slots for at most `max_seconds`; None if all are taken."""
        lease_id = new_id("lease")
        # A slot on this machine ends with its process, so it is held for the whole time and not renewed.
        must_renew = self._shared is not None and not self._shared.is_on_this_machine
        if not await self.acquire(key, limit, lease_id, LEASE_SECONDS if must_renew else max_seconds):
            return None
        return Lease(self, key, limit, lease_id, renew_for=max_seconds if must_renew else 0)

    async def acquire(self, key: str, limit: int | None, lease_id: str, ttl: float) -> bool:
        """Acquire one of `limit` slots for `ttl` seconds; acquiring the same lease again renews it."""
        if self._shared:
            admitted = await self._ask(self._shared.acquire, key, limit, lease_id, ttl)
            if admitted:
                # Also recorded locally, so that an outage starts with the slots this process holds.
                return self._local.acquire(key, None, lease_id, ttl)
            if admitted is not None:
                return False
        return self._local.acquire(key, limit, lease_id, ttl)

    async def release(self, key: str, lease_id: str) -> None:
        self._local.release(key, lease_id)
        if self._shared:
            await self._ask(self._shared.release, key, lease_id)

    async def close(self) -> None:
        """End every call; limits asked for afterwards, by work that still ends, are those of this process."""
        self._is_closed = True
        if self._recovery:
            self._recovery.cancel()
            await asyncio.gather(self._recovery, return_exceptions=True)
            self._recovery = None
        await self._end_calls()
        if self._shared:
            await self._shared.close()

    async def _ask(
        self,
        call: Callable[Args, Coroutine[Any, Any, Result]],
        *args: Args.args,
        **kwargs: Args.kwargs,
    ) -> Result | None:
        """Return the shared store's reply, or None during an outage, which starts with the first timeout."""
        if self._shared is not None and self._shared.is_on_this_machine:
            return None if self._is_closed else await self._ask_supervisor(call(*args, **kwargs))
        async with self._gate:
            if self._recovery or self._is_closed:
                return None
            try:
                return await self._in_time(call(*args, **kwargs), self._patience)
            except LimitsUnreachable as error:
                if self._recovery is None and not self._is_closed:
                    log.warning("redis_lost", error=error.message, instead="limits of this process")
                    self._recovery = asyncio.create_task(self._recover())
                return None

    async def _ask_supervisor(self, request: Coroutine[Any, Any, Result]) -> Result | None:
        try:
            return await request
        except LimitsUnreachable:
            return None

    async def _end_calls(self) -> None:
        """End the calls that nobody waits for any more: one that outlived the store would connect again."""
        if self._calls:
            await asyncio.wait(self._calls, timeout=self._patience)
        for call in self._calls:
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)

    async def _in_time(self, request: Coroutine[Any, Any, Result], patience: float) -> Result:
        # Waiting outside the call's task bounds the wait even if the client swallows a cancellation. A
        # timeout counts only if this process woke on time: after a blocked event loop, the reply may have
        # arrived unread.
        call = asyncio.create_task(request)
        self._calls.add(call)
        call.add_done_callback(self._finish_call)
        clock = asyncio.get_running_loop().time
        for _ in range(3):
            began = clock()
            await asyncio.wait({call}, timeout=patience)
            if call.done():
                return call.result()
            if clock() - began < 1.2 * patience:
                break
        call.cancel()
        raise LimitsUnreachable(f"no reply within {patience} seconds")

    async def _recover(self) -> None:
        while True:
            await asyncio.sleep(self._retry_seconds)
            if await self._answers():
                self._recovery = None
                log.info("redis_found", instead="limits of all processes")
                return

    async def _answers(self) -> bool:
        """Return whether Redis runs the script and accepts writes, which a ping would not show."""
        assert self._shared
        try:
            await self._in_time(self._shared.hit_window("recovery", None, 1), RECOVERY_PATIENCE_SECONDS)
        except LimitsUnreachable:
            return False
        return True

    def _finish_call(self, call: asyncio.Task[Any]) -> None:
        self._calls.discard(call)
        if not call.cancelled():
            # Retrieved, so that asyncio does not log the error of an abandoned call.
            call.exception()
