"""What can be chosen in a field: a value, and what it is called."""

from typing import Any

MOST_OPTIONS = 1000
_LONGEST = 500

Problems = dict[str, str]


def read_options(given: list[Any]) -> list[dict[str, Any]]:
    """`{value, label}` each; a bare value is its own label."""
    return [_option(one) for one in given]


def _option(one: Any) -> dict[str, Any]:
    if not isinstance(one, dict):
        return {"value": one, "label": str(one)}
    label = one.get("label")
    return {"value": one["value"], "label": str(one["value"]) if label is None else label}


def option_problems(field: dict[str, Any], here: str) -> Problems:
    problems = _list_problems(field.get("options"), f"{here}.options")
    validation = field.get("validation")
    if isinstance(validation, dict):
        problems |= _list_problems(validation.get("options"), f"{here}.validation.options")
    return problems


def _list_problems(given: Any, here: str) -> Problems:
    if given is None:
        return {}
    if not isinstance(given, list):
        return {here: "must be a list"}
    if len(given) > MOST_OPTIONS:
        return {here: f"may have at most {MOST_OPTIONS} options"}
    problems: Problems = {}
    for position, one in enumerate(given):
        value, label = (one.get("value"), one.get("label")) if isinstance(one, dict) else (one, None)
        if not isinstance(value, str | int | float) or len(str(value)) > _LONGEST:
            problems[f"{here}.{position}"] = f"needs a value, with at most {_LONGEST} characters"
        elif label is not None and not (isinstance(label, str) and len(label) <= _LONGEST):
            problems[f"{here}.{position}.label"] = f"must be text with at most {_LONGEST} characters"
    return problems
