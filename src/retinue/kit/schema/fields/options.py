"""The options of a choice field: values with labels."""

from typing import Any

from retinue.kit.json_types import JsonObject

MAX_OPTIONS = 1000
_MAX_OPTION_LENGTH = 500

Problems = dict[str, str]


def read_options(entries: list[Any]) -> list[JsonObject]:
    """Return each option as `{value, label}`; a bare value is its own label."""
    return [_option(option) for option in entries]


def _option(option: object) -> JsonObject:
    if not isinstance(option, dict):
        return {"value": option, "label": str(option)}
    label = option.get("label")
    return {"value": option["value"], "label": str(option["value"]) if label is None else label}


def option_problems(field: JsonObject, here: str) -> Problems:
    problems = _list_problems(field.get("options"), f"{here}.options")
    validation = field.get("validation")
    if isinstance(validation, dict):
        problems |= _list_problems(validation.get("options"), f"{here}.validation.options")
    return problems


def _list_problems(entries: object, here: str) -> Problems:
    if entries is None:
        return {}
    if not isinstance(entries, list):
        return {here: "must be a list"}
    if len(entries) > MAX_OPTIONS:
        return {here: f"may have at most {MAX_OPTIONS} options"}
    problems: Problems = {}
    for position, option in enumerate(entries):
        is_object = isinstance(option, dict)
        value, label = (option.get("value"), option.get("label")) if is_object else (option, None)
        if not isinstance(value, str | int | float) or len(str(value)) > _MAX_OPTION_LENGTH:
            problems[f"{here}.{position}"] = f"must have a value of at most {_MAX_OPTION_LENGTH} characters"
        elif label is not None and not (isinstance(label, str) and len(label) <= _MAX_OPTION_LENGTH):
            problems[f"{here}.{position}.label"] = (
                f"must be text with at most {_MAX_OPTION_LENGTH} characters"
            )
    return problems
