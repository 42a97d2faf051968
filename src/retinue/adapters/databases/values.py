"""Results as JSON can hold them, and not more of them than anyone should be sent."""

import base64
import datetime as dt
import decimal
import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from retinue.adapters.databases.errors import ResultTooLarge
from retinue.kit.clock import instant

MAX_RESULT_BYTES = 1024 * 1024
# What a driver may receive for it: binary forms can be longer than their JSON, but not by more than this.
MAX_RECEIVED_BYTES = 8 * MAX_RESULT_BYTES

_LARGEST_INTEGER = 2**64
_encode = msgspec.json.Encoder().encode


class Rows(msgspec.Struct, frozen=True):
    """`row_count` is how many rows are here, or how many a statement changed."""

    columns: list[str]
    rows: list[dict[str, Any]]
    row_count: int
    truncated: bool = False


def rows_of(
    columns: Sequence[str], found: Iterable[Sequence[Any]], max_rows: int, changed: int | None = None
) -> Rows:
    """`found` may hold one row more than wanted, which shows that the result was cut."""
    names = _distinct(columns)
    rows: list[dict[str, Any]] = []
    size, truncated = 0, False
    for row in found:
        if len(rows) == max_rows:
            truncated = True
            break
        rows.append({name: jsonable(value) for name, value in zip(names, row, strict=True)})
        size += len(_encode(rows[-1]))
        if size > MAX_RESULT_BYTES:
            raise ResultTooLarge
    return Rows(names, rows, len(rows) if changed is None else changed, truncated)


def _distinct(columns: Sequence[str]) -> list[str]:
    """The second `id` of a join is `id_2`; an expression is named by its text, without our quotes."""
    names: dict[str, None] = {}
    for column in columns:
        plain = column.replace("`", "")
        name, number = plain, 1
        while name in names:
            number += 1
            name = f"{plain}_{number}"
        names[name] = None
    return list(names)


def with_json(row: Iterable[Any], json_columns: Container[int]) -> list[Any]:
    """The row with the text of these columns read as JSON."""
    return [_parsed(value) if index in json_columns else value for index, value in enumerate(row)]


def _parsed(text: str | None) -> Any:
    try:
        return None if text is None else msgspec.json.decode(text)
    except msgspec.DecodeError:
        # PostgreSQL's numbers have no largest.
        return text


def jsonable(value: Any) -> Any:
    """Numbers stay numbers where JSON can say them exactly; bytes become base64, times ISO 8601."""
    if value is None or isinstance(value, str | bool):
        return value
    for kind, convert in _CONVERSIONS:
        if isinstance(value, kind):
            return convert(value)
    return str(value)


def _integer(value: int) -> int | str:
    return int(value) if -_LARGEST_INTEGER // 2 <= value < _LARGEST_INTEGER else str(value)


def _float(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _decimal(value: decimal.Decimal) -> int | float | str:
    if not value.is_finite():
        return str(value)
    if value == value.to_integral_value() and abs(value) < 2**53:
        return int(value)
    # Sixteen digits and more could be another number by the time they are read.
    is_exact = len(value.as_tuple().digits) <= 15 and decimal.Decimal(repr(float(value))) == value
    return float(value) if is_exact else format(value, "f")


def _moment(value: dt.datetime) -> str:
    return instant(value) if value.tzinfo else value.isoformat()


def _duration(value: dt.timedelta) -> str:
    """ISO 8601: `P1DT3600.5S`."""
    seconds = decimal.Decimal(value.seconds) + decimal.Decimal(value.microseconds) / 1_000_000
    return f"P{value.days}DT{seconds.normalize():f}S"


def _mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key): jsonable(item) for key, item in value.items()}


_CONVERSIONS: tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...] = (
    (int, _integer),
    (float, _float),
    (decimal.Decimal, _decimal),
    (dt.datetime, _moment),
    ((dt.date, dt.time), lambda value: value.isoformat()),
    (dt.timedelta, _duration),
    ((bytes, bytearray, memoryview), lambda value: base64.b64encode(value).decode()),
    (Mapping, _mapping),
    ((list, tuple, set, frozenset), lambda value: [jsonable(item) for item in value]),
)
