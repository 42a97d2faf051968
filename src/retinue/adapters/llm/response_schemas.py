"""Schemas of structured answers as providers accept them, and the note for those that accept none."""

from typing import Any

import msgspec

from retinue.adapters.llm.messages import ChatRequest, ResponseSchema
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.output_schema import inner_schemas

_JSON_NOTE = "Answer with one JSON object and nothing else: no explanation and no code fence."
_SCHEMA_NOTE = "The JSON object must match this JSON Schema:"

# What OpenAI accepts together with `strict`; other keywords are only checked by us.
_STRICT_KEYWORDS = frozenset(
    {
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "const",
        "definitions",
        "description",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "items",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "multipleOf",
        "pattern",
        "properties",
        "required",
        "title",
        "type",
    }
)
# What Anthropic accepts as it is. `oneOf` becomes `anyOf`, `minItems` and `format` depend on their value.
_ANTHROPIC_KEYWORDS = frozenset(
    {"$ref", "const", "default", "description", "enum", "required", "title", "type"}
)
_ANTHROPIC_FORMATS = frozenset(
    {"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"}
)
_OPEN_KEYWORDS = frozenset({"allOf", "patternProperties", "propertyNames"})


def with_format_note(request: ChatRequest) -> ChatRequest:
    """Return the request with its format as a note at the end instead of a field of the provider."""
    notes = [request.tail, _JSON_NOTE]
    if isinstance(request.response_format, ResponseSchema) and not request.response_format.is_any_object:
        schema = msgspec.json.encode(request.response_format.schema).decode()
        notes.append(f"{_SCHEMA_NOTE}\n{schema}")
    tail = "\n\n".join(filter(None, notes))
    return msgspec.structs.replace(request, tail=tail, response_format="text")


def fits_strict_rules(schema: JsonObject) -> bool:
    """Return whether OpenAI can enforce the schema: every property is required, and no others are allowed."""
    if not schema.keys() <= _STRICT_KEYWORDS:
        return False
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties", {})
        is_closed = schema.get("additionalProperties") is False
        if not is_closed or set(properties) != set(schema.get("required", ())):
            return False
    return all(map(fits_strict_rules, inner_schemas(schema)))


def to_anthropic_schema(schema: JsonObject) -> JsonObject | None:
    """Return the schema without the keywords that Anthropic rejects; None if it cannot say what is meant."""
    return _narrowed(schema) if _is_closed(schema) else None


def _is_closed(schema: JsonObject) -> bool:
    """Return whether every name is known: Anthropic closes all objects."""
    if not _OPEN_KEYWORDS.isdisjoint(schema) or isinstance(schema.get("additionalProperties"), dict):
        return False
    if schema.get("type") == "object" and not schema.get("properties"):
        return False
    return all(map(_is_closed, inner_schemas(schema)))


def _narrowed(schema: JsonObject) -> JsonObject:
    narrowed = {name: value for name, value in schema.items() if _is_accepted(name, value)}
    for name in ("$defs", "definitions", "properties"):
        if isinstance(schema.get(name), dict):
            narrowed[name] = {key: _narrowed_part(value) for key, value in schema[name].items()}
    if isinstance(schema.get("items"), dict):
        narrowed["items"] = _narrowed(schema["items"])
    for name in ("anyOf", "oneOf"):
        if isinstance(schema.get(name), list):
            narrowed["anyOf"] = [_narrowed_part(value) for value in schema[name]]
    if schema.get("type") == "object":
        narrowed["additionalProperties"] = False
    return narrowed


def _narrowed_part(schema: Any) -> Any:
    return _narrowed(schema) if isinstance(schema, dict) else schema


def _is_accepted(name: str, value: object) -> bool:
    if name == "minItems":
        return value in (0, 1)
    return name in _ANTHROPIC_KEYWORDS or (name == "format" and value in _ANTHROPIC_FORMATS)
