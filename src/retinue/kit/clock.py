"""Time comes in through one door, so that tests can hold it.

An instant is text in one fixed form, `2026-11-15T08:30:00.000000Z`. It sorts as time sorts, is stored and
sent as it is, and means the same on both databases (docs/adr/0006-instants-are-text.md).
"""

import functools
import time
from datetime import UTC, datetime
from typing import Protocol

Instant = str


def instant(moment: datetime) -> Instant:
    """The one textual form of a moment, always UTC; a naive moment is taken as UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def moment(at: Instant) -> datetime:
    return datetime.fromisoformat(at)


def instant_at(seconds: float) -> Instant:
    """The instant so many seconds after 1970."""
    second, micros = divmod(round(seconds * 1_000_000), 1_000_000)
    return f"{_to_the_second(second)}.{micros:06d}Z"


# Every look at the clock within a second shares the costly part of its text.
@functools.lru_cache(maxsize=128)
def _to_the_second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).replace(tzinfo=None).isoformat()


def system_ticks(tick_ns: int) -> int:
    """How many ticks the machine's clock has counted since 1970, whatever clock the instance has."""
    return time.time_ns() // tick_ns


class Clock(Protocol):
    def time(self) -> float:
        """Seconds since 1970."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards, for intervals."""
        ...

    def now(self) -> Instant: ...

    def ahead(self, seconds: float) -> Instant:
        """The instant so many seconds from now."""
        ...


class SystemClock:
    monotonic = staticmethod(time.monotonic)
    time = staticmethod(time.time)

    def now(self) -> Instant:
        micros = time.time_ns() // 1000
        return f"{_to_the_second(micros // 1_000_000)}.{str(micros)[-6:]}Z"

    def ahead(self, seconds: float) -> Instant:
        return instant_at(self.time() + seconds)


class HeldClock(SystemClock):
    """A clock that moves only when told; a microsecond passes at each look so that order is kept."""

    def __init__(self, start: float = 1_800_000_000.0) -> None:
        self._at = start

    def time(self) -> float:
        self._at += 1e-6
        return self._at

    def monotonic(self) -> float:
        return self.time()

    def now(self) -> Instant:
        return instant_at(self.time())

    def advance(self, seconds: float) -> None:
        self._at += seconds
