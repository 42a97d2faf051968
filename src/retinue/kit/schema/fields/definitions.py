"""Validation of field definitions: all problems are reported at once, by path."""

import mimetypes
import re
import unicodedata
from collections.abc import Iterable
from enum import StrEnum
from fnmatch import fnmatchcase

from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.conditions import find_condition_problems, find_missing_values
from retinue.kit.schema.fields.options import Problems, option_problems, read_options
from retinue.kit.schema.fields.rules import rule_problems

MAX_FIELDS = 200
MAX_FIELD_ID_LENGTH = 64
DEFAULT_FILE_MB = 10

_MIB = 1024 * 1024
_MAX_TEXT_LENGTHS = {"label": 500, "placeholder": 500, "help_text": 2000, "content": 10_000}
_COPIED_KEYS = ("default_value",)
_SOURCE_KEYS = ("table_id", "value_column", "label_column")


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
"""Field types that are shown but take no answer."""
CHOICES = frozenset({FieldType.select, FieldType.multi_select, FieldType.checkbox_group, FieldType.radio})


def read_fields(raw: object, place: str = "fields") -> list[JsonObject]:
    """Return the definitions to store, with ids and without unknown keys, or raise `Invalid`."""
    if not isinstance(raw, list):
        raise Invalid({place: "must be a list of fields"})
    if len(raw) > MAX_FIELDS:
        raise Invalid({place: f"may have at most {MAX_FIELDS} fields"})
    problems: Problems = {}
    taken = {field["id"] for field in raw if isinstance(field, dict) and isinstance(field.get("id"), str)}
    seen: set[str] = set()
    definitions = []
    for position, field in enumerate(raw):
        here = f"{place}.{position}"
        if not isinstance(field, dict):
            problems[here] = "must be an object"
            continue
        field_problems = _problems_of(field, here)
        id = field.get("id")
        if id is None:
            id = _generate_id(field, position, taken)
        elif str(id) in seen:
            field_problems.setdefault(f"{here}.id", "is already the id of another field")
        seen.add(str(id))
        problems |= field_problems
        if not field_problems:
            definitions.append(_stored(field, str(id)))
    if problems:
        raise Invalid(problems)
    return definitions


def find_missing_condition_values(fields: object, place: str = "fields") -> Problems:
    """Return a problem for each comparison without a value; stored definitions may have them."""
    problems: Problems = {}
    for position, field in enumerate(fields if isinstance(fields, list) else []):
        if isinstance(field, dict):
            problems |= find_missing_values(field.get("conditional"), f"{place}.{position}.conditional")
    return problems


def _problems_of(one: JsonObject, here: str) -> Problems:
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
        problems |= find_condition_problems(one["conditional"], f"{here}.conditional")
    is_choice = type in CHOICES
    if is_choice and not problems and not options_of(one) and one.get("data_source") is None:
        problems[f"{here}.options"] = "is required unless the field has a data_source"
    return problems


def _plain_problems(one: JsonObject, here: str) -> Problems:
    problems: Problems = {}
    id = one.get("id")
    if id is not None and not (
        isinstance(id, str) and 0 < len(id) <= MAX_FIELD_ID_LENGTH and id.isprintable()
    ):
        problems[f"{here}.id"] = f"must have 1 to {MAX_FIELD_ID_LENGTH} printable characters"
    for name, max_length in _MAX_TEXT_LENGTHS.items():
        text = one.get(name)
        if text is not None and not isinstance(text, str):
            problems[f"{here}.{name}"] = "must be text"
        elif text is not None and len(text) > max_length:
            problems[f"{here}.{name}"] = f"may have at most {max_length} characters"
    if not isinstance(one.get("required", False), bool | None):
        problems[f"{here}.required"] = "must be true or false"
    return problems


def _source_problems(source: object, here: str) -> Problems:
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


def _generate_id(one: JsonObject, position: int, taken: set[str]) -> str:
    """Derive an id from the label: `Your name` becomes `your_name`, or `your_name_2` if taken."""
    label = one.get("label") if isinstance(one.get("label"), str) else ""
    plain = unicodedata.normalize("NFKD", str(label)).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"[^a-z0-9]+", "_", plain)[: MAX_FIELD_ID_LENGTH - 8].strip("_")
    stem = stem or f"{one.get('type')}_{position + 1}"[: MAX_FIELD_ID_LENGTH - 8]
    id, number = stem, 2
    while id in taken:
        id, number = f"{stem}_{number}", number + 1
    taken.add(id)
    return id


def _stored(one: JsonObject, id: str) -> JsonObject:
    made: JsonObject = {"id": id, "type": one["type"], "label": one.get("label") or ""}
    made["required"] = bool(one.get("required"))
    for name in ("placeholder", "help_text", "content", *_COPIED_KEYS):
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


def options_of(field: JsonObject) -> list[JsonObject]:
    """Return the options of a field, from its `options` or its `validation.options`."""
    own = field.get("options")
    if not own:
        own = (field.get("validation") or {}).get("options")
    return read_options(own or [])


def allowed_extensions(field: JsonObject) -> frozenset[str] | None:
    """Return the accepted file extensions, in lower case without the dot; None if all are accepted."""
    entries = (field.get("validation") or {}).get("allowed_types")
    if isinstance(entries, str):
        entries = entries.split(",")
    extensions = {extension for entry in entries or [] for extension in _extensions_of(entry.strip().lower())}
    return frozenset(extensions) - {""} or None


def _extensions_of(entry: str) -> Iterable[str]:
    """Return the extensions that an entry names: `pdf`, `.pdf`, `*.pdf`, or a type such as `image/*`."""
    if "/" not in entry:
        return (entry.lstrip("*").lstrip("."),)
    matching = (
        extension.lstrip(".") for extension, type in mimetypes.types_map.items() if fnmatchcase(type, entry)
    )
    # A type without a known extension matches nothing; an empty result would allow every file.
    return tuple(matching) or (entry,)


def max_file_bytes(field: JsonObject) -> int:
    size_mb = (field.get("validation") or {}).get("max_size_mb") or DEFAULT_FILE_MB
    return int(size_mb * _MIB)
