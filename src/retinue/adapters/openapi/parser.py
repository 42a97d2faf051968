"""Parsing of a whole API description, operation by operation."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from retinue.adapters.openapi.bodies import NO_BODY, find_body, find_response_schema
from retinue.adapters.openapi.description import (
    ApiDescription,
    ApiEndpoint,
    InvalidDocument,
    Method,
    SuggestedAuth,
)
from retinue.adapters.openapi.document import ApiDocument, UnusableOperation, clean_text
from retinue.adapters.openapi.inputs import build_input, build_output_schema
from retinue.adapters.openapi.parameters import is_credential, parse_parameters
from retinue.adapters.openapi.security import find_base_url, find_server, suggest_auth
from retinue.kit.json_types import JsonObject

_METHODS: dict[str, Method] = {
    "get": "GET",
    "post": "POST",
    "put": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
}
_OTHER_METHODS = ("head", "options", "trace")
_MAX_PATHS = 5000
_MAX_ENDPOINTS = 1000
_MAX_PARAMETERS = 100
_MAX_NAME_LENGTH = 64
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_WORD = re.compile(r"[^a-z0-9]+")


class _Operation(msgspec.Struct, frozen=True):
    """One operation; `item` describes its path and what all operations there share."""

    method: Method
    path: str
    item: JsonObject
    details: JsonObject


def parse_api(document: Any) -> ApiDescription:
    """Parse the description in `document`, a JSON value; unusable parts are listed in `skipped`."""
    source = ApiDocument(document, is_swagger=_is_swagger(document))
    info = source.follow(source.document.get("info"))
    base_url = find_base_url(source)
    auth = suggest_auth(source)
    return ApiDescription(
        title=clean_text(info.get("title"), 100) or "Imported API",
        description=clean_text(info.get("description"), 2000),
        version=clean_text(info.get("version"), 50),
        base_url=base_url,
        endpoints=list(_endpoints(source, base_url, auth)),
        auth=auth,
        skipped=source.skipped(),
    )


def _is_swagger(document: object) -> bool:
    if not isinstance(document, dict):
        raise InvalidDocument("must be an object")
    if clean_text(document.get("openapi"), 20).startswith("3."):
        return False
    if clean_text(document.get("swagger"), 20).startswith("2."):
        return True
    raise InvalidDocument("must declare openapi 3.0 or 3.1, or swagger 2.0")


def _endpoints(source: ApiDocument, base_url: str | None, auth: SuggestedAuth) -> Iterator[ApiEndpoint]:
    names = _Names()
    for number, operation in enumerate(_operations(source)):
        if number == _MAX_ENDPOINTS:
            raise InvalidDocument(f"has more than {_MAX_ENDPOINTS} operations")
        try:
            yield _endpoint(source, operation, base_url, auth, names)
        except UnusableOperation as unusable:
            source.skip(f"{operation.method} {operation.path}", unusable.why)


def _operations(source: ApiDocument) -> Iterator[_Operation]:
    paths = source.document.get("paths")
    if not isinstance(paths, dict):
        raise InvalidDocument("has no paths")
    if len(paths) > _MAX_PATHS:
        raise InvalidDocument(f"has more than {_MAX_PATHS} paths")
    for path, path_item in paths.items():
        item = source.follow(path_item) if isinstance(path, str) else {}
        for name, method in _METHODS.items():
            if isinstance(details := item.get(name), dict):
                yield _Operation(method, path, item, details)
        for name in _OTHER_METHODS:
            if name in item:
                source.skip(f"{name.upper()} {path}", "tools use GET, POST, PUT, PATCH and DELETE only")


def _endpoint(
    source: ApiDocument, operation: _Operation, base_url: str | None, auth: SuggestedAuth, names: "_Names"
) -> ApiEndpoint:
    source.spend()
    method, path, item, details = operation.method, operation.path, operation.item, operation.details
    if (server := find_server(details) or find_server(item)) and server != base_url:
        raise UnusableOperation("it is on another server")
    listed = [*_limited_list(item.get("parameters")), *_limited_list(details.get("parameters"))]
    declared = [parameter for parameter in map(source.follow, listed) if not is_credential(parameter, auth)]
    parameters = parse_parameters(source, path, declared)
    body = NO_BODY if method == "GET" else find_body(source, details, declared)
    operation_input = build_input(source, method, parameters, body)
    operation_id = clean_text(details.get("operationId"), 200)
    return ApiEndpoint(
        name=names.unused(operation_id or f"{method} {path}"),
        operation_id=operation_id,
        method=method,
        path=path,
        summary=clean_text(details.get("summary") or item.get("summary"), 200),
        description=clean_text(details.get("description") or item.get("description"), 1000),
        default_params=operation_input.default_params,
        default_headers=operation_input.default_headers,
        input_schema=operation_input.schema,
        is_flat=operation_input.is_flat,
        body_type=body.body_type,
        query_styles={
            parameter.name: parameter.style
            for parameter in parameters
            if parameter.location == "query" and parameter.style != "repeat"
        },
        body_styles=body.styles,
        output_schema=build_output_schema(source, find_response_schema(source, details)),
    )


def _limited_list(value: object) -> list[Any]:
    return value[:_MAX_PARAMETERS] if isinstance(value, list) else []


class _Names:
    """Generates unique endpoint names of lowercase letters, digits and underscores."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._numbers: dict[str, int] = {}

    def unused(self, text: str) -> str:
        words = _NO_WORD.sub("_", _WORD_START.sub("_", text).lower())
        base_name = words.strip("_")[:_MAX_NAME_LENGTH].strip("_") or "operation"
        name = base_name
        while name in self._used:
            number = self._numbers[base_name] = self._numbers.get(base_name, 1) + 1
            name = f"{base_name[: _MAX_NAME_LENGTH - len(str(number)) - 1]}_{number}"
        self._used.add(name)
        return name
