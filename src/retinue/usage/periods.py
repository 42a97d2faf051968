"""Days and months as budgets and reports count them, all of them in UTC."""

from datetime import UTC, datetime, timedelta
from typing import Literal

from retinue.kit.clock import Instant, instant, moment

Length = Literal["hour", "day", "month"]

LETTERS: dict[Length, int] = {"hour": len("2026-11-15T08"), "day": len("2026-11-15"), "month": len("2026-11")}
"""How much of an instant names the hour, day or month it is in."""

_REST = "0000-01-01T00:00:00.000000Z"


def named(at: Instant, length: Length) -> str:
    return at[: LETTERS[length]]


def begins(name: str) -> Instant:
    """The first instant of an hour, day or month."""
    return name + _REST[len(name) :]


def ends(name: str) -> Instant:
    """The first instant after it."""
    start = moment(begins(name))
    if len(name) == LETTERS["hour"]:
        return instant(start + timedelta(hours=1))
    if len(name) == LETTERS["day"]:
        return instant(start + timedelta(days=1))
    return instant(datetime(start.year + start.month // 12, start.month % 12 + 1, 1, tzinfo=UTC))
