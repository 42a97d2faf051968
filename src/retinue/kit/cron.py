"""Cron expressions: minute, hour, day of the month, month, day of the week.

Supports `*`, lists, ranges, steps, and names of months and days. If both day fields are restricted, either
may match. A time skipped by daylight saving fires at the moment of the jump; a repeated time fires once, the
first time. With `*` as the minute or hour, the schedule follows elapsed time instead.
"""

import re
from datetime import UTC, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

import msgspec
from cronsim import CronSim, CronSimError

from retinue.kit.errors import InternalError

_SHORTHANDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
# Name, lowest and highest number of each field, in their order.
_FIELDS = (
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day of the month", 1, 31),
    ("month", 1, 12),
    ("day of the week", 0, 7),
)
_VALUE = r"(?:\d{1,4}|[a-z]{3})"
# CronSim takes a step after a range of one number for a step without an end.
_STEP_OF_ONE = re.compile(rf"\b({_VALUE})-\1/\d+", re.ASCII | re.IGNORECASE)
# What CronSim knows besides, such as the last day of a month, is not part of our grammar.
_PART = re.compile(rf"(?:\*|{_VALUE}(?:-{_VALUE})?)(?:/(?P<step>\d{{1,4}}))?", re.ASCII | re.IGNORECASE)

_ANY_MOMENT = datetime(2000, 1, 1, tzinfo=UTC)


class CronInvalid(InternalError):
    """The cron expression must have five fields: minute, hour, day of the month, month, day of the week."""


class CronNumbers(msgspec.Struct, frozen=True):
    """Numbers that each field of an expression names, in order; Sunday is the last day of the week, as 7.

    Unless `needs_both_days`, a day of either field is enough.
    """

    minutes: list[int]
    hours: list[int]
    days: list[int]
    months: list[int]
    weekdays: list[int]
    needs_both_days: bool


class Cron(msgspec.Struct, frozen=True):
    """A checked expression."""

    expression: str

    @property
    def numbers(self) -> CronNumbers:
        parsed = CronSim(self.expression, _ANY_MOMENT)
        return CronNumbers(
            minutes=sorted(parsed.minutes),
            hours=sorted(parsed.hours),
            days=sorted(parsed.days),
            months=sorted(parsed.months),
            weekdays=sorted({day or 7 for day in parsed.weekdays if isinstance(day, int)}),
            needs_both_days=parsed.day_and,
        )

    def next_after(self, moment: datetime, zone: ZoneInfo) -> datetime | None:
        """Return the first scheduled time after a moment, in UTC; None if there is none."""
        for local_time in CronSim(self.expression, moment.astimezone(zone)):
            scheduled = local_time.astimezone(UTC)
            # A time that the clocks show twice is scheduled for the first of both, which may have passed.
            if scheduled > moment:
                return scheduled
        return None


@lru_cache(maxsize=1024)
def parse_cron(text: str) -> Cron:
    fields = _SHORTHANDS.get(text.strip().lower(), text).split()
    if len(fields) != len(_FIELDS):
        raise CronInvalid
    for position, field in enumerate(fields):
        _check_field(position, field)
    cron = Cron(_STEP_OF_ONE.sub(r"\1", " ".join(fields)))
    if not _has_date(cron):
        raise CronInvalid("The cron expression names a date that does not exist.")
    return cron


def _check_field(position: int, field: str) -> None:
    name, low, high = _FIELDS[position]
    parts = [_PART.fullmatch(part) for part in field.split(",")]
    if not all(parts):
        raise CronInvalid(f"The {name} is not valid. Use *, numbers, ranges, lists or steps.")
    steps = [int(part["step"]) for part in parts if part and part["step"]]
    others = ["*"] * len(_FIELDS)
    others[position] = field
    try:
        CronSim(" ".join(others), _ANY_MOMENT)
    except CronSimError:
        steps = [0]
    # A step beyond the field would look like every 90 minutes and mean every hour.
    if not all(1 <= step <= high + 1 for step in steps):
        raise CronInvalid(f"The {name} must be from {low} to {high}.")


def _has_date(cron: Cron) -> bool:
    try:
        return cron.next_after(_ANY_MOMENT, ZoneInfo("UTC")) is not None
    except CronSimError:
        return False
