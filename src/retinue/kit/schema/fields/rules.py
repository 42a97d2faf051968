"""Validation of a field's `validation` object; keys that do not apply to the field's type are ignored."""

import math
from datetime import UTC, date, datetime
from typing import Any

from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.json_schema import JsonSchema, compile_schema

Problems = dict[str, str]

MAX_PATTERN_LENGTH = 512
_MAX_LENGTH_RULE = 1_000_000
_MAX_FILE_MB = 100

_LENGTHS = ("min_length", "max_length")
_NUMBERS = ("min", "max", "step")
_COUNTS = ("min_selections", "max_selections")
_DATES = ("min_date", "max_date")
RULE_NAMES: dict[str, tuple[str, ...]] = {
    "text": (*_LENGTHS, "pattern"),
    "textarea": _LENGTHS,
    "phone": ("pattern",),
    "number": _NUMBERS,
    "slider": _NUMBERS,
    "multi_select": _COUNTS,
    "checkbox_group": _COUNTS,
    "date": _DATES,
    "datetime": _DATES,
    "file": ("allowed_types", "max_size_mb"),
    "rating": ("max",),
}


def rule_problems(type: str, validation: JsonObject, here: str) -> Problems:
    problems: Problems = {}
    for name in RULE_NAMES.get(type, ()):
        value = validation.get(name)
        fault = None if value is None else _fault(type, name, value)
        if fault:
            problems[f"{here}.{name}"] = fault
    if problems:
        return problems
    return _order_problems(type, validation, here)


def _fault(type: str, name: str, value: Any) -> str | None:
    if name in _LENGTHS or name in _COUNTS:
        return _number_fault(value, least=0, most=_MAX_LENGTH_RULE, is_whole=True)
    if name in _NUMBERS:
        return _bound_fault(type, name, value)
    if name == "pattern":
        return _pattern_fault(value)
    if name in _DATES:
        return _date_fault(type, value)
    if name == "max_size_mb":
        fault = _number_fault(value, least=0, most=_MAX_FILE_MB)
        return "must be more than 0" if fault is None and value <= 0 else fault
    return _types_fault(value)


def _bound_fault(type: str, name: str, value: Any) -> str | None:
    if type == "rating":
        return _number_fault(value, least=1, most=100, is_whole=True)
    fault = _number_fault(value)
    return "must be more than 0" if fault is None and name == "step" and value <= 0 else fault


def _number_fault(
    value: object, *, least: float = -math.inf, most: float = math.inf, is_whole: bool = False
) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int if is_whole else int | float):
        return "must be a whole number" if is_whole else "must be a number"
    if isinstance(value, float) and not math.isfinite(value):
        return "must be a number"
    if not least <= value <= most:
        return f"must be from {least} to {most}"
    return None


def _pattern_fault(value: object) -> str | None:
    if not isinstance(value, str):
        return "must be text"
    if len(value) > MAX_PATTERN_LENGTH:
        return f"may have at most {MAX_PATTERN_LENGTH} characters"
    try:
        compiled_pattern(value)
    except Invalid:
        return "must be a valid regular expression without look-around and back-references"
    return None


def compiled_pattern(pattern: str) -> JsonSchema:
    """Compile a pattern that matches the whole text in linear time, as `pattern` does in HTML."""
    return compile_schema({"type": "string", "pattern": f"^(?:{pattern})$"}, "pattern")


def _date_fault(type: str, value: object) -> str | None:
    try:
        if not isinstance(value, str):
            return "must be text"
        parse_day(value) if type == "date" else parse_datetime(value)
    except ValueError:
        example = "2026-11-15" if type == "date" else "2026-11-15T08:30:00Z"
        return f"must be a date such as {example}"
    return None


def parse_day(text: str) -> date:
    """Return the date of a date or a date and time."""
    return date.fromisoformat(text[:10]) if len(text) == 10 else parse_datetime(text).date()


def parse_datetime(text: str) -> datetime:
    """Parse a date and time, in UTC unless it has an offset; a date means its first moment."""
    if len(text) < 10 or text[4] != "-":
        raise ValueError(text)
    try:
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError as error:
        raise ValueError(text) from error


def _types_fault(value: object) -> str | None:
    if isinstance(value, str):
        return None if len(value) <= 1000 else "must be at most 1000 characters"
    if not isinstance(value, list) or len(value) > 100:
        return "must be a list of at most 100 file extensions"
    if not all(isinstance(entry, str) and 0 < len(entry) <= 32 for entry in value):
        return "must be a list of file extensions, each with at most 32 characters"
    return None


def _order_problems(type: str, validation: JsonObject, here: str) -> Problems:
    """Report a minimum above its maximum."""
    keys = RULE_NAMES.get(type, ())
    for least, most in (_LENGTHS, ("min", "max"), _COUNTS, _DATES):
        if least not in keys or validation.get(least) is None or validation.get(most) is None:
            continue
        low, high = validation[least], validation[most]
        if least in _DATES:
            low, high = parse_datetime(low), parse_datetime(high)
        if low > high:
            return {f"{here}.{most}": f"must not be less than {least}"}
    return {}
