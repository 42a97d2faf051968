"""Request counts, kept in this process's memory and stored every few seconds.

A write per read would cost more than the read itself. A killed process loses at most its last five seconds;
nothing else depends on these numbers.
"""

import asyncio
from collections import Counter
from contextlib import suppress

import structlog

from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.limits import Limiter, MemoryStore, PlanLimits, RateLimitDecision
from retinue.kit.limits.shared_store import SharedStore
from retinue.kit.principal import Principal
from retinue.usage.events import LimitReached
from retinue.usage.meters import meter

log = structlog.get_logger("retinue.usage")

FLUSH_SECONDS = 5.0
_CLOSE_TIMEOUT_SECONDS = 2.0
_IP_KEY_PREFIX = "ip:"
_WINDOWS = {60: "minute", 3600: "hour", 86400: "day"}


class RequestCounts:
    """Allowed and refused requests since the last store, by tenant."""

    def __init__(self) -> None:
        self._allowed: Counter[str] = Counter()
        self._refused: dict[tuple[str, int], int] = {}
        self._instance: Instance | None = None
        self._store_task: asyncio.Task[None] | None = None

    def record(self, key: str, decision: RateLimitDecision) -> None:
        if decision.allowed:
            self._allowed[key] += 1
        else:
            self._refused[key, decision.window] = decision.limit

    def open(self, instance: Instance) -> None:
        """Start storing the counts periodically."""
        self._instance = instance
        self._store_task = asyncio.create_task(self._store_forever())

    async def close(self) -> None:
        if self._store_task is not None:
            self._store_task.cancel()
            with suppress(asyncio.CancelledError):
                await self._store_task
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_TIMEOUT_SECONDS):
                await self._store_quietly()

    async def store(self) -> None:
        """Store the counts so far; on failure they are kept for the next attempt."""
        allowed_count, self._allowed = self._allowed, Counter()
        refused, self._refused = self._refused, {}
        for tenant_id in sorted({*allowed_count, *(tenant_id for tenant_id, _ in refused)}):
            limits = {window: limit for (other, window), limit in refused.items() if other == tenant_id}
            try:
                await self._store_one(tenant_id, allowed_count[tenant_id], limits)
            except BaseException:
                self._allowed[tenant_id] += allowed_count[tenant_id]
                raise

    async def _store_one(self, tenant_id: str, allowed_count: int, refused: dict[int, int]) -> None:
        assert self._instance is not None
        new_refusals = {
            window: limit
            for window, limit in refused.items()
            if await self._is_first_refusal(tenant_id, window)
        }
        principal = Principal(kind="system", role="system", tenant_id=tenant_id)
        async with Context(self._instance, principal, Caller(correlation_id="cor_usage")) as ctx:
            if allowed_count:
                meter(ctx, {"requests": allowed_count})
            for window, limit in new_refusals.items():
                name = _WINDOWS.get(window, str(window))
                ctx.emit(LimitReached(limit=f"requests_per_{name}", allowed=limit, window=name))

    async def _is_first_refusal(self, tenant_id: str, window: int) -> bool:
        """Return True once for each exhausted window across processes, not for each refused request."""
        assert self._instance is not None
        return (await self._instance.limiter.hit_window(f"told:{tenant_id}", 1, window)).allowed

    async def _store_forever(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            await self._store_quietly()

    async def _store_quietly(self) -> None:
        try:
            await self.store()
        except Exception as error:  # noqa: BLE001  numbers that can wait must not end the process
            log.warning("requests_not_counted", error=repr(error))


class CountingLimiter(Limiter):
    """A limiter that counts its decisions."""

    def __init__(self, local: MemoryStore, shared: SharedStore | None = None, *, burst: bool = True) -> None:
        super().__init__(local, shared, burst=burst)
        self.counts = RequestCounts()

    async def hit(self, key: str, limits: PlanLimits, cost: int) -> RateLimitDecision:
        decision = await super().hit(key, limits, cost)
        if cost and not key.startswith(_IP_KEY_PREFIX):
            self.counts.record(key, decision)
        return decision
