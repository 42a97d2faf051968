"""Cron expressions in words: `0 8 * * mon-fri` is "At 08:00 on Monday to Friday"."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from retinue.kit.cron import Cron, CronNumbers

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ALL_MINUTES, _ALL_HOURS, _ALL_DAYS = 60, 24, 31
_MAX_CLOCK_TIMES = 6
_MIN_RUN = 3
"""As many numbers in a row are named as a range."""
_MIN_STEPS = 7
"""As many numbers at the same distance are named as a range with a step."""


def describe_cron(cron: Cron) -> str:
    """Return when it fires, as a sentence without a full stop."""
    numbers = cron.numbers
    times, is_by_clock = _describe_times(numbers)
    days = _describe_days(numbers)
    months = ""
    if len(numbers.months) < len(_MONTHS):
        months = f"in {_join(numbers.months, lambda month: _MONTHS[month - 1])}"
    if is_by_clock and not days:
        days = "every day"
    return " ".join(part for part in (times, days, months) if part)


def _describe_times(numbers: CronNumbers) -> tuple[str, bool]:
    """Return the times of a day, and whether they are times of the clock."""
    minutes, hours = numbers.minutes, numbers.hours
    minute_step, hour_step = _step_of(minutes, _ALL_MINUTES), _step_of(hours, _ALL_HOURS)
    if minutes == [0] and hour_step is not None:
        return "Every hour" if hour_step == 1 else f"Every {hour_step} hours", False
    if len(minutes) * len(hours) <= _MAX_CLOCK_TIMES:
        clock = [f"{hour:02}:{minute:02}" for hour in hours for minute in minutes]
        return f"At {_list(clock)}", True
    if minute_step is not None:
        found = "Every minute" if minute_step == 1 else f"Every {minute_step} minutes"
    else:
        found = f"At {'minute' if len(minutes) == 1 else 'minutes'} {_join(minutes, str)}"
    if len(hours) < _ALL_HOURS:
        unit = "hour" if len(hours) == 1 else "hours"
        return f"{found} of the {unit} {_join(hours, lambda hour: f'{hour:02}')}", False
    return found if minute_step is not None else f"{found} of every hour", False


def _describe_days(numbers: CronNumbers) -> str:
    """Return the days; empty for all of them."""
    days, weekdays = numbers.days, numbers.weekdays
    is_any_day, is_any_weekday = len(days) == _ALL_DAYS, len(weekdays) == len(_WEEKDAYS)
    in_month = f"day {_join(days, str)} of the month"
    in_week = _join(weekdays, lambda day: _WEEKDAYS[day - 1])
    if not numbers.needs_both_days:
        return "" if is_any_day or is_any_weekday else f"on {in_month} and on {in_week}"
    if is_any_day:
        return "" if is_any_weekday else f"on {in_week}"
    return f"on {in_month}" if is_any_weekday else f"on {in_month} if it is {in_week}"


def _step_of(numbers: Sequence[int], whole: int) -> int | None:
    """Return the distance of numbers that are the same apart throughout, also from one day to the next."""
    step = whole // len(numbers)
    is_even = len(numbers) > 1 and list(numbers) == list(range(0, whole, step))
    return step if is_even and whole % step == 0 else None


def _join(numbers: Sequence[int], name: Callable[[int], str]) -> str:
    """Return names in a list, with numbers in a row as a range."""
    steps = {after - before for before, after in pairwise(numbers)}
    if len(numbers) >= _MIN_STEPS and len(steps) == 1 and (step := steps.pop()) > 1:
        return f"{name(numbers[0])} to {name(numbers[-1])} in steps of {step}"
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts: list[str] = []
    for run in runs:
        if len(run) < _MIN_RUN:
            parts += [name(number) for number in run]
        else:
            parts.append(f"{name(run[0])} to {name(run[-1])}")
    return _list(parts)


def _list(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
