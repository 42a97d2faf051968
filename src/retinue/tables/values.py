"""What each type of column takes: from JSON as it is, and from the text of a cell in a file."""

import functools
import hashlib
import math
import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Any
from urllib.parse import urlsplit

import msgspec

from retinue.kit.clock import instant
from retinue.tables.models import Column, ColumnType

LONGEST_TEXT = 65_536
LONGEST_INDEXED = 500
LARGEST_JSON = 65_536
MOST_CHOICES = 100
LARGEST_INTEGER = 2**53 - 1
"""Whole numbers that every reader of JSON and both databases keep exactly."""

NUMBERS = frozenset({ColumnType.number, ColumnType.integer, ColumnType.boolean})
TEXTS = frozenset(
    {
        ColumnType.text,
        ColumnType.email,
        ColumnType.url,
        ColumnType.select,
        ColumnType.date,
        ColumnType.datetime,
        ColumnType.file,
        ColumnType.reference,
    }
)

_EMAIL = re.compile(r'[^\s@\x00-\x1f<>(),;:\\"\[\]]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+')
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_YES, _NO = {"true", "yes", "1", "y", "on"}, {"false", "no", "0", "n", "off"}
# What a spreadsheet would read as a formula; our exports put an apostrophe before it.
_GUARDED = re.compile(r"'+[=+\-@\t\r]")

Read = Callable[[Any], Any]


class BadValue(ValueError):
    """A value that the column does not take; the text is for the person who sent it."""


def reader(column: Column) -> Read:
    """Turns a JSON value into what is stored and shown, or raises `BadValue`; never called with None."""
    kind = column.type
    if kind is ColumnType.text and column.indexed:
        return _indexed_text
    if kind is ColumnType.url and column.indexed:
        return lambda value: _short(_url(value))
    if kind is ColumnType.select:
        return functools.partial(_choice, frozenset(column.options))
    if kind is ColumnType.multi_select:
        return functools.partial(_choices, frozenset(column.options))
    return _READERS[kind]


def cell_reader(column: Column, *, of_sheet: bool = True) -> Read:
    """The same for a cell of a file: text is read as what it means, and blank is no value.

    In a sheet an apostrophe before what would be a formula is not part of the text, and blank text is none.
    """
    read = reader(column)
    from_text = _FROM_TEXT.get(column.type)
    is_text = column.type in {ColumnType.text, ColumnType.select}

    def read_text(value: Any) -> Any:
        if value.__class__ is str:
            if of_sheet:
                return read(_unguarded(value)) if value else None
            return read(value)
        return None if value is None else read(_as_text(value))

    def read_other(value: Any) -> Any:
        if value.__class__ is not str:
            return None if value is None else read(value)
        text = value.strip()
        if not text:
            return None
        if text[0] == "'":
            text = _unguarded(text)
        return read(text if from_text is None else from_text(text))

    return read_text if is_text else read_other


def _unguarded(text: str) -> str:
    return text[1:] if text[0] == "'" and _GUARDED.match(text) else text


def slot_value(column: Column, value: Any) -> Any:
    """What goes into the column's indexed place."""
    return float(value) if column.type in NUMBERS else value


def unique_text(value: Any) -> str:
    """A value as text that is the same for the same value only; long ones by their hash."""
    text = value if value.__class__ is str else msgspec.json.encode(value, order="sorted").decode()
    if len(text) <= 200:
        return text
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _plain(value: Any) -> str:
    if value.__class__ is not str:
        raise BadValue("must be text")
    if "\0" in value:
        raise BadValue("must not contain the character U+0000")
    return value


def _text(value: Any) -> str:
    text = _plain(value)
    if len(text) > LONGEST_TEXT:
        raise BadValue(f"must have at most {LONGEST_TEXT:,} characters")
    return text


def _short(text: str) -> str:
    if len(text) > LONGEST_INDEXED:
        raise BadValue(f"must have at most {LONGEST_INDEXED} characters, because the column is indexed")
    return text


def _indexed_text(value: Any) -> str:
    return _short(_plain(value))


def _number(value: Any) -> float | int:
    if value.__class__ is int and -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
        return value
    if value.__class__ not in {int, float}:
        raise BadValue("must be a number")
    try:
        number = float(value)
    except OverflowError:
        raise BadValue("is too large") from None
    if not math.isfinite(number):
        raise BadValue("must be a finite number")
    # The same on both databases: PostgreSQL forgets how a whole number was written.
    return int(number) if number.is_integer() and abs(number) <= LARGEST_INTEGER else number


