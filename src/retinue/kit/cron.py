"""Cron expressions: minute, hour, day of the month, month, day of the week.

Supports `*`, lists, ranges, steps, and names of months and days. If both day fields are restricted, either
may match. A time skipped by daylight saving fires at the moment of the jump; a repeated time fires once, the
first time. With `*` as the hour, the schedule follows elapsed hours instead.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import msgspec

from retinue.kit.errors import InternalError

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_SHORTHANDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MAX_CLOCK_SHIFT = timedelta(hours=3)
# Two leap days are at most eight years apart.
_MAX_SEARCH_DAYS = 366 * 9


class CronInvalid(InternalError):
    """The cron expression must have five fields: minute, hour, day of the month, month, day of the week."""


class Cron(msgspec.Struct, frozen=True):
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    is_any_hour: bool
    is_any_day: bool
    is_any_weekday: bool

    def has_day(self, day: datetime) -> bool:
        if day.month not in self.months:
            return False
        in_month, in_week = day.day in self.days, (day.isoweekday() % 7) in self.weekdays
        if self.is_any_day or self.is_any_weekday:
            return in_month and in_week
        return in_month or in_week

    def next_after(self, moment: datetime, zone: ZoneInfo) -> datetime | None:
        """Return the first scheduled time after a moment, in UTC; None if there is none."""
        local = moment.astimezone(zone).replace(tzinfo=None)
        # No zone shifts its clock by more than this, so local times before it have passed.
        earliest = local - _MAX_CLOCK_SHIFT
        midnight = earliest.replace(hour=0, minute=0, second=0, microsecond=0)
        for offset in range(_MAX_SEARCH_DAYS):
            day = midnight + timedelta(days=offset)
            if self.has_day(day):
                first = self._first_on(day, earliest, moment, zone)
                if first is not None:
                    return first
        return None

    def _first_on(
        self, day: datetime, earliest: datetime, after: datetime, zone: ZoneInfo
    ) -> datetime | None:
        first: datetime | None = None
        last = datetime.max  # noqa: DTZ901  compared with local times, which have no zone
        for hour in self.hours:
            for minute in self.minutes:
                shown = day.replace(hour=hour, minute=minute)
                if shown > last:
                    return first
                if shown < earliest:
                    continue
                for at in self._moments(shown, zone):
                    if at > after and (first is None or at < first):
                        first = at
                        last = min(last, shown + _MAX_CLOCK_SHIFT)
        return first

    def _moments(self, shown: datetime, zone: ZoneInfo) -> list[datetime]:
        """Return the moments at which a local time fires: one, two or none."""
        first, second = (shown.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
        if first == second:
            return [first]
        if first < second:
            return [first, second] if self.is_any_hour else [first]
        return [] if self.is_any_hour else [_jump_between(second, first, zone)]


def _jump_between(low: datetime, high: datetime, zone: ZoneInfo) -> datetime:
    """Return the moment of a clock change between two moments, to the second."""
    offset = low.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) / 2
        if middle.astimezone(zone).utcoffset() == offset:
            low = middle
        else:
            high = middle
    return high.replace(microsecond=0)


@lru_cache(maxsize=1024)
def parse_cron(text: str) -> Cron:
    fields = _SHORTHANDS.get(text.strip().lower(), text).split()
    if len(fields) != 5:
        raise CronInvalid
    minute, hour, day, month, weekday = fields
    weekdays = frozenset(number % 7 for number in _numbers("day of the week", weekday, 0, 7, _DAYS))
    cron = Cron(
        minutes=tuple(sorted(_numbers("minute", minute, 0, 59))),
        hours=tuple(sorted(_numbers("hour", hour, 0, 23))),
        days=frozenset(_numbers("day of the month", day, 1, 31)),
        months=frozenset(_numbers("month", month, 1, 12, ("", *_MONTHS))),
        weekdays=weekdays,
        is_any_hour=hour.startswith("*"),
        is_any_day=day.startswith("*"),
        is_any_weekday=weekday.startswith("*"),
    )
    if cron.next_after(datetime(2000, 1, 1, tzinfo=UTC), ZoneInfo("UTC")) is None:
        raise CronInvalid("The cron expression names a date that does not exist.")
    return cron


def _numbers(name: str, field: str, low: int, high: int, names: tuple[str, ...] = ()) -> set[int]:
    numbers: set[int] = set()
    for part in field.split(","):
        span, has_step, step = part.partition("/")
        first, is_range, last = span.partition("-")
        if span == "*":
            begin, end = low, high
        else:
            begin = _number(name, first, names)
            end = _number(name, last, names) if is_range else (high if has_step else begin)
        every = _number(name, step, ()) if has_step else 1
        if not low <= begin <= end <= high or not 1 <= every <= high + 1:
            raise CronInvalid(f"The {name} must be from {low} to {high}.")
        numbers.update(range(begin, end + 1, every))
    return numbers


def _number(name: str, text: str, names: tuple[str, ...]) -> int:
    if text.isascii() and text.isdigit() and len(text) <= 4:
        return int(text)
    if text and text.lower() in names:
        return names.index(text.lower())
    raise CronInvalid(f"The {name} is not valid. Use *, numbers, ranges, lists or steps.")
