"""What approvers fill in besides their answer, checked as the answers to a form are."""

from contextlib import suppress
from typing import Any

import msgspec

from retinue.kit.errors import Invalid
from retinue.kit.fields import Fields, FieldType

_MOST_BYTES = 64 * 1024
_NUMBERS = {FieldType.number, FieldType.rating, FieldType.slider}
_SEVERAL = {FieldType.multi_select, FieldType.checkbox_group}


def checked_data(fields: list[dict[str, Any]], data: dict[str, Any]) -> dict[str, Any]:
    """The values of the declared fields; where none are declared, whatever was said."""
    if len(msgspec.json.encode(data)) > _MOST_BYTES:
        raise Invalid({"data": f"is larger than {_MOST_BYTES // 1024} KiB"})
    if not fields:
        return data
    checked = Fields(fields).check(data)
    if checked.errors:
        raise Invalid({f"data.{error.field}": error.message for error in checked.errors})
    return checked.values


def sent_by_form(fields: list[dict[str, Any]], sent: dict[str, list[str]]) -> dict[str, Any]:
    """What a browser sends is text: here it becomes what each field holds, or is left for the check."""
    data: dict[str, Any] = {}
    for field in Fields(fields).asked:
        texts = [text for text in sent.get(field.id, ()) if text]
        if not texts:
            continue
        data[field.id] = texts if field.type in _SEVERAL else texts[0]
        if field.type is FieldType.checkbox:
            data[field.id] = True
        elif field.type in _NUMBERS:
            with suppress(ValueError):
                data[field.id] = float(texts[0]) if "." in texts[0] else int(texts[0])
    return data
