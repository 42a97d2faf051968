"""Event subscriptions: patterns for event names, and filters on event data.

A pattern is an event's name, a wildcard such as `form.*`, or `*`. Filters map a dotted path in the data to
the expected value, a list of allowed values, or comparisons that must all hold.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from retinue.kit.errors import Invalid

MAX_FILTERS = 50
MAX_FILTER_VALUES = 100
# Every event of a tenant is compared with all of its filters, in memory.
MAX_FILTERS_BYTES = 16 * 1024

_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+", re.ASCII)
_PATTERN = re.compile(r"\*|[a-z][a-z0-9_]*(\.[a-z0-9_]+)*\.\*", re.ASCII)
_PATH = re.compile(r"[^.\s]+(\.[^.\s]+)*")
_MAX_NAME_LENGTH = 200
_ABSENT: Any = object()


def is_event_name(text: str) -> bool:
    return len(text) <= _MAX_NAME_LENGTH and _NAME.fullmatch(text) is not None


def is_pattern(text: str) -> bool:
    return is_event_name(text) or (len(text) <= _MAX_NAME_LENGTH and _PATTERN.fullmatch(text) is not None)


def check_pattern(text: str, field: str) -> None:
    if not is_pattern(text):
        raise Invalid({field: _WRONG_PATTERN})


def check_patterns(texts: Sequence[str], field: str) -> None:
    wrong = {
        f"{field}.{position}": _WRONG_PATTERN for position, text in enumerate(texts) if not is_pattern(text)
    }
    if wrong:
        raise Invalid(wrong)


def matches_type(pattern: str, type: str) -> bool:
    """Return whether a validated pattern matches events of this type."""
    if not pattern.endswith("*"):
        return pattern == type
    return type.startswith(pattern[:-1])


def check_filters(filters: Mapping[str, Any], field: str = "filters") -> None:
    """Raise `Invalid` for filters that could not be evaluated."""
    if len(filters) > MAX_FILTERS:
        raise Invalid({field: f"may have at most {MAX_FILTERS} entries"})
    if len(msgspec.json.encode(filters)) > MAX_FILTERS_BYTES:
        raise Invalid({field: f"may have at most {MAX_FILTERS_BYTES // 1024} KiB"})
    wrong: dict[str, str] = {}
    for path, expected in filters.items():
        if len(path) > _MAX_NAME_LENGTH or not _PATH.fullmatch(path):
            wrong[field] = "must have field names as keys, such as form_id or metadata.source"
        elif problem := _problem(expected):
            wrong[f"{field}.{path}"] = problem
    if wrong:
        raise Invalid(wrong)


def matches_filters(filters: Mapping[str, Any], data: object) -> bool:
    """Return whether all of the validated filters match the data."""
    return all(_holds(expected, _value_at(data, path)) for path, expected in filters.items())


def _problem(expected: object) -> str | None:
    if isinstance(expected, dict):
        if not expected:
            return f"must use at least one of the operators {', '.join(_OPERATORS)}"
        return next(filter(None, (_operator_problem(name, value) for name, value in expected.items())), None)
    if isinstance(expected, list):
        return _list_problem(expected)
    return None


def _operator_problem(name: str, value: object) -> str | None:
    if name not in _OPERATORS:
        return f"must use only the operators {', '.join(_OPERATORS)}"
    if name == "exists":
        return None if isinstance(value, bool) else "exists must be true or false"
    if name in _ORDERINGS:
        is_ordered = isinstance(value, str) or _is_number(value)
        return None if is_ordered else f"{name} must be a number or text"
    return f"{name} must be a single value" if isinstance(value, dict | list) else None


def _list_problem(expected: list[Any]) -> str | None:
    if not 0 < len(expected) <= MAX_FILTER_VALUES:
        return f"must have 1 to {MAX_FILTER_VALUES} values"
    has_nested = any(isinstance(value, dict | list) for value in expected)
    return "must contain single values, not lists or objects" if has_nested else None


def _value_at(data: object, path: str) -> Any:
    """Return the value at a path; a leading `data.` is optional, but may also be a field of that name."""
    if path.startswith("data."):
        value = _walk(data, path.removeprefix("data."))
        if value is not _ABSENT:
            return value
    return _walk(data, path)


def _walk(value: object, path: str) -> Any:
    for name in path.split("."):
        if isinstance(value, dict):
            value = value.get(name, _ABSENT)
        elif isinstance(value, list) and name.isascii() and name.isdigit() and len(name) <= 6:
            value = value[int(name)] if int(name) < len(value) else _ABSENT
        else:
            return _ABSENT
    return value


def _holds(expected: object, actual: object) -> bool:
    if isinstance(expected, dict):
        return all(_OPERATORS[name](actual, value) for name, value in expected.items())
    if isinstance(expected, list):
        return _is_one_of(actual, expected)
    return _equal(actual, expected)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(actual: object, expected: object) -> bool:
    """Compare as JSON values: true is not 1, and 1 equals 1.0."""
    if isinstance(actual, bool) or isinstance(expected, bool):
        return actual is expected
    return bool(actual == expected)


def _is_one_of(actual: object, expected: list[Any]) -> bool:
    """Like `_equal` for each value, but faster: every event is compared with every filter value."""
    if actual is None or isinstance(actual, str):
        return actual in expected
    if isinstance(actual, bool):
        return any(value is actual for value in expected)
    return actual in [value for value in expected if value is not True and value is not False]


def _contains(actual: object, expected: object) -> bool:
    if isinstance(actual, str):
        return isinstance(expected, str) and expected in actual
    return isinstance(actual, list) and any(_equal(item, expected) for item in actual)


def _exists(actual: object, expected: object) -> bool:
    return (actual is not _ABSENT) is expected


def _ordering(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Compare numbers with numbers and text with text; any other comparison is false."""

    def holds(actual: object, expected: object) -> bool:
        are_texts = isinstance(actual, str) and isinstance(expected, str)
        return (are_texts or (_is_number(actual) and _is_number(expected))) and compare(actual, expected)

    return holds


_ORDERINGS: dict[str, Callable[[Any, Any], bool]] = {
    "gt": _ordering(lambda actual, expected: actual > expected),
    "gte": _ordering(lambda actual, expected: actual >= expected),
    "lt": _ordering(lambda actual, expected: actual < expected),
    "lte": _ordering(lambda actual, expected: actual <= expected),
}
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": _equal,
    "ne": lambda actual, expected: not _equal(actual, expected),
    **_ORDERINGS,
    "contains": _contains,
    "exists": _exists,
}
_WRONG_PATTERN = (
    "must be the name of an event such as form.submission.created, a wildcard such as form.*, or *"
)
