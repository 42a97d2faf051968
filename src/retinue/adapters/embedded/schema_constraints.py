"""JSON Schemas of users as constraints on a model: tighter where it would ramble, looser where costly."""

from typing import Any

from retinue.kit.json_types import JsonObject

# The library unrolls each count: `minItems: 100000` would use all memory.
_MAX_COUNT = 64
_MAX_PATTERN_LENGTH = 200
_COUNTS = frozenset(
    {
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
        "minProperties",
        "maxProperties",
        "minContains",
        "maxContains",
    }
)
# Skip unsupported keywords instead of the whole schema, and place blanks where models expect them.
_HINTS = {"lenient": True, "whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
ANY_OBJECT: JsonObject = {"type": "object"}


def build_constraint(schema: JsonObject) -> JsonObject:
    relaxed: JsonObject = _relax(schema)
    return {**relaxed, "x-guidance": _HINTS}


def first_character(schema: JsonObject) -> str:
    """Return the first character of every answer that matches the schema, or "" if unknown."""
    if schema.get("type") == "array":
        return "["
    is_object = schema.get("type", "object") == "object" and not schema.keys() & {
        "enum",
        "const",
        "anyOf",
        "oneOf",
    }
    return "{" if is_object else ""


def _relax(schema: object, *, is_whole: bool = True) -> Any:
    """`is_whole`: no other schema applies to the same value, as the parts of `allOf` do."""
    if isinstance(schema, list):
        return [_relax(item, is_whole=is_whole) for item in schema]
    if not isinstance(schema, dict):
        return schema
    is_alone = is_whole and "allOf" not in schema
    relaxed = {
        name: _relax(value, is_whole=name != "allOf")
        for name, value in schema.items()
        if not _is_costly(name, value)
    }
    # A small model would invent additional properties without end.
    if is_alone and relaxed.get("type") == "object" and isinstance(relaxed.get("properties"), dict):
        relaxed.setdefault("additionalProperties", False)
    return relaxed


def _is_costly(name: str, value: object) -> bool:
    if name in _COUNTS:
        return isinstance(value, (int, float)) and value > _MAX_COUNT
    if name == "pattern":
        return isinstance(value, str) and (len(value) > _MAX_PATTERN_LENGTH or "{" in value)
    return name == "patternProperties"
