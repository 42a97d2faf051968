"""A value of one type of column as a value of another, where it means the same."""

from collections.abc import Callable
from typing import Any

import msgspec

from retinue.tables.models import Column, ColumnType
from retinue.tables.values import NUMBERS, BadValue, cell_reader, reader

_MIDNIGHT = "T00:00:00.000000Z"
_PLAIN = {ColumnType.text, ColumnType.email, ColumnType.url, ColumnType.select}


def converted(before: Column, after: Column) -> Callable[[Any], Any]:
    """Turns values of the one column into values of the other, or raises `BadValue`."""
    if before.type is after.type:
        return reader(after)
    read = cell_reader(after, of_sheet=False)
    prepare = _preparation(before.type, after.type)
    return lambda value: read(prepare(value))


def _preparation(before: ColumnType, after: ColumnType) -> Callable[[Any], Any]:
    if after in NUMBERS and before in NUMBERS:
        return _truth if after is ColumnType.boolean else _number
    if after is ColumnType.date and before is ColumnType.datetime:
        return _day
    if after is ColumnType.multi_select and before in _PLAIN:
        return lambda value: [value] if before is ColumnType.select else value
    if after in _PLAIN:
        return _text
    if after is ColumnType.json:
        return lambda value: msgspec.json.encode(value).decode()
    return _same


def _same(value: Any) -> Any:
    return value


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value


def _truth(value: Any) -> bool:
    if value in (0, 1):
        return bool(value)
    raise BadValue("only 0 and 1 can be a truth value")


def _day(value: str) -> str:
    if not value.endswith(_MIDNIGHT):
        raise BadValue("has a time of day")
    return value.removesuffix(_MIDNIGHT)


def _text(value: Any) -> Any:
    if isinstance(value, list | dict):
        if isinstance(value, list) and all(isinstance(one, str) and ";" not in one for one in value):
            return "; ".join(value)
        return msgspec.json.encode(value).decode()
    return value
