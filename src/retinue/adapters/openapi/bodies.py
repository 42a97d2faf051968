"""What an operation takes and answers as JSON."""

from itertools import islice
from typing import Any

from retinue.adapters.openapi.source import Source, Unusable, is_json, schema_of_json, text_of

_MOST_NAMES = 50
_FIRST_CHOICES = ("200", "201", "202", "203", "2XX", "2xx")


def find_body(source: Source, operation: dict[str, Any], parameters: list[Any]) -> tuple[Any, bool]:
    """The schema of the body, None without one, and whether it must be sent."""
    if source.is_swagger:
        return _find_swagger_body(source, operation, parameters)
    body = source.follow(operation.get("requestBody"))
    content = body.get("content")
    if not isinstance(content, dict) or not content:
        return None, False
    if not any(map(is_json, islice(content, _MOST_NAMES))):
        if body.get("required") is True:
            raise Unusable("its body is not JSON")
        return None, False
    schema = schema_of_json(content)
    return {} if schema is None else schema, body.get("required") is True


def find_answer(source: Source, operation: dict[str, Any]) -> Any:
    """The schema of the body of a successful answer, None without one."""
    responses = operation.get("responses")
    if not isinstance(responses, dict):
        return None
    by_status = {text_of(status, 10): response for status, response in islice(responses.items(), _MOST_NAMES)}
    successes = [*_FIRST_CHOICES, *(status for status in by_status if status.startswith("2"))]
    for status in successes:
        if status in by_status:
            response = source.follow(by_status[status])
            return response.get("schema") if source.is_swagger else schema_of_json(response.get("content"))
    return None


def _find_swagger_body(source: Source, operation: dict[str, Any], parameters: list[Any]) -> tuple[Any, bool]:
    for written in map(source.follow, parameters):
        is_required = written.get("required") is True
        if written.get("in") == "formData" and is_required:
            raise Unusable("its body is not JSON")
        if written.get("in") == "body":
            consumed = operation.get("consumes", source.document.get("consumes"))
            if isinstance(consumed, list) and consumed and not any(map(is_json, consumed[:_MOST_NAMES])):
                raise Unusable("its body is not JSON")
            return written.get("schema", {}), is_required
    return None, False
