"""Dates and times in natural notation. Ambiguous dates are rejected."""

import re
from datetime import date, datetime, timedelta

from retinue.forms.conversation.vocabulary import MONTH_NAMES, RELATIVE_DAYS

_ISO = re.compile(r"\b(\d{4})-(\d\d?)-(\d\d?)\b", re.ASCII)
_DOTS = re.compile(r"\b(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\b", re.ASCII)
_SLASHES = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b", re.ASCII)
_YEAR_FIRST = re.compile(r"\b(\d{4})/(\d{1,2})/(\d{1,2})\b", re.ASCII)
_DAY_MONTH = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?([^\W\d_]{3,9})\.?,?\s+(\d{4})\b")
_MONTH_DAY = re.compile(r"\b([^\W\d_]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b")
_TIME = re.compile(r"\b(\d{1,2}):(\d\d)(?::(\d\d))?\s*(am|pm)?(?![\d:])", re.ASCII | re.IGNORECASE)
_HOUR = re.compile(r"\b(\d{1,2})\s*(am|pm|uhr|h)\b", re.ASCII | re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")


def find_date(text: str, today: date) -> str | None:
    """Return the only date in the text in ISO format, or None."""
    days = {day.isoformat() for day in _days_in(text, today)}
    return days.pop() if len(days) == 1 else None


def find_datetime(text: str, today: date) -> str | None:
    """Return a date and time without offset, which is read as UTC, or None."""
    day, time = find_date(text, today), _time_in(text)
    return f"{day}T{time}" if day is not None and time is not None else None


def _days_in(text: str, today: date) -> list[date]:
    days = [_date_or_none(*match) for match in (*_ISO.findall(text), *_YEAR_FIRST.findall(text))]
    days += [_date_or_none(year, month, day) for day, month, year in _DOTS.findall(text)]
    days += [_slashed_date(*match) for match in _SLASHES.findall(text)]
    folded = text.casefold()
    days += [_named_date(year, month, day) for day, month, year in _DAY_MONTH.findall(folded)]
    days += [_named_date(year, month, day) for month, day, year in _MONTH_DAY.findall(folded)]
    days += [
        today + timedelta(days=RELATIVE_DAYS[word]) for word in _WORD.findall(folded) if word in RELATIVE_DAYS
    ]
    return [day for day in days if day is not None]


def _date_or_none(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _named_date(year: str, month: str, day: str) -> date | None:
    number = MONTH_NAMES.get(month)
    return _date_or_none(year, str(number), day) if number is not None else None


def _slashed_date(first: str, second: str, year: str) -> date | None:
    """Return the date if day and month are unambiguous: `25/04/2026` is, `03/04/2026` is not."""
    possible = {_date_or_none(year, second, first), _date_or_none(year, first, second)} - {None}
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
