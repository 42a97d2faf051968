"""Translation of a document's schemas to plain, bounded JSON Schema with references resolved."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from retinue.adapters.openapi.document import ApiDocument, clean_text
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.json_schema import compile_schema

_TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")
_TEXTS = {"title": 200, "description": 500, "format": 50}
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
# Cutting schemas short makes them overlap, so `oneOf` becomes `anyOf`.
_LISTS_OF_SCHEMAS = {"oneOf": "anyOf", "anyOf": "anyOf", "allOf": "allOf", "prefixItems": "prefixItems"}
_MAX_INPUT_NODES = 2000
_MAX_OUTPUT_NODES = 400
_MAX_REFERENCE_HOPS = 16
_MAX_NAMES = 200
_MAX_PARTS = 50
_MAX_PATTERNS = 200
_MAX_NAME_LENGTH = 200
_MAX_SAFE_INTEGER = 2**53


class SchemaTooLarge(Exception):
    """The schema has too many parts; with fewer levels it may fit."""


class SchemaTranslator:
    """Translates schemas down to a number of levels; `is_input` omits properties only the server sets."""

    def __init__(self, source: ApiDocument, *, is_input: bool, levels: int) -> None:
        self._source = source
        self._hidden = "readOnly" if is_input else "writeOnly"
        self._levels = levels
        self._nodes_left = _MAX_INPUT_NODES if is_input else _MAX_OUTPUT_NODES

    def translate(self, schema: object) -> JsonObject:
        return self._translate(schema, self._levels, frozenset())

    def _translate(self, schema: object, levels: int, trail: frozenset[str]) -> JsonObject:
        self._spend()
        if isinstance(schema, bool):
            return {} if schema else {"not": {}}
        description, resolved, levels, trail = self._resolved(schema, levels, trail)
        translated = self._own_keywords(resolved)
        if levels > 0:
            self._add_inner_schemas(translated, resolved, levels - 1, trail)
        if description:
            translated["description"] = description
        return _with_null(translated) if resolved.get("nullable") is True else translated

    def _resolved(
        self, schema: object, levels: int, trail: frozenset[str]
    ) -> tuple[str, Mapping[str, Any], int, frozenset[str]]:
        """Follow references; return no further levels if they form a circle."""
        description = ""
        for _ in range(_MAX_REFERENCE_HOPS):
            if not isinstance(schema, dict):
                break
            reference = schema.get("$ref")
            if not isinstance(reference, str):
                return description, schema, levels, trail
            description = description or clean_text(schema.get("description"), _TEXTS["description"])
            levels = 0 if reference in trail else levels
            trail |= {reference}
            schema = self._source.find(reference)
        return description, {}, 0, trail

    def _add_inner_schemas(
        self, translated: JsonObject, schema: Mapping[str, Any], levels: int, trail: frozenset[str]
    ) -> None:
        """Add only keywords that stay true when an inner schema is cut short and so allows more."""
        for keyword in ("items", "propertyNames"):
            if isinstance(schema.get(keyword), dict):
                translated[keyword] = self._translate(schema[keyword], levels, trail)
        for keyword, target in _LISTS_OF_SCHEMAS.items():
            if isinstance(parts := schema.get(keyword), list) and parts:
                translated[target] = [self._translate(part, levels, trail) for part in parts[:_MAX_PARTS]]
        is_complete = "patternProperties" not in schema
        if isinstance(properties := schema.get("properties"), dict):
            is_complete = is_complete and len(properties) <= _MAX_NAMES
            visible = {name: inner for name, inner in _named(properties) if not self._is_hidden(inner)}
            translated["properties"] = {
                name: self._translate(inner, levels, trail) for name, inner in visible.items()
            }
            if required := _required(schema.get("required"), visible):
                translated["required"] = required
        match schema.get("additionalProperties"):
            case False if is_complete:
                translated["additionalProperties"] = False
            case dict() as others:
                translated["additionalProperties"] = self._translate(others, levels, trail)

    def _own_keywords(self, schema: Mapping[str, Any]) -> JsonObject:
        """Return the schema's well-formed keywords that contain no schemas."""
        keywords: JsonObject = {}
        if kind := _type(schema.get("type")):
            keywords["type"] = kind
        for keyword, max_length in _TEXTS.items():
            if text := clean_text(schema.get(keyword), max_length):
                keywords[keyword] = text
        keywords |= _bounds(schema)
        if schema.get("uniqueItems") is True:
            keywords["uniqueItems"] = True
        values = schema.get("enum")
        if isinstance(values, list) and 0 < len(values) <= _MAX_NAMES and self._is_plain(values, 1):
            keywords["enum"] = values
        for keyword in ("const", "default"):
            if keyword in schema and self._is_plain(schema[keyword]):
                keywords[keyword] = schema[keyword]
        if self._is_pattern(schema.get("pattern")):
            keywords["pattern"] = schema["pattern"]
        return keywords

    def _is_pattern(self, value: object) -> bool:
        """Return whether the pattern can be used for validation here, which excludes look-around."""
        if not isinstance(value, str) or not 0 < len(value) <= _MAX_NAME_LENGTH or not value.isprintable():
            return False
        usable = self._source.patterns
        if value not in usable:
            usable[value] = len(usable) < _MAX_PATTERNS and _compiles(value)
        return usable[value]

    def _is_plain(self, value: object, levels: int = 2) -> bool:
        """Return whether it is a JSON value small enough to be copied."""
        self._spend()
        if isinstance(value, str):
            return len(value) <= _MAX_NAME_LENGTH and value.isprintable()
        if isinstance(value, dict | list) and (not levels or len(value) > _MAX_NAMES):
            return False
        if isinstance(value, dict):
            are_names = all(isinstance(name, str) for name in value)
            return (
                are_names and self._is_plain(list(value), 1) and self._is_plain(list(value.values()), levels)
            )
        if isinstance(value, list):
            return all(self._is_plain(item, levels - 1) for item in value)
        return value is None or isinstance(value, bool) or _is_number(value)

    def _is_hidden(self, schema: object) -> bool:
        return self._source.follow(schema).get(self._hidden) is True

    def _spend(self) -> None:
        self._source.spend()
        self._nodes_left -= 1
        if self._nodes_left < 0:
            raise SchemaTooLarge


