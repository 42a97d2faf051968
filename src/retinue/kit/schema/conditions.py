"""Conditions as data: a field path, an operator and a value, or groups of these; nothing is executed."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from retinue.kit.schema.unknown_keys import find_unknown_keys
from retinue.kit.text.templates import lookup_path, render

MAX_CONDITION_DEPTH = 8

Problems = dict[str, str]


class ConditionKeys(msgspec.Struct):
    """The keys of a condition: a comparison, or a group in `all` or `any`."""

    field: Any = None
    operator: Any = None
    value: Any = None
    all: list["ConditionKeys"] | None = None
    any: list["ConditionKeys"] | None = None


def _is_empty(actual: object) -> bool:
    return actual is None or actual in ("", [], {})


def _as_number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Compare as numbers if both sides are numeric, even as text; otherwise as text (dates, names)."""

    def holds(actual: object, expected: object) -> bool:
        numbers = _as_number(actual), _as_number(expected)
        if None not in numbers:
            return compare(*numbers)
        return isinstance(actual, str) and isinstance(expected, str) and compare(actual, expected)

    return holds


def _equals(actual: object, expected: object) -> bool:
    if isinstance(actual, bool) or isinstance(expected, bool):
        return actual is expected
    if isinstance(actual, list) and not isinstance(expected, list):
        return expected in actual
    return bool(actual == expected) or (
        isinstance(actual, int | float) and isinstance(expected, str) and _as_number(expected) == actual
    )


def _contains(actual: object, expected: object) -> bool:
    if isinstance(actual, str):
        return isinstance(expected, str) and expected.casefold() in actual.casefold()
    # `True == 1` in Python but not in the browser, which must come to the same result.
    return isinstance(actual, list) and any(
        item == expected and isinstance(item, bool) == isinstance(expected, bool) for item in actual
    )


def _is_in(actual: object, expected: object) -> bool:
    return isinstance(expected, list) and any(_equals(actual, item) for item in expected)


OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "equals": _equals,
    "not_equals": lambda actual, expected: not _equals(actual, expected),
    "contains": _contains,
    "not_contains": lambda actual, expected: not _contains(actual, expected),
    "greater_than": _ordered(lambda actual, expected: actual > expected),
    "less_than": _ordered(lambda actual, expected: actual < expected),
    "greater_or_equal": _ordered(lambda actual, expected: actual >= expected),
    "less_or_equal": _ordered(lambda actual, expected: actual <= expected),
    "in": _is_in,
    "not_in": lambda actual, expected: not _is_in(actual, expected),
    "is_empty": lambda actual, _: _is_empty(actual),
    "is_not_empty": lambda actual, _: not _is_empty(actual),
}

_COMPARING = tuple(name for name in OPERATORS if name not in {"is_empty", "is_not_empty"})


def is_met(condition: Any, scope: Any) -> bool:
    """Evaluate `{field, operator, value}`, `{all: […]}` or `{any: […]}`; values may contain templates.

    The condition must have passed `find_condition_problems`.
    """
    if "all" in condition:
        return all(is_met(inner, scope) for inner in condition["all"])
    if "any" in condition:
        return any(is_met(inner, scope) for inner in condition["any"])
    operator = OPERATORS[condition.get("operator", "equals")]
    # Accept a path written as a template.
    path = condition["field"].removeprefix("{{").removesuffix("}}").strip()
    return operator(lookup_path(path, scope), render(condition.get("value"), scope))


def find_condition_problems(condition: object, path: str, depth: int = 0) -> Problems:
    """Return the problems of a condition, by the path of the invalid part."""
    if not isinstance(condition, dict):
        return {path: "must be an object with field, operator and value"}
    for group in ("all", "any"):
        if group in condition:
            return _problems_of_group(condition[group], f"{path}.{group}", depth)
    problems: Problems = {}
    if not isinstance(condition.get("field"), str) or not condition["field"]:
        problems[f"{path}.field"] = "is required"
    operator = condition.get("operator", "equals")
    if not isinstance(operator, str) or operator not in OPERATORS:
        problems[f"{path}.operator"] = f"must be one of {', '.join(OPERATORS)}"
    elif operator in {"in", "not_in"} and not isinstance(condition.get("value"), list):
        problems[f"{path}.value"] = "must be a list"
    return problems


def _problems_of_group(group: object, path: str, depth: int) -> Problems:
    if not isinstance(group, list) or not group:
        return {path: "must be a list of conditions"}
    if depth >= MAX_CONDITION_DEPTH:
        return {path: f"must be nested at most {MAX_CONDITION_DEPTH} levels deep"}
    problems: Problems = {}
    for position, inner in enumerate(group):
        problems |= find_condition_problems(inner, f"{path}.{position}", depth + 1)
    return problems


def find_unknown_condition_keys(condition: object, path: str) -> list[str]:
    """Return the paths of the keys that have no effect, in a condition that need not be valid."""
    return find_unknown_keys(condition, ConditionKeys, path)


def find_missing_values(condition: object, path: str) -> Problems:
    """Return a problem for each comparison without `value`; null is a value.

    Kept apart from `find_condition_problems`: what was stored without a value goes on being evaluated.
    """
    if not isinstance(condition, dict):
        return {}
    for group in ("all", "any"):
        if group in condition:
            inner = condition[group] if isinstance(condition[group], list) else []
            return {
                place: message
                for position, one in enumerate(inner)
                for place, message in find_missing_values(one, f"{path}.{group}.{position}").items()
            }
    is_comparing = condition.get("operator", "equals") in _COMPARING
    return {f"{path}.value": "is required"} if is_comparing and "value" not in condition else {}
