"""The keys of field definitions that have no effect."""

from typing import Any

import msgspec

from retinue.kit.json_types import JsonObject
from retinue.kit.schema.conditions import ConditionKeys
from retinue.kit.schema.fields.definitions import CHOICES
from retinue.kit.schema.fields.rules import RULE_NAMES
from retinue.kit.schema.unknown_keys import find_unknown_keys, join_path

Option = str | int | float | None


class _OptionKeys(msgspec.Struct):
    value: Any = None
    label: Any = None


class _SourceKeys(msgspec.Struct):
    type: Any = None
    table_id: Any = None
    value_column: Any = None
    label_column: Any = None


class _FieldKeys(msgspec.Struct):
    """The keys of a definition; `validation` depends on the type of the field."""

    id: Any = None
    type: Any = None
    label: Any = None
    placeholder: Any = None
    help_text: Any = None
    content: Any = None
    required: Any = None
    default_value: Any = None
    validation: Any = None
    options: list[_OptionKeys | Option] | None = None
    data_source: _SourceKeys | None = None
    conditional: ConditionKeys | None = None


def _keys_of(validation: object) -> list[str]:
    return list(validation) if isinstance(validation, dict) else []


def find_unknown_field_keys(fields: list[JsonObject], place: str = "fields") -> list[str]:
    """Return the paths of keys without effect in definitions, and of rules that a type does not have."""
    found: list[str] = []
    for position, field in enumerate(fields):
        here = f"{place}.{position}"
        found += find_unknown_keys(field, _FieldKeys, here)
        rules = RULE_NAMES.get(field["type"], ())
        options = ("options",) if field["type"] in CHOICES else ()
        found += [
            join_path(f"{here}.validation", name)
            for name in _keys_of(field.get("validation"))
            if name not in (*rules, *options)
        ]
    return found