def _bounds(schema: Mapping[str, Any]) -> JsonObject:
    bounds = {keyword: schema[keyword] for keyword in _NUMBERS if _is_number(schema.get(keyword))}
    bounds |= {keyword: schema[keyword] for keyword in _COUNTS if _is_count(schema.get(keyword))}
    if bounds.get("multipleOf", 1) <= 0:
        del bounds["multipleOf"]
    # Before OpenAPI 3.1 these were flags that made the adjacent bound exclusive.
    for switch, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if schema.get(switch) is True and bound in bounds:
            bounds[switch] = bounds.pop(bound)
    return bounds


def _type(value: object) -> str | list[str] | None:
    if isinstance(value, list):
        return (
            list(dict.fromkeys(kind for kind in value[:10] if isinstance(kind, str) and kind in _TYPES))
            or None
        )
    return value if isinstance(value, str) and value in _TYPES else None


def _with_null(schema: JsonObject) -> JsonObject:
    kind = schema.get("type")
    if kind is None:
        return {"anyOf": [schema, {"type": "null"}]} if schema else schema
    kinds = [kind] if isinstance(kind, str) else kind
    allowed = {**schema, "type": [*kinds, *(["null"] if "null" not in kinds else [])]}
    if "enum" in schema and None not in schema["enum"]:
        allowed["enum"] = [*schema["enum"], None]
    return allowed


def _named(properties: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    for name, inner in islice(properties.items(), _MAX_NAMES):
        if isinstance(name, str) and 0 < len(name) <= _MAX_NAME_LENGTH and name.isprintable():
            yield name, inner


def _required(value: object, properties: Mapping[str, Any]) -> list[str]:
    listed = value[:_MAX_NAMES] if isinstance(value, list) else []
    return list(dict.fromkeys(name for name in listed if isinstance(name, str) and name in properties))


def _compiles(pattern: str) -> bool:
    try:
        compile_schema({"pattern": pattern}, "pattern")
    except Invalid:
        return False
    return True


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= _MAX_SAFE_INTEGER


def _is_number(value: Any) -> bool:
    return type(value) in {int, float} and abs(value) <= _MAX_SAFE_INTEGER
