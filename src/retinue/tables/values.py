"""The values each column type accepts, from JSON and from the cells of a file."""

import functools
import hashlib
import math
import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import msgspec

from retinue.kit.clock import to_instant
from retinue.kit.network_addresses import split_url
from retinue.tables.models import Column, ColumnType

MAX_TEXT_LENGTH = 65_536
MAX_INDEXED_LENGTH = 500
MAX_JSON_BYTES = 65_536
MAX_CHOICES = 100
MAX_SAFE_INTEGER = 2**53 - 1
"""The largest integer that all JSON readers and both databases keep exactly."""

NUMERIC_TYPES = frozenset({ColumnType.number, ColumnType.integer, ColumnType.boolean})
TEXT_TYPES = frozenset(
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
# Text that our exports prefixed with an apostrophe, because a spreadsheet would run it as a formula.
_ESCAPED_FORMULA = re.compile(r"'+[=+\-@\t\r]")

Read = Callable[[Any], Any]


class BadValue(ValueError):
    """A value that the column does not accept; the message is for the person who sent it."""


def value_reader(column: Column) -> Read:
    """Return a function that normalizes a JSON value or raises `BadValue`. It is never called with None."""
    kind = column.type
    if kind is ColumnType.text and column.indexed:
        return _indexed_text
    if kind is ColumnType.url and column.indexed:
        return lambda value: _require_indexable(_url(value))
    if kind is ColumnType.select:
        return functools.partial(_choice, frozenset(column.options))
    if kind is ColumnType.multi_select:
        return functools.partial(_choices, frozenset(column.options))
    return _READERS[kind]


def cell_reader(column: Column, *, of_sheet: bool = True) -> Read:
    """Return a function that parses a cell of a file; blank cells have no value.

    In sheets, the apostrophe before a would-be formula is removed and empty text is no value.
    """
    read = value_reader(column)
    from_text = _FROM_TEXT.get(column.type)
    is_text = column.type in {ColumnType.text, ColumnType.select}

    def read_text(value: object) -> Any:
        if value.__class__ is str:
            if of_sheet:
                return read(_unescape_formula(value)) if value else None
            return read(value)
        return None if value is None else read(_as_text(value))

    def read_other(value: object) -> Any:
        if value.__class__ is not str:
            return None if value is None else read(value)
        text = value.strip()
        if not text:
            return None
        if text[0] == "'":
            text = _unescape_formula(text)
        return read(text if from_text is None else from_text(text))

    return read_text if is_text else read_other


def _unescape_formula(text: str) -> str:
    return text[1:] if text[0] == "'" and _ESCAPED_FORMULA.match(text) else text


def slot_value(column: Column, value: Any) -> Any:
    """Return the value for the column's index slot."""
    return float(value) if column.type in NUMERIC_TYPES else value


def unique_text(value: object) -> str:
    """Return text that is equal for equal values only; long values are hashed."""
    text = value if value.__class__ is str else msgspec.json.encode(value, order="sorted").decode()
    if len(text) <= 200:
        return text
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _require_text(value: object) -> str:
    if value.__class__ is not str:
        raise BadValue("must be text")
    if "\0" in value:
        raise BadValue("must not contain the character U+0000")
    return value


def _text(value: object) -> str:
    text = _require_text(value)
    if len(text) > MAX_TEXT_LENGTH:
        raise BadValue(f"must be at most {MAX_TEXT_LENGTH:,} characters")
    return text


def _require_indexable(text: str) -> str:
    if len(text) > MAX_INDEXED_LENGTH:
        raise BadValue(f"must be at most {MAX_INDEXED_LENGTH} characters, because the column is indexed")
    return text


def _indexed_text(value: object) -> str:
    return _require_indexable(_require_text(value))


def _number(value: object) -> float | int:
    if value.__class__ is int and -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
        return value
    if value.__class__ not in {int, float}:
        raise BadValue("must be a number")
    try:
        number = float(value)
    except OverflowError:
        raise BadValue("is too large") from None
    if not math.isfinite(number):
        raise BadValue("must be a finite number")
    # Normalize for both databases: PostgreSQL does not keep whether a whole number was written as 1 or 1.0.
    return int(number) if number.is_integer() and abs(number) <= MAX_SAFE_INTEGER else number


def _integer(value: object) -> int:
    number = _number(value)
    if number.__class__ is not int:
        raise BadValue(f"must be a whole number of at most {MAX_SAFE_INTEGER:,}")
    return number


def _boolean(value: object) -> bool:
    if value.__class__ is not bool:
        raise BadValue("must be true or false")
    return value


def _date(value: object) -> str:
    text = _require_text(value)
    try:
        if _DATE.fullmatch(text):
            date.fromisoformat(text)
            return text
    except ValueError:
        pass
    raise BadValue("must be a date such as 2026-11-15")


def _datetime(value: object) -> str:
    try:
        return to_instant(datetime.fromisoformat(_require_text(value)))
    except (ValueError, OverflowError):
        raise BadValue("must be a date and time such as 2026-11-15T08:30:00Z") from None


def _email(value: object) -> str:
    text = _require_text(value)
    if len(text) > 254 or not _EMAIL.fullmatch(text):
        raise BadValue("must be an e-mail address")
    return text


def _url(value: object) -> str:
    text = _require_text(value)
    try:
        parts = split_url(text)
        is_good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good or len(text) > 2048 or any(character.isspace() for character in text):
        raise BadValue("must be a URL that begins with http:// or https://")
    return text


def _choice(options: frozenset[str], value: object) -> str:
    if value.__class__ is not str or value not in options:
        raise BadValue("must be one of the column's options")
    return value


def _choices(options: frozenset[str], value: object) -> list[str]:
    if value.__class__ is not list or len(value) > MAX_CHOICES:
        raise BadValue("must be a list of the column's options")
    return list(dict.fromkeys(_choice(options, item) for item in value))


def _json(value: object) -> Any:
    try:
        encoded = msgspec.json.encode(value)
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError):
        raise BadValue("cannot be stored as JSON") from None
    if len(encoded) > MAX_JSON_BYTES:
        raise BadValue(f"must be at most {MAX_JSON_BYTES:,} bytes as JSON")
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
        # Python accepts 1_000 as a number; hardly anything else does.
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


def _as_text(value: object) -> Any:
    """Return a number in a text cell as the sheet shows it: `7`, not `7.0`."""
    if value.__class__ is bool:
        return "true" if value else "false"
    if value.__class__ is float and value.is_integer() and abs(value) <= MAX_SAFE_INTEGER:
        return str(int(value))
    return str(value) if value.__class__ in {int, float} else value


_FROM_TEXT: dict[ColumnType, Callable[[str], Any]] = {
    ColumnType.number: _number_from,
    ColumnType.integer: _number_from,
    ColumnType.boolean: _boolean_from,
    ColumnType.multi_select: _choices_from,
    ColumnType.json: _json_from,
}
