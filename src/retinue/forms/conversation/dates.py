"""Days and moments as people write them; what could be two days is none."""

import re
from datetime import date, datetime, timedelta

from retinue.forms.conversation.words import DAYS, MONTHS

_ISO = re.compile(r"\b(\d{4})-(\d\d?)-(\d\d?)\b", re.ASCII)
_DOTS = re.compile(r"\b(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\b", re.ASCII)
_SLASHES = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b", re.ASCII)
_YEAR_FIRST = re.compile(r"\b(\d{4})/(\d{1,2})/(\d{1,2})\b", re.ASCII)
_DAY_MONTH = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?([^\W\d_]{3,9})\.?,?\s+(\d{4})\b")
_MONTH_DAY = re.compile(r"\b([^\W\d_]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b")
_TIME = re.compile(r"\b(\d{1,2}):(\d\d)(?::(\d\d))?\s*(am|pm)?(?![\d:])", re.ASCII | re.IGNORECASE)
_HOUR = re.compile(r"\b(\d{1,2})\s*(am|pm|uhr|h)\b", re.ASCII | re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")


def find_day(text: str, today: date) -> str | None:
    """The one day that is named, as it is kept."""
    days = {day.isoformat() for day in _days_in(text, today)}
    return days.pop() if len(days) == 1 else None


def find_moment(text: str, today: date) -> str | None:
    """A day and a time of it; in UTC where nobody says otherwise."""
    day, time = find_day(text, today), _time_in(text)
    return f"{day}T{time}" if day is not None and time is not None else None


def _days_in(text: str, today: date) -> list[date]:
    found = [_day(*match) for match in (*_ISO.findall(text), *_YEAR_FIRST.findall(text))]
    found += [_day(year, month, day) for day, month, year in _DOTS.findall(text)]
    found += [_slashed(*match) for match in _SLASHES.findall(text)]
    folded = text.casefold()
    found += [_named(year, month, day) for day, month, year in _DAY_MONTH.findall(folded)]
    found += [_named(year, month, day) for month, day, year in _MONTH_DAY.findall(folded)]
    found += [today + timedelta(days=DAYS[word]) for word in _WORD.findall(folded) if word in DAYS]
    return [day for day in found if day is not None]


def _day(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _named(year: str, month: str, day: str) -> date | None:
    number = MONTHS.get(month)
    return _day(year, str(number), day) if number is not None else None


def _slashed(first: str, second: str, year: str) -> date | None:
    """`03/04/2026` is two days, by where one comes from; `25/04/2026` is one."""
    possible = {_day(year, second, first), _day(year, first, second)} - {None}
    return possible.pop() if len(possible) == 1 else None


def _time_in(text: str) -> str | None:
    match = _TIME.search(text)
    if match is not None:
        return _time(int(match[1]), int(match[2]), int(match[3] or 0), match[4])
    match = _HOUR.search(text)
    return _time(int(match[1]), 0, 0, match[2]) if match is not None else None


def _time(hour: int, minute: int, second: int, half: str | None) -> str | None:
    half = (half or "").casefold()
    if half in {"am", "pm"}:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "pm" else 0)
    try:
        return datetime(2000, 1, 1, hour, minute, second).time().isoformat()  # noqa: DTZ001  only its time
    except ValueError:
        return None
