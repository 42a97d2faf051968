"""What may stand in a field's `validation`; a key that means nothing for its type is not looked at."""

import math
from datetime import UTC, date, datetime
from typing import Any

from retinue.kit.errors import Invalid
from retinue.kit.json_schemas import JsonSchema, compile_schema

Problems = dict[str, str]

LONGEST_PATTERN = 512
_MOST_LENGTH = 1_000_000
_LARGEST_FILE_MB = 100

_LENGTHS = ("min_length", "max_length")
_NUMBERS = ("min", "max", "step")
_COUNTS = ("min_selections", "max_selections")
_DATES = ("min_date", "max_date")
_KEYS: dict[str, tuple[str, ...]] = {
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


def rule_problems(type: str, validation: dict[str, Any], here: str) -> Problems:
    problems: Problems = {}
    for name in _KEYS.get(type, ()):
        value = validation.get(name)
        fault = None if value is None else _fault(type, name, value)
        if fault:
            problems[f"{here}.{name}"] = fault
    if problems:
        return problems
    return _order_problems(type, validation, here)


def _fault(type: str, name: str, value: Any) -> str | None:
    if name in _LENGTHS or name in _COUNTS:
        return _number_fault(value, least=0, most=_MOST_LENGTH, is_whole=True)
    if name in _NUMBERS:
        return _bound_fault(type, name, value)
    if name == "pattern":
        return _pattern_fault(value)
    if name in _DATES:
        return _date_fault(type, value)
    if name == "max_size_mb":
        fault = _number_fault(value, least=0, most=_LARGEST_FILE_MB)
        return "must be more than 0" if fault is None and value <= 0 else fault
    return _types_fault(value)


def _bound_fault(type: str, name: str, value: Any) -> str | None:
    if type == "rating":
        return _number_fault(value, least=1, most=100, is_whole=True)
    fault = _number_fault(value)
    return "must be more than 0" if fault is None and name == "step" and value <= 0 else fault


def _number_fault(
    value: Any, *, least: float = -math.inf, most: float = math.inf, is_whole: bool = False
) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int if is_whole else int | float):
        return "must be a whole number" if is_whole else "must be a number"
    if isinstance(value, float) and not math.isfinite(value):
        return "must be a number"
    if not least <= value <= most:
        return f"must be from {least} to {most}"
    return None


def _pattern_fault(value: Any) -> str | None:
    if not isinstance(value, str):
        return "must be text"
    if len(value) > LONGEST_PATTERN:
        return f"may have at most {LONGEST_PATTERN} characters"
    try:
        compiled_pattern(value)
    except Invalid:
        return "is not a regular expression that can be used here: no look-around, no back-references"
    return None


def compiled_pattern(pattern: str) -> JsonSchema:
    """Matches in linear time, and the whole text, as `pattern` does in a page."""
    return compile_schema({"type": "string", "pattern": f"^(?:{pattern})$"}, "pattern")


def _date_fault(type: str, value: Any) -> str | None:
    try:
        if not isinstance(value, str):
            return "must be text"
        read_day(value) if type == "date" else read_moment(value)
    except ValueError:
        example = "2026-11-15" if type == "date" else "2026-11-15T08:30:00Z"
        return f"must be a date such as {example}"
    return None


def read_day(text: str) -> date:
    """A day; of a moment, its day."""
    return date.fromisoformat(text[:10]) if len(text) == 10 else read_moment(text).date()


def read_moment(text: str) -> datetime:
    """A moment, in UTC where it does not say; a day is its beginning."""
    if len(text) < 10 or text[4] != "-":
        raise ValueError(text)
    try:
        found = datetime.fromisoformat(text)
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    except OverflowError as error:
        raise ValueError(text) from error


def _types_fault(value: Any) -> str | None:
    if isinstance(value, str):
        return None if len(value) <= 1000 else "is too long"
    if not isinstance(value, list) or len(value) > 100:
        return "must be a list of at most 100 file endings"
    if not all(isinstance(one, str) and 0 < len(one) <= 32 for one in value):
        return "must be a list of file endings"
    return None


def _order_problems(type: str, validation: dict[str, Any], here: str) -> Problems:
    """A least that is more than the most lets nothing through."""
    keys = _KEYS.get(type, ())
    for least, most in (_LENGTHS, ("min", "max"), _COUNTS, _DATES):
        if least not in keys or validation.get(least) is None or validation.get(most) is None:
            continue
        low, high = validation[least], validation[most]
        if least in _DATES:
            low, high = read_moment(low), read_moment(high)
        if low > high:
            return {f"{here}.{most}": f"must not be less than {least}"}
    return {}
