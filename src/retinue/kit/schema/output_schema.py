"""JSON Schemas of structured output: an object at the root, small enough to send with every request."""

from collections.abc import Iterator
from typing import Any

import msgspec

from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.json_schema import JsonSchema, compile_schema

MAX_OUTPUT_SCHEMA_BYTES = 32 * 1024
MAX_OUTPUT_SCHEMA_LEVELS = 10
OUTPUT_SCHEMA_FIELD = "output_schema"

# Keywords whose value is one schema, a list of schemas, or schemas by name.
_ONE = (
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_LISTED = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_NAMED = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")


def compile_output_schema(schema: JsonObject, field: str = OUTPUT_SCHEMA_FIELD) -> JsonSchema:
    """Compile the schema of an answer; raise `Invalid` for its field if it cannot be used."""
    if len(msgspec.json.encode(schema)) > MAX_OUTPUT_SCHEMA_BYTES:
        raise Invalid({field: f"must be at most {MAX_OUTPUT_SCHEMA_BYTES // 1024} KiB"})
    if schema.get("type") != "object":
        raise Invalid({field: "must be a JSON Schema with the type object at its root"})
    # First, because it bounds the recursion below.
    compiled = compile_schema(schema, field)
    if _levels(schema) > MAX_OUTPUT_SCHEMA_LEVELS:
        raise Invalid({field: f"must be nested at most {MAX_OUTPUT_SCHEMA_LEVELS} levels deep"})
    return compiled


def inner_schemas(schema: JsonObject) -> Iterator[JsonObject]:
    """Yield the schemas directly inside a schema."""
    for name in _ONE:
        if isinstance(schema.get(name), dict):
            yield schema[name]
    for name in _LISTED:
        yield from _schemas(schema.get(name) if isinstance(schema.get(name), list) else ())
    for name in _NAMED:
        yield from _schemas(schema[name].values() if isinstance(schema.get(name), dict) else ())


def _schemas(values: Any) -> Iterator[JsonObject]:
    return (value for value in values if isinstance(value, dict))


def _levels(schema: JsonObject) -> int:
    return 1 + max(map(_levels, inner_schemas(schema)), default=0)
