"""Values that approvers enter with their decision, validated like a form."""

from contextlib import suppress

import msgspec

from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.fields import Fields, FieldType

_MAX_DATA_BYTES = 64 * 1024
_NUMBERS = {FieldType.number, FieldType.rating, FieldType.slider}
_MULTIPLE_CHOICE_TYPES = {FieldType.multi_select, FieldType.checkbox_group}


def validate_data(fields: list[JsonObject], data: JsonObject) -> JsonObject:
    """Return the values of the declared fields, or all values if none are declared."""
    if len(msgspec.json.encode(data)) > _MAX_DATA_BYTES:
        raise Invalid({"data": f"must be at most {_MAX_DATA_BYTES // 1024} KiB"})
    if not fields:
        return data
    checked = Fields(fields).check(data)
    if checked.errors:
        raise Invalid({f"data.{error.field}": error.message for error in checked.errors})
    return checked.values


def parse_form_data(fields: list[JsonObject], sent: dict[str, list[str]]) -> JsonObject:
    """Convert a browser's texts to the types of the fields; invalid ones are left to validation."""
    data: JsonObject = {}
    for field in Fields(fields).asked:
        texts = [text for text in sent.get(field.id, ()) if text]
        if not texts:
            continue
        data[field.id] = texts if field.type in _MULTIPLE_CHOICE_TYPES else texts[0]
        if field.type is FieldType.checkbox:
            data[field.id] = True
        elif field.type in _NUMBERS:
            with suppress(ValueError):
                data[field.id] = float(texts[0]) if "." in texts[0] else int(texts[0])
    return data
