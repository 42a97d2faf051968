"""Composition of parameters and body into the one schema that a caller's input is validated against."""

from contextlib import suppress
from typing import Any

import msgspec

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
_NOT_FLAT = ("anyOf", "enum", "const")
_MAX_NESTED_PARTS = 5


class OperationInput(msgspec.Struct, frozen=True):
    schema: JsonObject
    is_flat: bool
    default_params: JsonObject
    default_headers: dict[str, str]


class _Fields(msgspec.Struct):
    """The named parts of an object: of the path, the query or the body."""

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


def build_input(
    source: ApiDocument, method: Method, parameters: list[ApiParameter], body: Any, *, is_body_required: bool
) -> OperationInput:
    """Build the input schema with as many levels of detail as fit."""
    for levels in _INPUT_LEVELS:
        translator = SchemaTranslator(source, is_input=True, levels=levels)
        try:
            composed = _compose(translator, method, parameters, body, is_body_required=is_body_required)
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
    translator: SchemaTranslator,
    method: Method,
    parameters: list[ApiParameter],
    body: Any,
    *,
    is_body_required: bool,
) -> OperationInput:
    path, query = _Fields(), _Fields()
    default_params: JsonObject = {}
    default_headers: dict[str, str] = {}
    for parameter in parameters:
        schema = parameter.translated(translator)
        fixed = fixed_value(schema) if parameter.is_required else None
        if parameter.location == "header":
            if parameter.is_required:
                default_headers[parameter.name] = _header_value(parameter.name, fixed)
            continue
        group = path if parameter.location == "path" else query
        group.properties[parameter.name] = schema
        if fixed is not None and group is query:
            default_params[parameter.name] = fixed
        elif parameter.is_required:
            group.required.append(parameter.name)
    translated = None if body is None else translator.translate(body)
    flat = _find_flat(method, path, query, translated)
    schema = flat or _structured(path, query, translated, is_body_required=is_body_required)
    return OperationInput(schema, flat is not None, default_params, default_headers)


def _header_value(name: str, fixed: object) -> str:
    """Return the header's only possible value, so that callers need not know it; raise if there is none."""
    if isinstance(fixed, str):
        with suppress(EgressRefused):
            check_custom_headers({name: fixed})
            return fixed
    raise UnusableOperation(f"it requires the header {name}")


def _find_flat(method: Method, path: _Fields, query: _Fields, body: JsonObject | None) -> JsonObject | None:
    """Return a flat schema, unless a value would then end up in the wrong place, query or body."""
    has_body = method in {"POST", "PUT"}
    if query.properties if has_body else body is not None:
        return None
    rest = (_find_fields(body) if body is not None else _Fields()) if has_body else query
    if rest is None or rest.properties.keys() & path.properties.keys():
        return None
    if _STRUCTURED_NAMES & (rest.properties.keys() | path.properties.keys()):
        return None
    return _Fields(
        {**path.properties, **rest.properties}, [*path.required, *rest.required], rest.additional
    ).as_schema()


def _structured(
    path: _Fields, query: _Fields, body: JsonObject | None, *, is_body_required: bool
) -> JsonObject:
    whole = _Fields()
    for name, group in (("path_params", path), ("query", query)):
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
