"""Rate limits and leases that the supervisor keeps for all processes; the counterpart of `RedisStore`."""

from functools import lru_cache
from hashlib import sha256
from typing import Any, Protocol

import msgspec

from retinue.kit.limits import RateLimitDecision, WindowUsage
from retinue.kit.limits.plans import PlanLimits
from retinue.kit.limits.window import Allowance, single_window
from retinue.kit.peers.messages import ACQUIRE, HIT, RELEASE, USED

_MAX_KEY_LENGTH = 256


class SupervisorLink(Protocol):
    """The way to the supervisor: a call that waits for its answer, or a message without one."""

    async def call(self, operation: int, *arguments: Any) -> Any: ...

    def tell(self, *message: Any) -> None: ...


class KeptLimits:
    """Limits of all processes of this machine, asked for over their link."""

    is_on_this_machine = True

    def __init__(self, link: SupervisorLink) -> None:
        self._link = link

    async def hit(self, key: str, limits: PlanLimits, cost: int, *, burst: bool = True) -> RateLimitDecision:
        allowance = limits.bursting if burst else limits.steady
        return RateLimitDecision(*await self._link.call(HIT, _short(key), encode_allowance(allowance), cost))

    async def hit_window(
        self, key: str, limit: int | None, window_seconds: int, cost: int = 1
    ) -> RateLimitDecision:
        rules = encode_allowance(single_window(limit, window_seconds))
        return RateLimitDecision(*await self._link.call(HIT, _short(f"{window_seconds}:{key}"), rules, cost))

    async def used(self, key: str) -> WindowUsage:
        return WindowUsage(*await self._link.call(USED, _short(key)))

    async def acquire(self, key: str, limit: int | None, lease_id: str, ttl: float) -> bool:
        (admitted,) = await self._link.call(ACQUIRE, _short(key), limit, lease_id, ttl)
        return bool(admitted)

    async def release(self, key: str, lease_id: str) -> None:
        self._link.tell(0, RELEASE, _short(key), lease_id)

    async def close(self) -> None:
        """Nothing to close: the link outlives the store."""


def _short(key: str) -> str:
    return key if len(key) <= _MAX_KEY_LENGTH else sha256(key.encode()).hexdigest()


@lru_cache(maxsize=4096)
def encode_allowance(allowance: Allowance) -> bytes:
    return msgspec.msgpack.encode([allowance.spans, allowance.limits, allowance.ceiling, allowance.burst_ms])


@lru_cache(maxsize=4096)
def decode_allowance(rules: bytes) -> Allowance:
    spans, limits, ceiling, burst_ms = msgspec.msgpack.decode(rules)
    return Allowance(spans=tuple(spans), limits=tuple(limits), ceiling=ceiling, burst_ms=burst_ms)
