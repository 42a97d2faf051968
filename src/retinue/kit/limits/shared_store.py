"""Interface of a store whose limits several processes share."""

from typing import Protocol

from retinue.kit.limits.decision import RateLimitDecision
from retinue.kit.limits.memory import WindowUsage
from retinue.kit.limits.plans import PlanLimits


class SharedStore(Protocol):
    """Answers, or raises `LimitsUnreachable`."""

    @property
    def is_on_this_machine(self) -> bool:
        """Whether the store bounds its own calls, and ends the leases of a process together with it."""
        ...

    async def hit(
        self, key: str, limits: PlanLimits, cost: int, *, burst: bool = True
    ) -> RateLimitDecision: ...

    async def hit_window(
        self, key: str, limit: int | None, window_seconds: int, cost: int = 1
    ) -> RateLimitDecision: ...

    async def used(self, key: str) -> WindowUsage: ...

    async def acquire(self, key: str, limit: int | None, lease_id: str, ttl: float) -> bool: ...

    async def release(self, key: str, lease_id: str) -> None: ...

    async def close(self) -> None: ...
