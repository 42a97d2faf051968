"""The pause that a response asks for: `Retry-After` in seconds or as a date, or `Retry-After-Ms`."""

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

_NUMBER_PATTERN = re.compile(r"\d+(\.\d+)?", re.ASCII)


def parse_retry_after(headers: Mapping[str, str], now: float, *, max_seconds: float) -> float | None:
    """Return the requested pause in seconds, between 0 and `max_seconds`; None if none can be read.

    A date counts from the response's own `Date`, because its clock may differ from ours, else from `now`.
    """
    millis = _number(_value(headers, "retry-after-ms"))
    if millis is not None:
        return min(millis / 1000, max_seconds)
    requested = _value(headers, "retry-after")
    seconds = _number(requested)
    if seconds is None:
        seconds = _seconds_until(requested, _value(headers, "date"), now)
    return None if seconds is None else min(max(seconds, 0.0), max_seconds)


def _value(headers: Mapping[str, str], name: str) -> str:
    return next((value for key, value in headers.items() if key.lower() == name), "").strip()


def _number(text: str) -> float | None:
    return float(text) if _NUMBER_PATTERN.fullmatch(text) else None


def _seconds_until(date: str, sent: str, now: float) -> float | None:
    until = _timestamp(date)
    if until is None:
        return None
    sent_at = _timestamp(sent)
    return until - (now if sent_at is None else sent_at)


def _timestamp(date: str) -> float | None:
    try:
        read = parsedate_to_datetime(date)
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
