"""Composition of parameters and body into the one schema that a caller's input is validated against."""

from contextlib import suppress
from typing import Any

import msgspec

from retinue.adapters.openapi.bodies import OperationBody
from retinue.adapters.openapi.description import Method
from retinue.adapters.openapi.document import ApiDocument, UnusableOperation
from retinue.adapters.openapi.parameters import ApiParameter, fixed_value
from retinue.adapters.openapi.schema_translator import SchemaTooLarge, SchemaTranslator
from retinue.kit.egress import EgressRefused, check_custom_headers
from retinue.kit.json_types import JsonObject

_MAX_INPUT_BYTES = 32 * 1024
_MAX_OUTPUT_BYTES = 16 * 1024
_INPUT_LEVELS = (10, 5, 3, 2)
_OUTPUT_LEVELS = (5, 2)
# Names used by the structured form of an input; a parameter of that name makes the flat form ambiguous.
_STRUCTURED_NAMES = frozenset({"endpoint", "path_params", "query", "body", "headers"})
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_NOT_FLAT = ("anyOf", "enum", "const")
_MAX_NESTED_PARTS = 5


class OperationInput(msgspec.Struct, frozen=True):
    schema: JsonObject
    is_flat: bool
    default_params: JsonObject
    default_headers: dict[str, str]


class _Fields(msgspec.Struct):
    """The named parts of an object: of the path, the query, the headers or the body."""

    properties: JsonObject = {}
    required: list[str] = []
    additional: Any = None

    def as_schema(self) -> JsonObject:
        schema: JsonObject = {"type": "object", "properties": self.properties}
        if self.required:
            schema["required"] = self.required
        if self.additional is not None:
            schema["additionalProperties"] = self.additional
        return schema

    def add(self, name: str, schema: JsonObject, *, is_required: bool) -> None:
        self.properties[name] = schema
        if is_required:
            self.required.append(name)


class _Places(msgspec.Struct):
    """The parameters beside the body; a caller sends only the headers that are named."""

    path: _Fields = msgspec.field(default_factory=_Fields)
    query: _Fields = msgspec.field(default_factory=_Fields)
    headers: _Fields = msgspec.field(default_factory=lambda: _Fields(additional=False))

    def fields_of(self, parameter: ApiParameter) -> _Fields:
        return self.path if parameter.location == "path" else self.query


def build_input(
    source: ApiDocument, method: Method, parameters: list[ApiParameter], body: OperationBody
) -> OperationInput:
    """Build the input schema with as many levels of detail as fit."""
    for levels in _INPUT_LEVELS:
        translator = SchemaTranslator(source, is_input=True, levels=levels)
        try:
            composed = _compose(translator, method, parameters, body)
        except SchemaTooLarge:
            continue
        if len(msgspec.json.encode(composed)) <= _MAX_INPUT_BYTES:
            return composed
    raise UnusableOperation("its input is too large")


def build_output_schema(source: ApiDocument, schema: object) -> JsonObject | None:
    if schema is None or source.is_budget_low:
        return None
    for levels in _OUTPUT_LEVELS:
        try:
            translated = SchemaTranslator(source, is_input=False, levels=levels).translate(schema)
        except SchemaTooLarge:
            continue
        if len(msgspec.json.encode(translated)) <= _MAX_OUTPUT_BYTES:
            return translated or None
    return None


def _compose(
    translator: SchemaTranslator, method: Method, parameters: list[ApiParameter], body: OperationBody
) -> OperationInput:
    places = _Places()
    default_params: JsonObject = {}
    default_headers: dict[str, str] = {}
    for parameter in parameters:
        schema = parameter.translated(translator)
        fixed = fixed_value(schema) if parameter.is_required else None
        if parameter.location == "header" and isinstance(fixed, str) and _is_header(parameter.name, fixed):
            default_headers[parameter.name] = fixed
        elif parameter.location == "header":
            _add_header(places.headers, parameter, schema)
        elif parameter.location == "query" and fixed is not None and method not in _WITH_BODY:
            places.query.properties[parameter.name] = schema
            default_params[parameter.name] = fixed
        else:
            places.fields_of(parameter).add(parameter.name, schema, is_required=parameter.is_required)
    translated = None if body.schema is None else translator.translate(body.schema)
    flat = _find_flat(method, places, translated)
    schema = flat or _structured(places, translated, is_body_required=body.is_required)
    return OperationInput(schema, flat is not None, default_params, default_headers)


def _add_header(headers: _Fields, parameter: ApiParameter, schema: JsonObject) -> None:
    """Add a header that the caller must send; optional headers are not offered."""
    if not parameter.is_required:
        return
    if not _is_header(parameter.name, "value"):
        raise UnusableOperation(f"it requires the header {parameter.name}")
    headers.add(parameter.name, schema, is_required=True)


def _is_header(name: str, value: str) -> bool:
    """Return whether tools may send this header."""
    with suppress(EgressRefused):
        check_custom_headers({name: value})
        return True
    return False


def _find_flat(method: Method, places: _Places, body: JsonObject | None) -> JsonObject | None:
    """Return a flat schema, unless a value would then end up in the wrong place, query or body."""
    path, query = places.path, places.query
    has_body = method in _WITH_BODY
    if places.headers.properties or (query.properties if has_body else body is not None):
        return None
    rest = (_find_fields(body) if body is not None else _Fields()) if has_body else query
    if rest is None or rest.properties.keys() & path.properties.keys():
        return None
    if _STRUCTURED_NAMES & (rest.properties.keys() | path.properties.keys()):
        return None
    return _Fields(
        {**path.properties, **rest.properties}, [*path.required, *rest.required], rest.additional
    ).as_schema()


def _structured(places: _Places, body: JsonObject | None, *, is_body_required: bool) -> JsonObject:
    whole = _Fields()
    for name, group in (("path_params", places.path), ("query", places.query), ("headers", places.headers)):
        if group.properties:
            whole.properties[name] = group.as_schema()
        if group.required:
            whole.required.append(name)
    if body is not None:
        whole.properties["body"] = body
        whole.required += ["body"] if is_body_required else []
    return whole.as_schema()


def _find_fields(schema: JsonObject, levels: int = _MAX_NESTED_PARTS) -> _Fields | None:
    """Return the properties of a body that is a plain object, with the parts of `allOf` merged."""
    parts = schema.get("allOf", [])
    if schema.get("type", "object") != "object" or any(keyword in schema for keyword in _NOT_FLAT):
        return None
    if not levels or not ("type" in schema or "properties" in schema or parts):
        return None
    fields = _Fields(
        dict(schema.get("properties", {})),
        list(schema.get("required", [])),
        schema.get("additionalProperties"),
    )
    for part in parts:
        inner = _find_fields(part, levels - 1)
        if inner is None:
            return None
        fields.properties |= inner.properties
        fields.required += [name for name in inner.required if name not in fields.required]
    return fields
