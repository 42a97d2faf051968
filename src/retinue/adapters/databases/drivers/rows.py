"""Conversion of query results to JSON, with a size limit."""

import base64
import datetime as dt
import decimal
import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from retinue.adapters.databases.errors import ResultTooLarge
from retinue.kit.clock import to_instant
from retinue.kit.json_types import JsonObject

MAX_RESULT_BYTES = 1024 * 1024
# The limit on received bytes: binary forms are never longer than this multiple of their JSON.
MAX_RECEIVED_BYTES = 8 * MAX_RESULT_BYTES

_UINT64_LIMIT = 2**64
_encode = msgspec.json.Encoder().encode


class Rows(msgspec.Struct, frozen=True):
    """A query result; `row_count` is the number of rows returned, or changed by the statement."""

    columns: list[str]
    rows: list[JsonObject]
    row_count: int
    truncated: bool = False


def build_rows(
    columns: Sequence[str], fetched: Iterable[Sequence[Any]], max_rows: int, changed: int | None = None
) -> Rows:
    """Build the result; `fetched` may contain one row beyond `max_rows`, which marks it as truncated."""
    names = _unique_names(columns)
    rows: list[JsonObject] = []
    size, truncated = 0, False
    for row in fetched:
        if len(rows) == max_rows:
            truncated = True
            break
        rows.append({name: to_json_value(value) for name, value in zip(names, row, strict=True)})
        size += len(_encode(rows[-1]))
        if size > MAX_RESULT_BYTES:
            raise ResultTooLarge
    return Rows(names, rows, len(rows) if changed is None else changed, truncated)


def _unique_names(columns: Sequence[str]) -> list[str]:
    """Return distinct column names: the second `id` of a join becomes `id_2`, and our quotes are removed."""
    names: dict[str, None] = {}
    for column in columns:
        plain = column.replace("`", "")
        name, number = plain, 1
        while name in names:
            number += 1
            name = f"{plain}_{number}"
        names[name] = None
    return list(names)


def decode_json_columns(row: Iterable[Any], json_columns: Container[int]) -> list[Any]:
    """Return the row with these columns decoded from JSON."""
    return [_decode_json(value) if index in json_columns else value for index, value in enumerate(row)]


def _decode_json(text: str | None) -> Any:
    try:
        return None if text is None else msgspec.json.decode(text)
    except msgspec.DecodeError:
        # PostgreSQL's numbers are unbounded.
        return text


def to_json_value(value: object) -> Any:
    """Convert a value to JSON; numbers that would lose precision become strings, bytes become base64."""
    if value is None or isinstance(value, str | bool):
        return value
    for kind, convert in _CONVERSIONS:
        if isinstance(value, kind):
            return convert(value)
    return str(value)


def _integer(value: int) -> int | str:
    return int(value) if -_UINT64_LIMIT // 2 <= value < _UINT64_LIMIT else str(value)


def _float(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _decimal(value: decimal.Decimal) -> int | float | str:
    if not value.is_finite():
        return str(value)
    if value == value.to_integral_value() and abs(value) < 2**53:
        return int(value)
    # Numbers of sixteen or more digits may change when they are parsed.
    is_exact = len(value.as_tuple().digits) <= 15 and decimal.Decimal(repr(float(value))) == value
    return float(value) if is_exact else format(value, "f")


def _format_timestamp(value: dt.datetime) -> str:
    return to_instant(value) if value.tzinfo else value.isoformat()


def _duration(value: dt.timedelta) -> str:
    """Return an ISO 8601 duration such as `P1DT3600.5S`."""
    seconds = decimal.Decimal(value.seconds) + decimal.Decimal(value.microseconds) / 1_000_000
    return f"P{value.days}DT{seconds.normalize():f}S"


def _mapping(value: Mapping[Any, Any]) -> JsonObject:
    return {str(key): to_json_value(item) for key, item in value.items()}


_CONVERSIONS: tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...] = (
    (int, _integer),
    (float, _float),
    (decimal.Decimal, _decimal),
    (dt.datetime, _format_timestamp),
    ((dt.date, dt.time), lambda value: value.isoformat()),
    (dt.timedelta, _duration),
    ((bytes, bytearray, memoryview), lambda value: base64.b64encode(value).decode()),
    (Mapping, _mapping),
    ((list, tuple, set, frozenset), lambda value: [to_json_value(item) for item in value]),
)
