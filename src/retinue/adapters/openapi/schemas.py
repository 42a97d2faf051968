"""The schemas of a document as plain JSON Schema: references resolved, dialects made one, sizes bounded."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from retinue.adapters.openapi.source import Source, text_of
from retinue.kit.errors import Invalid
from retinue.kit.json_schemas import compile_schema

_TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")
_TEXTS = {"title": 200, "description": 500, "format": 50}
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
# Of two schemas that were cut short, both may hold where only one did.
_LISTS_OF_SCHEMAS = {"oneOf": "anyOf", "anyOf": "anyOf", "allOf": "allOf", "prefixItems": "prefixItems"}
_MOST_INPUT_NODES = 2000
_MOST_OUTPUT_NODES = 400
_MOST_HOPS = 16
_MOST_NAMES = 200
_MOST_PARTS = 50
_MOST_PATTERNS = 200
_LONGEST_NAME = 200
_LARGEST_NUMBER = 2**53


class SchemaTooLarge(Exception):
    """The schema has more parts than are taken over; with fewer levels it may fit."""


class Translator:
    """Translates schemas down to a number of levels; `is_input` leaves out what only the server sets."""

    def __init__(self, source: Source, *, is_input: bool, levels: int) -> None:
        self._source = source
        self._hidden = "readOnly" if is_input else "writeOnly"
        self._levels = levels
        self._nodes_left = _MOST_INPUT_NODES if is_input else _MOST_OUTPUT_NODES

    def translate(self, schema: Any) -> dict[str, Any]:
        return self._translate(schema, self._levels, frozenset())

    def _translate(self, schema: Any, levels: int, trail: frozenset[str]) -> dict[str, Any]:
        self._spend()
        if isinstance(schema, bool):
            return {} if schema else {"not": {}}
        described, found, levels, trail = self._resolved(schema, levels, trail)
        translated = self._own_keywords(found)
        if levels > 0:
            self._add_inner_schemas(translated, found, levels - 1, trail)
        if described:
            translated["description"] = described
        return _with_null(translated) if found.get("nullable") is True else translated

    def _resolved(
        self, schema: Any, levels: int, trail: frozenset[str]
    ) -> tuple[str, Mapping[str, Any], int, frozenset[str]]:
        """The schema behind its references, with no more levels to go where they have led in a circle."""
        described = ""
        for _ in range(_MOST_HOPS):
            if not isinstance(schema, dict):
                break
            reference = schema.get("$ref")
            if not isinstance(reference, str):
                return described, schema, levels, trail
            described = described or text_of(schema.get("description"), _TEXTS["description"])
            levels = 0 if reference in trail else levels
            trail |= {reference}
            schema = self._source.find(reference)
        return described, {}, 0, trail

    def _add_inner_schemas(
        self, translated: dict[str, Any], schema: Mapping[str, Any], levels: int, trail: frozenset[str]
    ) -> None:
        """Only what stays true when an inner schema is cut short, which makes it allow more than it did."""
        for keyword in ("items", "propertyNames"):
            if isinstance(schema.get(keyword), dict):
                translated[keyword] = self._translate(schema[keyword], levels, trail)
        for keyword, becomes in _LISTS_OF_SCHEMAS.items():
            if isinstance(parts := schema.get(keyword), list) and parts:
                translated[becomes] = [self._translate(part, levels, trail) for part in parts[:_MOST_PARTS]]
        is_complete = "patternProperties" not in schema
        if isinstance(properties := schema.get("properties"), dict):
            is_complete = is_complete and len(properties) <= _MOST_NAMES
            shown = {name: inner for name, inner in _named(properties) if not self._is_hidden(inner)}
            translated["properties"] = {
                name: self._translate(inner, levels, trail) for name, inner in shown.items()
            }
            if required := _required(schema.get("required"), shown):
                translated["required"] = required
        match schema.get("additionalProperties"):
            case False if is_complete:
                translated["additionalProperties"] = False
            case dict() as others:
                translated["additionalProperties"] = self._translate(others, levels, trail)

    def _own_keywords(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """What a schema says of itself, as far as it is well formed."""
        own: dict[str, Any] = {}
        if kind := _type(schema.get("type")):
            own["type"] = kind
        for keyword, longest in _TEXTS.items():
            if text := text_of(schema.get(keyword), longest):
                own[keyword] = text
        own |= _bounds(schema)
        if schema.get("uniqueItems") is True:
            own["uniqueItems"] = True
        values = schema.get("enum")
        if isinstance(values, list) and 0 < len(values) <= _MOST_NAMES and self._is_plain(values, 1):
            own["enum"] = values
        for keyword in ("const", "default"):
            if keyword in schema and self._is_plain(schema[keyword]):
                own[keyword] = schema[keyword]
        if self._is_pattern(schema.get("pattern")):
            own["pattern"] = schema["pattern"]
        return own

    def _is_pattern(self, value: Any) -> bool:
        """Whether it is one that inputs can be checked against here, which excludes look-around."""
        if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_NAME or not value.isprintable():
            return False
        known = self._source.patterns
        if value not in known:
            known[value] = len(known) < _MOST_PATTERNS and _compiles(value)
        return known[value]

    def _is_plain(self, value: Any, levels: int = 2) -> bool:
        """Whether it is a JSON value of a size to be taken over as it is."""
        self._spend()
        if isinstance(value, str):
            return len(value) <= _LONGEST_NAME and value.isprintable()
        if isinstance(value, dict | list) and (not levels or len(value) > _MOST_NAMES):
            return False
        if isinstance(value, dict):
            are_names = all(isinstance(name, str) for name in value)
            return (
                are_names and self._is_plain(list(value), 1) and self._is_plain(list(value.values()), levels)
            )
        if isinstance(value, list):
            return all(self._is_plain(item, levels - 1) for item in value)
        return value is None or isinstance(value, bool) or _is_number(value)

    def _is_hidden(self, schema: Any) -> bool:
        return self._source.follow(schema).get(self._hidden) is True

    def _spend(self) -> None:
        self._source.spend()
        self._nodes_left -= 1
        if self._nodes_left < 0:
            raise SchemaTooLarge


def _bounds(schema: Mapping[str, Any]) -> dict[str, Any]:
    bounds = {keyword: schema[keyword] for keyword in _NUMBERS if _is_number(schema.get(keyword))}
    bounds |= {keyword: schema[keyword] for keyword in _COUNTS if _is_count(schema.get(keyword))}
    if bounds.get("multipleOf", 1) <= 0:
        del bounds["multipleOf"]
    # Until OpenAPI 3.1 these were switches that made the bound beside them exclusive.
    for switch, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if schema.get(switch) is True and bound in bounds:
            bounds[switch] = bounds.pop(bound)
    return bounds


def _type(value: Any) -> str | list[str] | None:
    if isinstance(value, list):
        return (
            list(dict.fromkeys(kind for kind in value[:10] if isinstance(kind, str) and kind in _TYPES))
            or None
        )
    return value if isinstance(value, str) and value in _TYPES else None


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    if kind is None:
        return {"anyOf": [schema, {"type": "null"}]} if schema else schema
    kinds = [kind] if isinstance(kind, str) else kind
    allowed = {**schema, "type": [*kinds, *(["null"] if "null" not in kinds else [])]}
    if "enum" in schema and None not in schema["enum"]:
        allowed["enum"] = [*schema["enum"], None]
    return allowed


def _named(properties: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    for name, inner in islice(properties.items(), _MOST_NAMES):
        if isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME and name.isprintable():
            yield name, inner


def _required(value: Any, known: Mapping[str, Any]) -> list[str]:
    listed = value[:_MOST_NAMES] if isinstance(value, list) else []
    return list(dict.fromkeys(name for name in listed if isinstance(name, str) and name in known))


def _compiles(pattern: str) -> bool:
    try:
        compile_schema({"pattern": pattern}, "pattern")
    except Invalid:
        return False
    return True


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _LARGEST_NUMBER


def _is_number(value: Any) -> bool:
    return type(value) in {int, float} and abs(value) <= _LARGEST_NUMBER