def _integer(value: Any) -> int:
    number = _number(value)
    if number.__class__ is not int:
        raise BadValue(f"must be a whole number of at most {LARGEST_INTEGER:,}")
    return number


def _boolean(value: Any) -> bool:
    if value.__class__ is not bool:
        raise BadValue("must be true or false")
    return value


def _date(value: Any) -> str:
    text = _plain(value)
    try:
        if _DATE.fullmatch(text):
            date.fromisoformat(text)
            return text
    except ValueError:
        pass
    raise BadValue("must be a date such as 2026-11-15")


def _datetime(value: Any) -> str:
    try:
        return instant(datetime.fromisoformat(_plain(value)))
    except (ValueError, OverflowError):
        raise BadValue("must be a date and time such as 2026-11-15T08:30:00Z") from None


def _email(value: Any) -> str:
    text = _plain(value)
    if len(text) > 254 or not _EMAIL.fullmatch(text):
        raise BadValue("must be an e-mail address")
    return text


def _url(value: Any) -> str:
    text = _plain(value)
    try:
        parts = urlsplit(text)
        is_good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good or len(text) > 2048 or any(character.isspace() for character in text):
        raise BadValue("must be an address that begins with http:// or https://")
    return text


def _choice(options: frozenset[str], value: Any) -> str:
    if value.__class__ is not str or value not in options:
        raise BadValue("must be one of the column's options")
    return value


def _choices(options: frozenset[str], value: Any) -> list[str]:
    if value.__class__ is not list or len(value) > MOST_CHOICES:
        raise BadValue("must be a list of the column's options")
    return list(dict.fromkeys(_choice(options, one) for one in value))


def _json(value: Any) -> Any:
    try:
        encoded = msgspec.json.encode(value)
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError):
        raise BadValue("is not a JSON value that can be stored") from None
    if len(encoded) > LARGEST_JSON:
        raise BadValue(f"must have at most {LARGEST_JSON:,} bytes as JSON")
    if rb"\u0000" in encoded:
        raise BadValue("must not contain the character U+0000")
    return value


def _id_of(prefix: str) -> Read:
    pattern = re.compile(rf"{prefix}_[a-z0-9]{{1,60}}")

    def read(value: Any) -> str:
        if value.__class__ is not str or not pattern.fullmatch(value):
            raise BadValue(f"must be an id that begins with {prefix}_")
        return value

    return read


_READERS: dict[ColumnType, Read] = {
    ColumnType.text: _text,
    ColumnType.number: _number,
    ColumnType.integer: _integer,
    ColumnType.boolean: _boolean,
    ColumnType.date: _date,
    ColumnType.datetime: _datetime,
    ColumnType.email: _email,
    ColumnType.url: _url,
    ColumnType.json: _json,
    ColumnType.file: _id_of("file"),
    ColumnType.reference: _id_of("row"),
}


def _number_from(text: str) -> Any:
    if text.isdigit() and len(text) < 16 and text.isascii():
        return int(text)
    try:
        # Python takes 1_000 for a number; hardly anyone else does.
        if "_" not in text:
            return float(text)
    except ValueError:
        pass
    raise BadValue("must be a number")


def _boolean_from(text: str) -> Any:
    lowered = text.lower()
    if lowered in _YES:
        return True
    if lowered in _NO:
        return False
    raise BadValue("must be true or false")


def _choices_from(text: str) -> Any:
    if text.startswith("["):
        return _json_from(text)
    return [part.strip() for part in text.split(";") if part.strip()]


def _json_from(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        raise BadValue("must be JSON") from None


def _as_text(value: Any) -> Any:
    """A number in a cell of text: `7` and not `7.0`, as the sheet shows it."""
    if value.__class__ is bool:
        return "true" if value else "false"
    if value.__class__ is float and value.is_integer() and abs(value) <= LARGEST_INTEGER:
        return str(int(value))
    return str(value) if value.__class__ in {int, float} else value


_FROM_TEXT: dict[ColumnType, Callable[[str], Any]] = {
    ColumnType.number: _number_from,
    ColumnType.integer: _number_from,
    ColumnType.boolean: _boolean_from,
    ColumnType.multi_select: _choices_from,
    ColumnType.json: _json_from,
}
