"""JSON Schemas of users as constraints on a model: tighter where it would ramble, looser where it costs.

What is left out here is not lost: whoever uses the answer checks it against the whole schema.
"""

from typing import Any

# Each count is unrolled: `minItems: 100000` takes all memory there is.
_LARGEST_COUNT = 64
_LONGEST_PATTERN = 200
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
# A keyword that is not supported is left out, not the whole schema; blanks are where models expect them.
_HINTS = {"lenient": True, "whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
ANY_OBJECT: dict[str, Any] = {"type": "object"}


def constraint(schema: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = _eased(schema)
    return {**made, "x-guidance": _HINTS}


def first_mark(schema: dict[str, Any]) -> str:
    """How every answer of this schema begins, as far as one can tell."""
    if schema.get("type") == "array":
        return "["
    is_object = schema.get("type", "object") == "object" and not schema.keys() & {
        "enum",
        "const",
        "anyOf",
        "oneOf",
    }
    return "{" if is_object else ""


def _eased(schema: Any, *, is_whole: bool = True) -> Any:
    """`is_whole`: no other schema speaks about the same value, as the parts of `allOf` do."""
    if isinstance(schema, list):
        return [_eased(item, is_whole=is_whole) for item in schema]
    if not isinstance(schema, dict):
        return schema
    is_alone = is_whole and "allOf" not in schema
    made = {
        name: _eased(value, is_whole=name != "allOf")
        for name, value in schema.items()
        if not _is_costly(name, value)
    }
    # A small model invents further properties for ever.
    if is_alone and made.get("type") == "object" and isinstance(made.get("properties"), dict):
        made.setdefault("additionalProperties", False)
    return made


def _is_costly(name: str, value: Any) -> bool:
    if name in _COUNTS:
        return isinstance(value, (int, float)) and value > _LARGEST_COUNT
    if name == "pattern":
        return isinstance(value, str) and (len(value) > _LONGEST_PATTERN or "{" in value)
    return name == "patternProperties"
