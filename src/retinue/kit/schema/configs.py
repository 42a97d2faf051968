"""Stored JSON configurations, declared as structs: checked when they are saved, parsed when they are used."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from retinue.kit.errors import Invalid
from retinue.kit.schema.messages import REQUIRED
from retinue.kit.schema.validation import FieldErrors, field_errors

Shape = TypeVar("Shape", bound=msgspec.Struct)


def parse_config(config: Mapping[str, Any], shape: type[Shape], field: str) -> Shape:
    """Return the configuration as its struct, or raise `Invalid` with each wrong key under `field`."""
    try:
        return msgspec.convert(config, shape)
    except msgspec.ValidationError as error:
        problems = field_errors(error, config, shape)
        raise Invalid({f"{field}.{name}": problem for name, problem in problems.items()}) from None


def describe_first_problem(invalid: Invalid) -> str:
    """Return the first problem as a sentence, for an error that carries only a message."""
    field, problem = next(iter((invalid.details or {}).items()))
    return f"{field} {problem}."


def find_wrong_keys(config: Mapping[str, Any], shape: type[msgspec.Struct]) -> FieldErrors:
    """Return a message for each wrong key of a configuration that may still be incomplete.

    A null counts as a missing key.
    """
    entered = _without_nulls(config)
    try:
        msgspec.convert(entered, shape)
    except msgspec.ValidationError as error:
        problems = field_errors(error, entered, shape)
        return {path: problem for path, problem in problems.items() if problem != REQUIRED}
    return {}


def _without_nulls(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
