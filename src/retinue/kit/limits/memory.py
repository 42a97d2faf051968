"""Rate limits in the memory of one process; for one event loop, not thread-safe."""

from collections import OrderedDict

import msgspec

from retinue.kit.clock import Clock
from retinue.kit.limits.decision import RateLimitDecision
from retinue.kit.limits.plans import PlanLimits
from retinue.kit.limits.window import MAX_CLOCK_SETBACK_MS, Allowance, WindowTally, single_window

_LEASE_SWEEP_THRESHOLD = 4096


class WindowUsage(msgspec.Struct, frozen=True):
    """The usage of a key in each window of its plan."""

    minute: int
    hour: int
    day: int


class MemoryStore:
    """Counts in memory; holds at most `max_keys` keys and evicts the longest idle first."""

    def __init__(self, clock: Clock, max_keys: int = 50_000) -> None:
        self._time = clock.time
        self._monotonic = clock.monotonic
        self._latest = 0
        self._max_keys = max_keys
        # Ordered by last hit. A plan's key is text; a throttle's key includes its window.
        self._tallies: OrderedDict[str | tuple[str, int], WindowTally] = OrderedDict()
        self._leases: OrderedDict[str, dict[str, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._tallies)

    def hit(self, key: str, limits: PlanLimits, cost: int, *, burst: bool = True) -> RateLimitDecision:
        """Charge a request to its plan; a cost of 0 only reads and is never refused."""
        return self.charge(key, limits.bursting if burst else limits.steady, cost)

    def hit_window(
        self, key: str, limit: int | None, window_seconds: int, cost: int = 1
    ) -> RateLimitDecision:
        """Charge a throttle with a single window."""
        return self.charge((key, window_seconds), single_window(limit, window_seconds), cost)

    def charge(self, key: str | tuple[str, int], allowance: Allowance, cost: int) -> RateLimitDecision:
        """Charge a cost to every window of an allowance, or to none."""
        now = int(self._time() * 1000)
        if now < self._latest:
            now = self._after_setback(now)
        self._latest = now
        tally = self._tallies.get(key)
        if tally is None:
            tally = self._opened(key, allowance, cost)
        else:
            self._tallies.move_to_end(key)
            if tally.allowance is not allowance:
                tally.adopt(allowance)
        return tally.hit(now, cost)

    def _after_setback(self, now: int) -> int:
        """Handle a clock that was set back: keep the latest time, or drop all counts after a large step."""
        if self._latest - now <= MAX_CLOCK_SETBACK_MS:
            return self._latest
        self._tallies.clear()
        return now

    def _opened(self, key: str | tuple[str, int], allowance: Allowance, cost: int) -> WindowTally:
        tally = WindowTally(allowance)
        if cost:
            self._evict(self._latest)
            self._tallies[key] = tally
        return tally

    def _evict(self, now: int) -> None:
        # Checking two keys per new key evicts idle ones faster than they accumulate, without a sweep.
        for _ in range(2):
            if not self._tallies:
                return
            key = next(iter(self._tallies))
            if len(self._tallies) < self._max_keys and not self._tallies[key].is_idle(now):
                return
            del self._tallies[key]

    def used(self, key: str) -> WindowUsage:
        now = max(self._latest, int(self._time() * 1000))
        tally = self._tallies.get(key)
        return WindowUsage(*(tally.used(now) if tally else (0, 0, 0)))

    def acquire(self, key: str, limit: int | None, lease_id: str, ttl: float) -> bool:
        """Acquire one of `limit` slots for `ttl` seconds; acquiring the same lease again renews it."""
        now = self._monotonic()
        live = self._leases.pop(key, {})
        self._drop_expired(now)
        if (
            len(live) >= (_LEASE_SWEEP_THRESHOLD if limit is None else limit)
            and live.get(lease_id, 0.0) <= now
        ):
            # Scan for expired leases only at the limit: there may be a thousand of them.
            live = {lease: ends for lease, ends in live.items() if ends > now}
        admitted = lease_id in live or limit is None or len(live) < limit
        if admitted:
            live[lease_id] = now + ttl
        if live:
            self._leases[key] = live
        return admitted

    def release(self, key: str, lease_id: str) -> None:
        leases = self._leases.get(key, {})
        leases.pop(lease_id, None)
        if not leases:
            self._leases.pop(key, None)

    def _drop_expired(self, now: float) -> None:
        for _ in range(2):
            if not self._leases:
                return
            key = next(iter(self._leases))
            if any(ends > now for ends in self._leases[key].values()):
                return
            del self._leases[key]
