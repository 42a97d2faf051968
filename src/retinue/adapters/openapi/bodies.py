"""JSON schemas of an operation's request and response bodies."""

from itertools import islice
from typing import Any

from retinue.adapters.openapi.document import (
    ApiDocument,
    UnusableOperation,
    clean_text,
    is_json_media_type,
    json_body_schema,
)
from retinue.kit.json_types import JsonObject

_MAX_MEDIA_TYPES = 50
_PREFERRED_STATUSES = ("200", "201", "202", "203", "2XX", "2xx")


def find_body_schema(source: ApiDocument, operation: JsonObject, parameters: list[Any]) -> tuple[Any, bool]:
    """Return the schema of the body, or None, and whether the body is required."""
    if source.is_swagger:
        return _find_swagger_body(source, operation, parameters)
    body = source.follow(operation.get("requestBody"))
    content = body.get("content")
    if not isinstance(content, dict) or not content:
        return None, False
    if not any(map(is_json_media_type, islice(content, _MAX_MEDIA_TYPES))):
        if body.get("required") is True:
            raise UnusableOperation("its body is not JSON")
        return None, False
    schema = json_body_schema(content)
    return {} if schema is None else schema, body.get("required") is True


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


def _find_swagger_body(source: ApiDocument, operation: JsonObject, parameters: list[Any]) -> tuple[Any, bool]:
    for parameter in map(source.follow, parameters):
        is_required = parameter.get("required") is True
        if parameter.get("in") == "formData" and is_required:
            raise UnusableOperation("its body is not JSON")
        if parameter.get("in") == "body":
            consumed = operation.get("consumes", source.document.get("consumes"))
            if (
                isinstance(consumed, list)
                and consumed
                and not any(map(is_json_media_type, consumed[:_MAX_MEDIA_TYPES]))
            ):
                raise UnusableOperation("its body is not JSON")
            return parameter.get("schema", {}), is_required
    return None, False
