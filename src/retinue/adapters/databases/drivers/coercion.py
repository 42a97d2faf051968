"""Conversion of JSON values for PostgreSQL: asyncpg expects a date object rather than its text."""

import base64
import datetime as dt
import decimal
from collections.abc import Callable
from typing import Any

import msgspec

from retinue.adapters.databases.errors import QueryFailed

_TEXT_TYPES = {"text", "varchar", "bpchar", "name", "citext", "char", "unknown"}


def coerce_parameter(value: object, type_name: str) -> Any:
    """Return the value in the form asyncpg expects for this type; values of other types are unchanged."""
    if value is None:
        return None
    if type_name.endswith("[]") and isinstance(value, list):
        return [coerce_parameter(item, type_name.removesuffix("[]")) for item in value]
    convert = _CONVERSIONS.get(type_name)
    try:
        return convert(value) if convert else value
    except (ValueError, TypeError, ArithmeticError):
        raise QueryFailed(f"A parameter's value does not match its type, {type_name[:60]}.") from None


def _text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _integer(value: Any) -> int:
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise ValueError
    return int(value)


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _seconds(value: Any) -> dt.timedelta:
    return dt.timedelta(seconds=float(value))


def _parse_timestamp(value: Any) -> dt.datetime:
    return dt.datetime.fromisoformat(value)


def _aware(value: object) -> dt.datetime:
    moment = _parse_timestamp(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


def _naive(value: object) -> dt.datetime:
    moment = _parse_timestamp(value)
    return moment.astimezone(dt.UTC).replace(tzinfo=None) if moment.tzinfo else moment


def _bytes(value: Any) -> bytes:
    return base64.b64decode(value, validate=True)


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_TEXT_TYPES | {"json", "jsonb"}, _text),
    **dict.fromkeys(("int2", "int4", "int8"), _integer),
    **dict.fromkeys(("float4", "float8"), float),
    "numeric": lambda value: decimal.Decimal(str(value)),
    "bool": _boolean,
    "date": dt.date.fromisoformat,
    "time": dt.time.fromisoformat,
    "timetz": dt.time.fromisoformat,
    "timestamp": _naive,
    "timestamptz": _aware,
    "interval": _seconds,
    "bytea": _bytes,
}
