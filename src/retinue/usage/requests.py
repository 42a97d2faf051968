"""Requests, counted where they are charged: in this process's memory, stored every few seconds.

A write for each read would cost more than the read. What a process that is killed had not stored yet, at most
the last five seconds of it, is not counted; nothing else depends on these numbers.
"""

import asyncio
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

import structlog

from retinue.kit.context import Caller, Context
from retinue.kit.instance import Instance
from retinue.kit.limits import Decision, Limiter, MemoryStore, PlanLimits
from retinue.kit.principal import Principal
from retinue.usage.events import LimitReached
from retinue.usage.metering import meter

if TYPE_CHECKING:
    from retinue.kit.limits.redis import RedisStore

log = structlog.get_logger("retinue.usage")

STORE_EVERY_S = 5.0
_LAST_PATIENCE_S = 2.0
_ADDRESS = "ip:"
_WINDOWS = {60: "minute", 3600: "hour", 86400: "day"}


class RequestCounts:
    """What was asked and what was refused since it was last stored, by tenant."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()
        self._refused: dict[tuple[str, int], int] = {}
        self._instance: Instance | None = None
        self._storing: asyncio.Task[None] | None = None

    def note(self, key: str, decision: Decision) -> None:
        if decision.allowed:
            self._asked[key] += 1
        else:
            self._refused[key, decision.window] = decision.limit

    def open(self, instance: Instance) -> None:
        """Begin to store what is counted."""
        self._instance = instance
        self._storing = asyncio.create_task(self._store_forever())

    async def close(self) -> None:
        if self._storing is not None:
            self._storing.cancel()
            with suppress(asyncio.CancelledError):
                await self._storing
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_PATIENCE_S):
                await self._store_quietly()

    async def store(self) -> None:
        """Write down what was counted so far; what fails is tried again the next time."""
        asked, self._asked = self._asked, Counter()
        refused, self._refused = self._refused, {}
        for tenant_id in sorted({*asked, *(tenant_id for tenant_id, _ in refused)}):
            limits = {window: limit for (other, window), limit in refused.items() if other == tenant_id}
            try:
                await self._store_one(tenant_id, asked[tenant_id], limits)
            except BaseException:
                self._asked[tenant_id] += asked[tenant_id]
                raise

    async def _store_one(self, tenant_id: str, asked: int, refused: dict[int, int]) -> None:
        assert self._instance is not None
        news = {window: limit for window, limit in refused.items() if await self._is_news(tenant_id, window)}
        principal = Principal(kind="system", role="system", tenant_id=tenant_id)
        async with Context(self._instance, principal, Caller(correlation_id="cor_usage")) as ctx:
            if asked:
                meter(ctx, {"requests": asked})
            for window, limit in news.items():
                name = _WINDOWS.get(window, str(window))
                ctx.emit(LimitReached(limit=f"requests_per_{name}", allowed=limit, window=name))

    async def _is_news(self, tenant_id: str, window: int) -> bool:
        """Once for each window that was full, in whichever process, not for each call that it refused."""
        assert self._instance is not None
        return (await self._instance.limiter.hit_window(f"told:{tenant_id}", 1, window)).allowed

    async def _store_forever(self) -> None:
        while True:
            await asyncio.sleep(STORE_EVERY_S)
            await self._store_quietly()

    async def _store_quietly(self) -> None:
        try:
            await self.store()
        except Exception as error:  # noqa: BLE001  numbers that can wait must not end the process
            log.warning("requests could not be counted", error=repr(error))


class CountingLimiter(Limiter):
    """The limiter, with a note of what it was asked."""

    def __init__(self, local: MemoryStore, shared: "RedisStore | None" = None, *, burst: bool = True) -> None:
        super().__init__(local, shared, burst=burst)
        self.counts = RequestCounts()

    def hit_now(self, key: str, limits: PlanLimits, cost: int) -> Decision:
        decision = super().hit_now(key, limits, cost)
        if cost and self.is_local and not key.startswith(_ADDRESS):
            self.counts.note(key, decision)
        return decision

    async def hit(self, key: str, limits: PlanLimits, cost: int) -> Decision:
        decision = await super().hit(key, limits, cost)
        if cost and not self.is_local and not key.startswith(_ADDRESS):
            self.counts.note(key, decision)
        return decision
