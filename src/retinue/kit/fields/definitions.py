"""Definitions of fields as someone wrote them: every mistake found at once, by its place."""

import re
import unicodedata
from enum import StrEnum
from typing import Any

from retinue.kit.conditions import problems_of
from retinue.kit.errors import Invalid
from retinue.kit.fields.options import Problems, option_problems, read_options
from retinue.kit.fields.rules import rule_problems

MOST_FIELDS = 200
LONGEST_ID = 64
DEFAULT_FILE_MB = 10

_MIB = 1024 * 1024
_TEXTS = {"label": 500, "placeholder": 500, "help_text": 2000, "content": 10_000}
_KEPT = ("default_value",)
_SOURCE_KEYS = ("table_id", "value_column", "label_column")

Json = dict[str, Any]


class FieldType(StrEnum):
    text = "text"
    textarea = "textarea"
    email = "email"
    phone = "phone"
    number = "number"
    select = "select"
    multi_select = "multi_select"
    checkbox = "checkbox"
    checkbox_group = "checkbox_group"
    radio = "radio"
    date = "date"
    datetime = "datetime"
    file = "file"
    url = "url"
    hidden = "hidden"
    section = "section"
    paragraph = "paragraph"
    signature = "signature"
    rating = "rating"
    slider = "slider"


STATIC = frozenset({FieldType.section, FieldType.paragraph})
"""Shown, never answered."""
CHOICES = frozenset({FieldType.select, FieldType.multi_select, FieldType.checkbox_group, FieldType.radio})


def read_fields(given: Any, place: str = "fields") -> list[Json]:
    """The definitions as they are stored: with ids, without what nobody knows; or every problem."""
    if not isinstance(given, list):
        raise Invalid({place: "must be a list of fields"})
    if len(given) > MOST_FIELDS:
        raise Invalid({place: f"may have at most {MOST_FIELDS} fields"})
    problems: Problems = {}
    taken = {one["id"] for one in given if isinstance(one, dict) and isinstance(one.get("id"), str)}
    seen: set[str] = set()
    made = []
    for position, one in enumerate(given):
        here = f"{place}.{position}"
        if not isinstance(one, dict):
            problems[here] = "must be an object"
            continue
        found = _problems_of(one, here)
        id = one.get("id")
        if id is None:
            id = _made_id(one, position, taken)
        elif id in seen:
            found[f"{here}.id"] = "is the id of another field"
        seen.add(str(id))
        problems |= found
        if not found:
            made.append(_stored(one, str(id)))
    if problems:
        raise Invalid(problems)
    return made


def _problems_of(one: Json, here: str) -> Problems:
    problems = _plain_problems(one, here)
    type = one.get("type")
    if not isinstance(type, str) or type not in {*FieldType}:
        problems[f"{here}.type"] = f"must be one of {', '.join(FieldType)}"
        return problems
    problems |= option_problems(one, here)
    validation = one.get("validation")
    if validation is not None and not isinstance(validation, dict):
        problems[f"{here}.validation"] = "must be an object"
    else:
        problems |= rule_problems(type, validation or {}, f"{here}.validation")
    problems |= _source_problems(one.get("data_source"), f"{here}.data_source")
    if one.get("conditional") is not None:
        problems |= problems_of(one["conditional"], f"{here}.conditional")
    is_choice = type in CHOICES
    if is_choice and not problems and not options_of(one) and one.get("data_source") is None:
        problems[f"{here}.options"] = "is required, or a data_source"
    return problems


def _plain_problems(one: Json, here: str) -> Problems:
    problems: Problems = {}
    id = one.get("id")
    if id is not None and not (isinstance(id, str) and 0 < len(id) <= LONGEST_ID and id.isprintable()):
        problems[f"{here}.id"] = f"must have 1 to {LONGEST_ID} printable characters"
    for name, longest in _TEXTS.items():
        text = one.get(name)
        if text is not None and not isinstance(text, str):
            problems[f"{here}.{name}"] = "must be text"
        elif text is not None and len(text) > longest:
            problems[f"{here}.{name}"] = f"may have at most {longest} characters"
    if not isinstance(one.get("required", False), bool | None):
        problems[f"{here}.required"] = "must be true or false"
    return problems


def _source_problems(source: Any, here: str) -> Problems:
    if source is None:
        return {}
    if not isinstance(source, dict):
        return {here: "must be an object"}
    problems: Problems = {}
    if source.get("type", "data_table") != "data_table":
        problems[f"{here}.type"] = "must be one of data_table"
    for name in _SOURCE_KEYS:
        text = source.get(name)
        is_optional = name == "label_column" and text is None
        if not is_optional and not (isinstance(text, str) and 0 < len(text) <= 64):
            problems[f"{here}.{name}"] = "must have 1 to 64 characters"
    return problems


def _made_id(one: Json, position: int, taken: set[str]) -> str:
    """`Your name` becomes `your_name`, then the same with a number behind it."""
    label = one.get("label") if isinstance(one.get("label"), str) else ""
    plain = unicodedata.normalize("NFKD", str(label)).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"[^a-z0-9]+", "_", plain)[: LONGEST_ID - 8].strip("_")
    stem = stem or f"{one.get('type')}_{position + 1}"[: LONGEST_ID - 8]
    id, number = stem, 2
    while id in taken:
        id, number = f"{stem}_{number}", number + 1
    taken.add(id)
    return id


def _stored(one: Json, id: str) -> Json:
    made: Json = {"id": id, "type": one["type"], "label": one.get("label") or ""}
    made["required"] = bool(one.get("required"))
    for name in ("placeholder", "help_text", "content", *_KEPT):
        if one.get(name) is not None:
            made[name] = one[name]
    if one.get("validation"):
        made["validation"] = one["validation"]
    if one.get("options") is not None:
        made["options"] = read_options(one["options"])
    if one.get("data_source") is not None:
        source = one["data_source"]
        made["data_source"] = {"type": "data_table", **{name: source.get(name) for name in _SOURCE_KEYS}}
    if one.get("conditional") is not None:
        made["conditional"] = one["conditional"]
    return made


def options_of(field: Json) -> list[Json]:
    """What can be chosen: said on the field, or in its validation."""
    own = field.get("options")
    if not own:
        own = (field.get("validation") or {}).get("options")
    return read_options(own or [])


def allowed_endings(field: Json) -> frozenset[str] | None:
    """The endings of files that a file field takes, small and without the dot; None for any."""
    written = (field.get("validation") or {}).get("allowed_types")
    if isinstance(written, str):
        written = written.split(",")
    endings = frozenset(one.strip().lstrip("*").lstrip(".").lower() for one in written or [])
    return endings - {""} or None


def max_file_bytes(field: Json) -> int:
    size_mb = (field.get("validation") or {}).get("max_size_mb") or DEFAULT_FILE_MB
    return int(size_mb * _MIB)
