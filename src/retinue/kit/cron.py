"""Times that come again, as cron writes them: minute, hour, day of the month, month, day of the week.

`*`, lists, ranges, steps, and names of months and days. If both days are given, either will do. A time that
the clocks skip in spring comes at the moment they jump; one they show twice in autumn comes the first time.
Where the hour is `*`, it is every hour as it passes, shown twice or not.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import msgspec

from retinue.kit.errors import RetinueError

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
# The 29th of February comes every eight years at the least.
_LARGEST_SHIFT = timedelta(hours=3)
_FARTHEST_DAYS = 366 * 9


class CronInvalid(RetinueError):
    """It must have five fields: minute, hour, day of the month, month, day of the week."""

    status, code = 422, "validation_error"


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
        """The first time after a moment, in UTC; None where there never is one."""
        local = moment.astimezone(zone).replace(tzinfo=None)
        # Clocks are never set by more than that, so what they showed earlier is over.
        over = local - _LARGEST_SHIFT
        midnight = over.replace(hour=0, minute=0, second=0, microsecond=0)
        for offset in range(_FARTHEST_DAYS):
            day = midnight + timedelta(days=offset)
            if self.has_day(day):
                found = self._first_on(day, over, moment, zone)
                if found is not None:
                    return found
        return None

    def _first_on(self, day: datetime, over: datetime, after: datetime, zone: ZoneInfo) -> datetime | None:
        found: datetime | None = None
        last = datetime.max  # noqa: DTZ901  compared with local times, which have no zone
        for hour in self.hours:
            for minute in self.minutes:
                shown = day.replace(hour=hour, minute=minute)
                if shown > last:
                    return found
                if shown < over:
                    continue
                for at in self._moments(shown, zone):
                    if at > after and (found is None or at < found):
                        found = at
                        last = min(last, shown + _LARGEST_SHIFT)
        return found

    def _moments(self, shown: datetime, zone: ZoneInfo) -> list[datetime]:
        """When the clocks of a zone show this: once, twice, or never."""
        first, second = (shown.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
        if first == second:
            return [first]
        if first < second:
            return [first, second] if self.is_any_hour else [first]
        return [] if self.is_any_hour else [_jump_between(second, first, zone)]


def _jump_between(low: datetime, high: datetime, zone: ZoneInfo) -> datetime:
    """The moment at which clocks jump over a time, of which these are two readings."""
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
        raise CronInvalid("It names a day that never comes.")
    return cron


def _numbers(name: str, field: str, low: int, high: int, names: tuple[str, ...] = ()) -> set[int]:
    found: set[int] = set()
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
        found.update(range(begin, end + 1, every))
    return found


def _number(name: str, text: str, names: tuple[str, ...]) -> int:
    if text.isascii() and text.isdigit() and len(text) <= 4:
        return int(text)
    if text and text.lower() in names:
        return names.index(text.lower())
    raise CronInvalid(f"The {name} is not understood: use *, numbers, ranges, lists and steps.")
