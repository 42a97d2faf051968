"""Request and response bodies of an operation: their schemas, and how a request's body is written."""

from itertools import islice
from typing import Any

import msgspec

from retinue.adapters.openapi.description import BodyType, ValueStyle
from retinue.adapters.openapi.document import (
    ApiDocument,
    UnusableOperation,
    clean_text,
    is_json_media_type,
    json_body_schema,
    plain_media_type,
)
from retinue.adapters.openapi.value_styles import file_schema, find_style, find_swagger_style, is_file
from retinue.kit.json_types import JsonObject

_MAX_MEDIA_TYPES = 50
_MAX_PROPERTIES = 200
_MAX_NAME_LENGTH = 200
_PREFERRED_STATUSES = ("200", "201", "202", "203", "2XX", "2xx")
_FORM_TYPES: dict[str, BodyType] = {
    "application/x-www-form-urlencoded": "form",
    "multipart/form-data": "multipart",
}
_NO_USABLE_TYPE = "its body is neither JSON nor a form"


class OperationBody(msgspec.Struct, frozen=True, kw_only=True):
    """A request's body; `schema` is None if there is none."""

    schema: Any = None
    is_required: bool = False
    body_type: BodyType = "json"
    styles: dict[str, ValueStyle] = {}


NO_BODY = OperationBody()


def find_body(source: ApiDocument, operation: JsonObject, parameters: list[JsonObject]) -> OperationBody:
    """Return the body in the first form that tools can send: JSON, a form, or a multipart form."""
    if source.is_swagger:
        return _find_swagger_body(source, operation, parameters)
    body = source.follow(operation.get("requestBody"))
    content = body.get("content")
    if not isinstance(content, dict) or not content:
        return NO_BODY
    is_required = body.get("required") is True
    if any(map(is_json_media_type, islice(content, _MAX_MEDIA_TYPES))):
        schema = json_body_schema(content)
        return OperationBody(schema={} if schema is None else schema, is_required=is_required)
    by_type = {plain_media_type(name): content[name] for name in islice(content, _MAX_MEDIA_TYPES)}
    for media_type, body_type in _FORM_TYPES.items():
        if media_type in by_type:
            return _form_body(source, by_type[media_type], body_type, is_required=is_required)
    if is_required:
        raise UnusableOperation(_NO_USABLE_TYPE)
    return NO_BODY


def find_response_schema(source: ApiDocument, operation: JsonObject) -> Any:
    """Return the schema of a successful response's body, or None."""
    responses = operation.get("responses")
    if not isinstance(responses, dict):
        return None
    by_status = {
        clean_text(status, 10): response for status, response in islice(responses.items(), _MAX_MEDIA_TYPES)
    }
    successes = [*_PREFERRED_STATUSES, *(status for status in by_status if status.startswith("2"))]
    for status in successes:
        if status in by_status:
            response = source.follow(by_status[status])
            return response.get("schema") if source.is_swagger else json_body_schema(response.get("content"))
    return None


def _form_body(
    source: ApiDocument, media_type: object, body_type: BodyType, *, is_required: bool
) -> OperationBody:
    described = media_type if isinstance(media_type, dict) else {}
    schema = source.follow(described.get("schema"))
    encoding = described.get("encoding")
    properties = schema.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    if not properties and schema.get("additionalProperties") is False:
        return NO_BODY
    styles: dict[str, ValueStyle] = {}
    for name, declared in islice(encoding.items() if isinstance(encoding, dict) else (), _MAX_PROPERTIES):
        style = find_style(declared) if isinstance(declared, dict) else "repeat"
        if style != "repeat" and name in properties and len(name) <= _MAX_NAME_LENGTH:
            styles[name] = style
    if body_type == "multipart":
        source.spend(min(len(properties), _MAX_PROPERTIES))
        files = [
            name for name, inner in islice(properties.items(), _MAX_PROPERTIES) if is_file(source, inner)
        ]
        styles |= dict.fromkeys(files, "file")
        contents = {name: file_schema(source, properties[name]) for name in files}
        schema = {**schema, "properties": {**properties, **contents}}
    return OperationBody(
        schema={"type": "object", **schema}, is_required=is_required, body_type=body_type, styles=styles
    )


def _find_swagger_body(
    source: ApiDocument, operation: JsonObject, parameters: list[JsonObject]
) -> OperationBody:
    consumed = operation.get("consumes", source.document.get("consumes"))
    media_types = consumed[:_MAX_MEDIA_TYPES] if isinstance(consumed, list) else []
    fields: list[JsonObject] = []
    for parameter in parameters:
        name = parameter.get("name")
        if parameter.get("in") == "formData" and isinstance(name, str) and len(name) <= _MAX_NAME_LENGTH:
            fields.append(parameter)
        if parameter.get("in") == "body":
            if media_types and not any(map(is_json_media_type, media_types)):
                raise UnusableOperation(_NO_USABLE_TYPE)
            is_required = parameter.get("required") is True
            return OperationBody(schema=parameter.get("schema", {}), is_required=is_required)
    return (
        _swagger_form(source, fields, {plain_media_type(name) for name in media_types}) if fields else NO_BODY
    )


def _swagger_form(source: ApiDocument, fields: list[JsonObject], media_types: set[str]) -> OperationBody:
    """Return a form; without `consumes` it is multipart only if it has a file."""
    styles = {field["name"]: find_swagger_style(source, field) for field in fields}
    is_multipart = "file" in styles.values() or media_types.intersection(_FORM_TYPES) == {
        "multipart/form-data"
    }
    required = [field["name"] for field in fields if field.get("required") is True]
    return OperationBody(
        schema={
            "type": "object",
            "properties": {
                field["name"]: file_schema(source, field) if styles[field["name"]] == "file" else field
                for field in fields
            },
            "required": required,
        },
        is_required=bool(required),
        body_type="multipart" if is_multipart else "form",
        styles={name: style for name, style in styles.items() if style != "repeat"},
    )
