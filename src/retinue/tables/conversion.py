"""Conversion of values from one column type to another without loss."""

from collections.abc import Callable
from typing import Any

import msgspec

from retinue.tables.models import Column, ColumnType
from retinue.tables.values import NUMERIC_TYPES, BadValue, cell_reader, value_reader

_MIDNIGHT = "T00:00:00.000000Z"
_PLAIN = {ColumnType.text, ColumnType.email, ColumnType.url, ColumnType.select}


def build_converter(before: Column, after: Column) -> Callable[[Any], Any]:
    """Return a function that converts values of one column for the other, or raises `BadValue`."""
    if before.type is after.type:
        return value_reader(after)
    read = cell_reader(after, of_sheet=False)
    prepare = _preparation(before.type, after.type)
    return lambda value: read(prepare(value))


def _preparation(before: ColumnType, after: ColumnType) -> Callable[[Any], Any]:
    if after in NUMERIC_TYPES and before in NUMERIC_TYPES:
        return _to_boolean if after is ColumnType.boolean else _to_number
    if after is ColumnType.date and before is ColumnType.datetime:
        return _to_date
    if after is ColumnType.multi_select and before in _PLAIN:
        return lambda value: [value] if before is ColumnType.select else value
    if after in _PLAIN:
        return _to_text
    if after is ColumnType.json:
        return lambda value: msgspec.json.encode(value).decode()
    return _identity


def _identity(value: object) -> Any:
    return value


def _to_number(value: object) -> Any:
    return int(value) if isinstance(value, bool) else value


def _to_boolean(value: object) -> bool:
    if value in (0, 1):
        return bool(value)
    raise BadValue("must be 0 or 1 to become true or false")


def _to_date(value: str) -> str:
    if not value.endswith(_MIDNIGHT):
        raise BadValue("has a time of day")
    return value.removesuffix(_MIDNIGHT)


def _to_text(value: object) -> Any:
    if isinstance(value, list | dict):
        if isinstance(value, list) and all(isinstance(item, str) and ";" not in item for item in value):
            return "; ".join(value)
        return msgspec.json.encode(value).decode()
    return value
