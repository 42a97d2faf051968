"""Sliding windows made of buckets, in whole milliseconds; shared by both stores.

A bucket is half a second of a minute, or a sixtieth of a longer window. It expires as a whole, one window
after its *last* cost. No rolling window ever exceeds its limit; in return, a cost may count for up to one
bucket longer than the window.
"""

from functools import lru_cache

import msgspec

from retinue.kit.limits.decision import RateLimitDecision

UNLIMITED = 2**31 - 1
"""Represents null: far above any tenant's traffic, yet a valid number in a header."""

NEVER = 1 << 62

MAX_CLOCK_SETBACK_MS = 1000
"""Largest clock setback that keeps the counts; after a larger one they would expire far too late."""


class Allowance(msgspec.Struct, frozen=True, gc=False):
    """One limit per window; the first window is charged the cost and may burst, the others count requests."""

    spans: tuple[int, ...]
    limits: tuple[int, ...]
    ceiling: int
    burst_ms: int = 0


@lru_cache(maxsize=4096)
def single_window(limit: int | None, window_seconds: int) -> Allowance:
    """Return the allowance of a plain throttle: one window, no burst."""
    number = UNLIMITED if limit is None else limit
    return Allowance(spans=(window_seconds * 1000,), limits=(number,), ceiling=number)


def bucket_ms(span: int) -> int:
    return max(1, span // (120 if span <= 60_000 else 60))


class Window:
    """The costs of one span; `buckets` is a flat list of (time of last cost, sum) for closed buckets."""

    __slots__ = ("bucket", "buckets", "closed", "last", "limit", "open_until", "slide_at", "span", "used")

    def __init__(self, span: int, limit: int) -> None:
        self.span = span
        self.limit = limit
        self.bucket = bucket_ms(span)
        self.buckets: list[int] = []
        self.closed = 0
        self.used = 0
        self.last = 0
        self.open_until = 0
        self.slide_at = NEVER

    def restore(self, used: int, buckets: list[int]) -> None:
        """Load the counts of the Redis script; its last bucket is the open one."""
        self.used = used
        if buckets:
            *self.buckets, self.last, _ = buckets

    def slide(self, now: int) -> None:
        """Drop expired buckets; not needed before `slide_at`."""
        buckets, gone = self.buckets, 0
        while gone < len(buckets) and buckets[gone] + self.span <= now:
            self.closed -= buckets[gone + 1]
            self.used -= buckets[gone + 1]
            gone += 2
        del buckets[:gone]
        oldest = buckets[0] if buckets else self.last
        self.slide_at = oldest + self.span
        if self.slide_at <= now:
            self.used, self.slide_at = 0, NEVER

    def open(self, now: int, amount: int) -> None:
        """Close the current bucket and open a new one."""
        if self.used:
            self.buckets += (self.last, self.used - self.closed)
        else:
            self.slide_at = now + self.span
        self.closed = self.used
        self.used += amount
        self.last = now
        self.open_until = now - now % self.bucket + self.bucket

    def reset(self, now: int) -> int:
        """Return the Unix second at which the oldest cost expires, or one of now in an empty window."""
        if self.buckets:
            return -((self.buckets[0] + self.span) // -1000)
        return -(((self.last if self.used else now) + self.span) // -1000)

    def falls_to(self, level: int, now: int) -> int:
        """Return when usage falls to `level` if nothing is added; one span ahead if `level` is negative."""
        if self.used <= level:
            return now
        if level < 0:
            return now + self.span
        left = self.used
        for index in range(0, len(self.buckets), 2):
            left -= self.buckets[index + 1]
            if left <= level:
                return self.buckets[index] + self.span
        return self.last + self.span


def _retry_after_seconds(now: int, until: int) -> int:
    """Return whole seconds, at least 1: a Retry-After of 0 would mean at once."""
    return max(1, -((now - until) // 1000))


class WindowTally:
    """The usage of one key; `since` is when it exceeded its first limit, 0 while below it."""

    __slots__ = ("allowance", "since", "windows")

    def __init__(self, allowance: Allowance) -> None:
        self.allowance = allowance
        self.since = 0
        self.windows = [
            Window(span, limit) for span, limit in zip(allowance.spans, allowance.limits, strict=True)
        ]

    def adopt(self, allowance: Allowance) -> None:
        """Apply new limits to the same windows after the tenant's plan has changed."""
        self.allowance = allowance
        for window, limit in zip(self.windows, allowance.limits, strict=True):
            window.limit = limit

    def hit(self, now: int, cost: int) -> RateLimitDecision:
        """Charge every window or none; a cost of 0 only reads. Keep in step with `rate_limit.lua`."""
        windows = self.windows
        amount, fits = cost, True
        for window in windows:
            if now >= window.slide_at:
                window.slide(now)
            if window.used + amount > window.limit:
                fits = False
            amount = 1
        if cost:
            if self.since and windows[0].used < windows[0].limit:
                self.since = 0
            if not fits and not self._bursts(now, cost):
                return self.refused(now, cost)
            amount = cost
            for window in windows:
                if now < window.open_until:
                    window.used += amount
                    window.last = now
                else:
                    window.open(now, amount)
                amount = 1
        return self.admitted(now)

    def _bursts(self, now: int, cost: int) -> bool:
        """Start or continue a burst if only the first limit is exceeded; return whether it is allowed."""
        first, *longer = self.windows
        if not self.allowance.burst_ms or first.used + cost > self.allowance.ceiling:
            return False
        if self.since and now - self.since >= self.allowance.burst_ms:
            return False
        if any(window.used >= window.limit for window in longer):
            return False
        self.since = self.since or now
        return True

    def admitted(self, now: int) -> RateLimitDecision:
        """Return a decision that describes the window with the least capacity left, the first on a tie."""
        tightest, least = self.windows[0], NEVER
        for window in self.windows:
            left = window.limit - window.used
            if left < least:
                tightest, least = window, left
        return RateLimitDecision(
            True, tightest.limit, max(0, least), tightest.reset(now), tightest.span // 1000
        )

    def refused(self, now: int, cost: int) -> RateLimitDecision:
        """Return a decision that describes the window that refuses longest, so that one wait is enough."""
        first, *longer = self.windows
        tightest, room_at = first, now
        for window in longer:
            opens_at = window.falls_to(window.limit - 1, now)
            if opens_at > room_at:
                tightest, room_at = window, opens_at
        opens_at = self._first_opens(now, room_at, cost)
        if opens_at > room_at:
            tightest, room_at = first, opens_at
        wait = _retry_after_seconds(now, room_at)
        return RateLimitDecision(False, tightest.limit, 0, tightest.reset(now), tightest.span // 1000, wait)

    def _first_opens(self, now: int, earliest: int, cost: int) -> int:
        """Return when, from `earliest` on, the first window accepts the cost, normally or in a burst."""
        first, ceiling, burst_ms = self.windows[0], self.allowance.ceiling, self.allowance.burst_ms
        if not burst_ms:
            return max(earliest, first.falls_to(first.limit - cost, now))
        under_ceiling = max(earliest, first.falls_to(ceiling - cost, now))
        tried_at = now + 1000 * _retry_after_seconds(now, under_ceiling)
        if not self.since or tried_at - self.since < burst_ms:
            return under_ceiling
        return max(earliest, first.falls_to(min(first.limit - 1, ceiling - cost), now))

    def used(self, now: int) -> list[int]:
        for window in self.windows:
            window.slide(now)
        return [window.used for window in self.windows]

    def is_idle(self, now: int) -> bool:
        """Return whether every cost has expired, so that evicting the key loses nothing."""
        return not any(self.used(now))
