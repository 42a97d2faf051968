"""Periods of budgets and reports, in UTC."""

from datetime import UTC, datetime, timedelta
from typing import Literal

from retinue.kit.clock import Instant, parse_instant, to_instant

Length = Literal["hour", "day", "month"]

NAME_LENGTHS: dict[Length, int] = {
    "hour": len("2026-11-15T08"),
    "day": len("2026-11-15"),
    "month": len("2026-11"),
}
"""Length of the prefix of an instant that names its hour, day or month."""

_REST = "0000-01-01T00:00:00.000000Z"


def name_at(at: Instant, length: Length) -> str:
    return at[: NAME_LENGTHS[length]]


def start_of(name: str) -> Instant:
    """Return the first instant of an hour, day or month."""
    return name + _REST[len(name) :]


def end_of(name: str) -> Instant:
    """Return the first instant after an hour, day or month."""
    start = parse_instant(start_of(name))
    if len(name) == NAME_LENGTHS["hour"]:
        return to_instant(start + timedelta(hours=1))
    if len(name) == NAME_LENGTHS["day"]:
        return to_instant(start + timedelta(days=1))
    return to_instant(datetime(start.year + start.month // 12, start.month % 12 + 1, 1, tzinfo=UTC))
