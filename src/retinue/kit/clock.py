"""The only source of time, so that tests can control it.

An instant is text in one fixed form, `2026-11-15T08:30:00.000000Z`. Its text order is its time order, and it
is stored and sent unchanged on both databases (docs/adr/0006-timestamps-as-text.md).
"""

import functools
import time
from datetime import UTC, datetime
from typing import Protocol

Instant = str

_HOUR_LENGTH = len("2026-11-15T08")


def to_instant(moment: datetime) -> Instant:
    """Format a datetime as an instant in UTC; a naive datetime is treated as UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def parse_instant(at: Instant) -> datetime:
    return datetime.fromisoformat(at)


def hour_of(at: Instant) -> str:
    """Return the hour of an instant, as `2026-11-15T08`; it sorts as the instants do."""
    return at[:_HOUR_LENGTH]


def instant_from_timestamp(seconds: float) -> Instant:
    """Format a Unix timestamp as an instant."""
    second, micros = divmod(round(seconds * 1_000_000), 1_000_000)
    return f"{_to_the_second(second)}.{micros:06d}Z"


# All instants within one second share the expensive part of the formatting.
@functools.lru_cache(maxsize=128)
def _to_the_second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).replace(tzinfo=None).isoformat()


def system_ticks(tick_ns: int) -> int:
    """Return the ticks since 1970 by the machine's clock, even if the instance uses another clock."""
    return time.time_ns() // tick_ns


class Clock(Protocol):
    def time(self) -> float:
        """Return the Unix timestamp in seconds."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never run backwards, for measuring intervals."""
        ...

    def now(self) -> Instant: ...

    def ahead(self, seconds: float) -> Instant:
        """Return the instant this many seconds from now."""
        ...


class SystemClock:
    monotonic = staticmethod(time.monotonic)
    time = staticmethod(time.time)

    def now(self) -> Instant:
        micros = time.time_ns() // 1000
        return f"{_to_the_second(micros // 1_000_000)}.{str(micros)[-6:]}Z"

    def ahead(self, seconds: float) -> Instant:
        return instant_from_timestamp(self.time() + seconds)


class ManualClock(SystemClock):
    """A clock for tests that moves only by `advance`, plus a microsecond per call to keep events ordered."""

    def __init__(self, start: float = 1_800_000_000.0) -> None:
        self._at = start

    def time(self) -> float:
        self._at += 1e-6
        return self._at

    def monotonic(self) -> float:
        return self.time()

    def now(self) -> Instant:
        return instant_from_timestamp(self.time())

    def advance(self, seconds: float) -> None:
        self._at += seconds
