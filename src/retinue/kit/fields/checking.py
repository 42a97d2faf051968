"""The one check of what was answered: every failing field at once, and hidden ones dropped."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from retinue.kit.conditions import OPERATORS
from retinue.kit.fields.definitions import STATIC, FieldType
from retinue.kit.fields.values import Wrong, is_missing, reader_of

_MOST_ROUNDS = 10

Json = dict[str, Any]


class FieldError(msgspec.Struct, frozen=True):
    field: str
    message: str


class Checked(msgspec.Struct):
    """The values of the fields that are shown, and what is wrong."""

    values: Json
    errors: list[FieldError]
    shown: frozenset[str] = frozenset()
    """The ids of the fields that can be seen with these answers."""


class Field:
    """One field, ready to check answers."""

    __slots__ = ("conditional", "definition", "id", "read", "required", "type")

    def __init__(self, definition: Json) -> None:
        self.definition = definition
        self.id: str = definition["id"]
        self.type = FieldType(definition["type"])
        self.required: bool = definition.get("required", False) and self.type not in STATIC
        self.conditional: Json | None = definition.get("conditional")
        self.read: Callable[[Any], Any] = reader_of(self.type, definition)


class Fields:
    """A form's fields in their order."""

    def __init__(self, definitions: list[Json]) -> None:
        self.all = [Field(definition) for definition in definitions]
        self.asked = [field for field in self.all if field.type not in STATIC]
        self.by_id = {field.id: field for field in self.all}
        self._is_conditional = any(field.conditional is not None for field in self.all)

    def check(self, data: Mapping[str, Any]) -> Checked:
        """Keys that name no field are ignored."""
        values: Json = {}
        wrong: dict[str, str] = {}
        for field in self.asked:
            given = data.get(field.id)
            try:
                value = None if is_missing(field.type, given) else field.read(given)
            except Wrong as fault:
                wrong[field.id] = str(fault)
                # What a condition compares with, until it is put right.
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
        return Checked(values, errors, shown)

    def check_one(self, id: str, given: Any) -> Any:
        """The value of one field alone; `Wrong` says why it is none."""
        return self.by_id[id].read(given)

    def visible(self, values: Mapping[str, Any]) -> frozenset[str]:
        """Which fields are shown: a field that is hidden has no value for the conditions of others."""
        every = frozenset(self.by_id)
        if not self._is_conditional:
            return every
        shown = every
        for _ in range(_MOST_ROUNDS):
            seen = {id: value for id, value in values.items() if id in shown}
            now = frozenset(
                field.id for field in self.all if field.conditional is None or holds(field.conditional, seen)
            )
            if now == shown:
                break
            shown = now
        return shown


def holds(condition: Json, values: Mapping[str, Any]) -> bool:
    """`{field, operator, value}`, `{all: […]}` or `{any: […]}`, whose fields are ids and no paths."""
    if "all" in condition:
        return all(holds(inner, values) for inner in condition["all"])
    if "any" in condition:
        return any(holds(inner, values) for inner in condition["any"])
    found, wanted = values.get(condition["field"]), condition.get("value")
    if found is None and isinstance(wanted, bool):
        # A box that was left alone is not ticked.
        found = False
    if isinstance(found, bool) and isinstance(wanted, str) and wanted.lower() in {"true", "false"}:
        wanted = wanted.lower() == "true"
    return OPERATORS[condition.get("operator", "equals")](found, wanted)


@functools.lru_cache(maxsize=1024)
def compiled(stored: str) -> Fields:
    """From the stored text, which is the key: a changed form is another text, so nothing is invalidated."""
    return Fields(msgspec.json.decode(stored))
