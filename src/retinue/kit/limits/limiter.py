"""The limiter the product asks: Redis when there is one, this process's memory when there is none."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import structlog

from retinue.kit.limits.decision import Decision, LimitsUnreachable
from retinue.kit.limits.memory import MemoryStore, Used
from retinue.kit.limits.plans import PlanLimits

if TYPE_CHECKING:
    from retinue.kit.limits.redis import RedisStore

log = structlog.get_logger("retinue.limits")

Answer = TypeVar("Answer")
Asked = ParamSpec("Asked")

CALLS_AT_ONCE = 16
"""Connections to Redis; more would only wait for this process's one thread."""


class Limiter:
    """Call the `_now` forms if it `is_local`, else await; while Redis is out, this process's limits hold."""

    def __init__(
        self,
        local: MemoryStore,
        shared: "RedisStore | None" = None,
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
        self._gate = asyncio.Semaphore(CALLS_AT_ONCE)
        self._recovery: asyncio.Task[None] | None = None
        self.is_local = shared is None
        """Whether there is no Redis at all, so that nothing need be awaited."""

    def hit_now(self, key: str, limits: PlanLimits, cost: int) -> Decision:
        return self._local.hit(key, limits, cost, burst=self._burst)

    def hit_window_now(self, key: str, limit: int | None, window_seconds: int, cost: int = 1) -> Decision:
        return self._local.hit_window(key, limit, window_seconds, cost)

    async def hit(self, key: str, limits: PlanLimits, cost: int) -> Decision:
        """Charge a request to its plan; a cost of 0 only looks and is never refused."""
        if self._shared:
            decision = await self._ask(self._shared.hit, key, limits, cost, burst=self._burst)
            if decision is not None:
                return decision
        return self.hit_now(key, limits, cost)

    async def hit_window(self, key: str, limit: int | None, window_seconds: int, cost: int = 1) -> Decision:
        """Charge a throttle that has one window of its own."""
        if self._shared:
            decision = await self._ask(self._shared.hit_window, key, limit, window_seconds, cost)
            if decision is not None:
                return decision
        return self.hit_window_now(key, limit, window_seconds, cost)

    async def used(self, key: str) -> Used:
        """What a key has spent of its plan in each window."""
        if self._shared and (used := await self._ask(self._shared.used, key)) is not None:
            return used
        return self._local.used(key)

    async def acquire(self, key: str, limit: int | None, lease_id: str, ttl: float) -> bool:
        """Take one of `limit` places for `ttl` seconds; the same lease again is renewed."""
        if self._shared:
            admitted = await self._ask(self._shared.acquire, key, limit, lease_id, ttl)
            if admitted:
                # Remembered here too, so that an outage begins with the places this process holds.
                return self._local.acquire(key, None, lease_id, ttl)
            if admitted is not None:
                return False
        return self._local.acquire(key, limit, lease_id, ttl)

    async def release(self, key: str, lease_id: str) -> None:
        self._local.release(key, lease_id)
        if self._shared:
            await self._ask(self._shared.release, key, lease_id)

    async def close(self) -> None:
        if self._recovery:
            self._recovery.cancel()
            await asyncio.gather(self._recovery, return_exceptions=True)
            self._recovery = None
        if self._shared:
            await self._shared.close()

    async def _ask(
        self,
        ask: Callable[Asked, Coroutine[Any, Any, Answer]],
        *args: Asked.args,
        **kwargs: Asked.kwargs,
    ) -> Answer | None:
        """Redis's answer, or None during an outage, which begins when it gives none in time."""
        async with self._gate:
            if self._recovery:
                return None
            try:
                return await self._in_time(ask(*args, **kwargs))
            except LimitsUnreachable as error:
                if self._recovery is None:
                    log.warning("redis_lost", error=error.message, instead="limits of this process")
                    self._recovery = asyncio.create_task(self._recover())
                return None

    async def _in_time(self, question: Coroutine[Any, Any, Answer]) -> Answer:
        # Waiting beside the call and not inside it keeps the promise even if the client swallows a
        # cancellation. A silence counts only if this process woke on time: when the loop was held up, the
        # answer may lie ready.
        call = asyncio.create_task(question)
        call.add_done_callback(_see_the_error)
        clock = asyncio.get_running_loop().time
        for _ in range(3):
            began = clock()
            await asyncio.wait({call}, timeout=self._patience)
            if call.done():
                return call.result()
            if clock() - began < 1.2 * self._patience:
                break
        call.cancel()
        raise LimitsUnreachable(f"no answer in {self._patience} seconds")

    async def _recover(self) -> None:
        while True:
            await asyncio.sleep(self._retry_seconds)
            if await self._answers():
                self._recovery = None
                log.info("redis_found", instead="limits of all processes")
                return

    async def _answers(self) -> bool:
        """Whether Redis runs the script and keeps what it writes, which a ping does not show."""
        assert self._shared
        try:
            await self._in_time(self._shared.hit_window("recovery", None, 1))
        except LimitsUnreachable:
            return False
        return True


def _see_the_error(call: asyncio.Task[Any]) -> None:
    """Nobody waits for a call that was given up, and its error is no news."""
    if not call.cancelled():
        call.exception()
