"""Which events someone chose: by the pattern of their names, and by filters on their data.

A pattern is an event's name, `form.*` for all whose names begin so, or `*`. Filters map a dotted path in the
data to a value that must stand there, a list of which one must, or comparisons that must all hold.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from retinue.kit.errors import Invalid

MOST_FILTERS = 50
MOST_VALUES = 100
# Every event of a tenant is held against all of its filters, which are in memory then.
LARGEST = 16 * 1024

_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+", re.ASCII)
_PATTERN = re.compile(r"\*|[a-z][a-z0-9_]*(\.[a-z0-9_]+)*\.\*", re.ASCII)
_PATH = re.compile(r"[^.\s]+(\.[^.\s]+)*")
_LONGEST = 200
_ABSENT: Any = object()


def is_event_name(text: str) -> bool:
    return len(text) <= _LONGEST and _NAME.fullmatch(text) is not None


def is_pattern(text: str) -> bool:
    return is_event_name(text) or (len(text) <= _LONGEST and _PATTERN.fullmatch(text) is not None)


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
    """Whether a checked pattern takes in events of this type."""
    if not pattern.endswith("*"):
        return pattern == type
    return type.startswith(pattern[:-1])


def check_filters(filters: Mapping[str, Any], field: str = "filters") -> None:
    """Refuse what could not be understood when an event comes."""
    if len(filters) > MOST_FILTERS:
        raise Invalid({field: f"may have at most {MOST_FILTERS} entries"})
    if len(msgspec.json.encode(filters)) > LARGEST:
        raise Invalid({field: f"may have at most {LARGEST // 1024} KiB"})
    wrong: dict[str, str] = {}
    for path, wanted in filters.items():
        if len(path) > _LONGEST or not _PATH.fullmatch(path):
            wrong[field] = "must have names of fields as keys, such as form_id or metadata.source"
        elif problem := _problem(wanted):
            wrong[f"{field}.{path}"] = problem
    if wrong:
        raise Invalid(wrong)


def matches_filters(filters: Mapping[str, Any], data: Any) -> bool:
    """Whether every one of the checked filters holds."""
    return all(_holds(wanted, _value_at(data, path)) for path, wanted in filters.items())


def _problem(wanted: Any) -> str | None:
    if isinstance(wanted, dict):
        if not wanted:
            return f"must have one of {', '.join(_OPERATORS)}"
        return next(filter(None, (_operator_problem(name, value) for name, value in wanted.items())), None)
    if isinstance(wanted, list):
        return _list_problem(wanted)
    return None


def _operator_problem(name: str, value: Any) -> str | None:
    if name not in _OPERATORS:
        return f"must have only {', '.join(_OPERATORS)}"
    if name == "exists":
        return None if isinstance(value, bool) else "exists must be true or false"
    if name in _ORDERINGS:
        is_ordered = isinstance(value, str) or _is_number(value)
        return None if is_ordered else f"{name} must be a number or a text"
    return f"{name} must be a single value" if isinstance(value, dict | list) else None


def _list_problem(wanted: list[Any]) -> str | None:
    if not 0 < len(wanted) <= MOST_VALUES:
        return f"must have 1 to {MOST_VALUES} values"
    return "must have single values" if any(isinstance(one, dict | list) for one in wanted) else None


def _value_at(data: Any, path: str) -> Any:
    """A path may begin with `data.`; what is named `data` itself is found all the same."""
    if path.startswith("data."):
        found = _walk(data, path.removeprefix("data."))
        if found is not _ABSENT:
            return found
    return _walk(data, path)


def _walk(value: Any, path: str) -> Any:
    for name in path.split("."):
        if isinstance(value, dict):
            value = value.get(name, _ABSENT)
        elif isinstance(value, list) and name.isascii() and name.isdigit() and len(name) <= 6:
            value = value[int(name)] if int(name) < len(value) else _ABSENT
        else:
            return _ABSENT
    return value


def _holds(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, dict):
        return all(_OPERATORS[name](found, value) for name, value in wanted.items())
    if isinstance(wanted, list):
        return _is_one_of(found, wanted)
    return _equal(found, wanted)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(found: Any, wanted: Any) -> bool:
    """As JSON sees it: true is not 1, and 1 is 1.0."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    return bool(found == wanted)


def _is_one_of(found: Any, wanted: list[Any]) -> bool:
    """Every event is held against every value that its tenant filters by, so one look must be cheap."""
    if found is None or isinstance(found, str):
        return found in wanted
    if isinstance(found, bool):
        return any(one is found for one in wanted)
    return found in [one for one in wanted if one is not True and one is not False]


def _contains(found: Any, wanted: Any) -> bool:
    if isinstance(found, str):
        return isinstance(wanted, str) and wanted in found
    return isinstance(found, list) and any(_equal(one, wanted) for one in found)


def _exists(found: Any, wanted: Any) -> bool:
    return (found is not _ABSENT) is wanted


def _ordering(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Numbers with numbers and texts with texts; anything else is in no order."""

    def holds(found: Any, wanted: Any) -> bool:
        are_texts = isinstance(found, str) and isinstance(wanted, str)
        return (are_texts or (_is_number(found) and _is_number(wanted))) and compare(found, wanted)

    return holds


_ORDERINGS: dict[str, Callable[[Any, Any], bool]] = {
    "gt": _ordering(lambda found, wanted: found > wanted),
    "gte": _ordering(lambda found, wanted: found >= wanted),
    "lt": _ordering(lambda found, wanted: found < wanted),
    "lte": _ordering(lambda found, wanted: found <= wanted),
}
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": _equal,
    "ne": lambda found, wanted: not _equal(found, wanted),
    **_ORDERINGS,
    "contains": _contains,
    "exists": _exists,
}
_WRONG_PATTERN = (
    "must be the name of an event such as form.submission.created, a wildcard such as form.*, or *"
)
