"""Conditions as data: a field, an operator, a value, and groups of them; looked up by path, never run."""

from collections.abc import Callable, Mapping
from typing import Any

from retinue.kit.templates import look_up, render

MAX_DEPTH = 8

Problems = dict[str, str]


def _is_empty(found: Any) -> bool:
    return found is None or found in ("", [], {})


def _as_number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Numbers as numbers, even when they are written as text; otherwise text with text (dates, names)."""

    def holds(found: Any, wanted: Any) -> bool:
        numbers = _as_number(found), _as_number(wanted)
        if None not in numbers:
            return compare(*numbers)
        return isinstance(found, str) and isinstance(wanted, str) and compare(found, wanted)

    return holds


def _equals(found: Any, wanted: Any) -> bool:
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if isinstance(found, list) and not isinstance(wanted, list):
        return wanted in found
    return bool(found == wanted) or (
        isinstance(found, int | float) and isinstance(wanted, str) and _as_number(wanted) == found
    )


def _contains(found: Any, wanted: Any) -> bool:
    if isinstance(found, str):
        return isinstance(wanted, str) and wanted.casefold() in found.casefold()
    # Written out, because `True` is 1 to Python: what holds here must hold in a browser.
    return isinstance(found, list) and any(
        one == wanted and isinstance(one, bool) == isinstance(wanted, bool) for one in found
    )


def _is_in(found: Any, wanted: Any) -> bool:
    return isinstance(wanted, list) and any(_equals(found, one) for one in wanted)


OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "equals": _equals,
    "not_equals": lambda found, wanted: not _equals(found, wanted),
    "contains": _contains,
    "not_contains": lambda found, wanted: not _contains(found, wanted),
    "greater_than": _ordered(lambda found, wanted: found > wanted),
    "less_than": _ordered(lambda found, wanted: found < wanted),
    "greater_or_equal": _ordered(lambda found, wanted: found >= wanted),
    "less_or_equal": _ordered(lambda found, wanted: found <= wanted),
    "in": _is_in,
    "not_in": lambda found, wanted: not _is_in(found, wanted),
    "is_empty": lambda found, _: _is_empty(found),
    "is_not_empty": lambda found, _: not _is_empty(found),
}


def holds(condition: Any, scope: Any) -> bool:
    """`{field, operator, value}`, or `{all: […]}`, `{any: […]}` of such; a checked one (`problems_of`).

    Values may hold templates.
    """
    if "all" in condition:
        return all(holds(inner, scope) for inner in condition["all"])
    if "any" in condition:
        return any(holds(inner, scope) for inner in condition["any"])
    operator = OPERATORS[condition.get("operator", "equals")]
    # Some write the path like a template, and mean the same.
    path = condition["field"].removeprefix("{{").removesuffix("}}").strip()
    return operator(look_up(path, scope), render(condition.get("value"), scope))


def problems_of(condition: Any, path: str, depth: int = 0) -> Problems:
    """What is wrong with a condition that someone wrote, by the path of the part that is."""
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


def _problems_of_group(group: Any, path: str, depth: int) -> Problems:
    if not isinstance(group, list) or not group:
        return {path: "must be a list of conditions"}
    if depth >= MAX_DEPTH:
        return {path: "is nested too deep"}
    problems: Problems = {}
    for position, inner in enumerate(group):
        problems |= problems_of(inner, f"{path}.{position}", depth + 1)
    return problems
