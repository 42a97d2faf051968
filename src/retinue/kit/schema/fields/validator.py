"""Validation of answers: all invalid fields are reported at once, and hidden fields are dropped."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from retinue.kit.json_types import JsonObject
from retinue.kit.schema.conditions import OPERATORS
from retinue.kit.schema.fields.definitions import STATIC, FieldType
from retinue.kit.schema.fields.values import InvalidAnswer, is_missing, value_reader

_MAX_VISIBILITY_ROUNDS = 10


class FieldError(msgspec.Struct, frozen=True):
    field: str
    message: str


class CheckedAnswers(msgspec.Struct):
    """The values of the visible fields, and their errors."""

    values: JsonObject
    errors: list[FieldError]
    shown: frozenset[str] = frozenset()
    """The ids of the fields that are visible with these answers."""


class FormField:
    """A field with its compiled validation."""

    __slots__ = ("conditional", "definition", "id", "read", "required", "type")

    def __init__(self, definition: JsonObject) -> None:
        self.definition = definition
        self.id: str = definition["id"]
        self.type = FieldType(definition["type"])
        self.required: bool = definition.get("required", False) and self.type not in STATIC
        self.conditional: JsonObject | None = definition.get("conditional")
        self.read: Callable[[Any], Any] = value_reader(self.type, definition)


class Fields:
    """The fields of a form, in order."""

    def __init__(self, definitions: list[JsonObject]) -> None:
        self.all = [FormField(definition) for definition in definitions]
        self.asked = [field for field in self.all if field.type not in STATIC]
        self.by_id = {field.id: field for field in self.all}
        self._is_conditional = any(field.conditional is not None for field in self.all)

    def check(self, data: Mapping[str, Any]) -> CheckedAnswers:
        """Validate answers by field id; unknown ids are ignored."""
        values: JsonObject = {}
        wrong: dict[str, str] = {}
        for field in self.asked:
            given = data.get(field.id)
            try:
                value = None if is_missing(field.type, given) else field.read(given)
            except InvalidAnswer as fault:
                wrong[field.id] = str(fault)
                # Conditions use the answer as it was given.
                value = given
            if not is_missing(field.type, value):
                values[field.id] = value
        shown = self.visible(values)
        errors = []
        for field in self.asked:
            if field.id not in shown:
                values.pop(field.id, None)
            elif field.id in wrong:
                errors.append(FieldError(field.id, wrong[field.id]))
            elif field.required and (field.id not in values or values[field.id] is False):
                errors.append(FieldError(field.id, "is required"))
        return CheckedAnswers(values, errors, shown)

    def visible(self, values: Mapping[str, Any]) -> frozenset[str]:
        """Return the ids of the visible fields; a hidden field has no value in the conditions of others."""
        every = frozenset(self.by_id)
        if not self._is_conditional:
            return every
        shown = every
        for _ in range(_MAX_VISIBILITY_ROUNDS):
            seen = {id: value for id, value in values.items() if id in shown}
            now = frozenset(
                field.id
                for field in self.all
                if field.conditional is None or is_condition_met(field.conditional, seen)
            )
            if now == shown:
                break
            shown = now
        return shown


def is_condition_met(condition: JsonObject, values: Mapping[str, Any]) -> bool:
    """Evaluate `{field, operator, value}`, `{all: […]}` or `{any: […]}`; fields are ids, not paths."""
    if "all" in condition:
        return all(is_condition_met(inner, values) for inner in condition["all"])
    if "any" in condition:
        return any(is_condition_met(inner, values) for inner in condition["any"])
    actual, expected = values.get(condition["field"]), condition.get("value")
    if actual is None and isinstance(expected, bool):
        # An untouched checkbox counts as unchecked.
        actual = False
    if isinstance(actual, bool) and isinstance(expected, str) and expected.lower() in {"true", "false"}:
        expected = expected.lower() == "true"
    return OPERATORS[condition.get("operator", "equals")](actual, expected)


@functools.lru_cache(maxsize=1024)
def compile_fields(stored: str) -> Fields:
    """Compile stored definitions; the text is the cache key, so a changed form needs no invalidation."""
    return Fields(msgspec.json.decode(stored))
