"""Parsing of a whole API description, operation by operation."""

from collections.abc import Iterator, Mapping
from typing import Any

from retinue.adapters.openapi.bodies import NO_BODY, find_body, find_response_schema
from retinue.adapters.openapi.description import (
    ApiDescription,
    ApiEndpoint,
    SuggestedAuth,
)
from retinue.adapters.openapi.document import ApiDocument, UnusableOperation, clean_text
from retinue.adapters.openapi.inputs import build_input, build_output_schema
from retinue.adapters.openapi.operations import (
    Operation,
    choose_operations,
    list_operations,
    open_document,
)
from retinue.adapters.openapi.parameters import is_credential, parse_parameters
from retinue.adapters.openapi.security import find_base_url, find_server, suggest_auth

_MAX_PARAMETERS = 100


def parse_api(document: Any, names: Mapping[str, str] | None = None) -> ApiDescription:
    """Parse the description in `document`, a JSON value; unusable parts are listed in `skipped`.

    `names` are the names of the endpoints of an excerpt, by method and path.
    """
    source = open_document(document)
    info = source.follow(source.document.get("info"))
    base_url = find_base_url(source)
    auth = suggest_auth(source)
    return ApiDescription(
        title=clean_text(info.get("title"), 100) or "Imported API",
        description=clean_text(info.get("description"), 2000),
        version=clean_text(info.get("version"), 50),
        base_url=base_url,
        endpoints=list(_endpoints(source, base_url, auth, names)),
        auth=auth,
        skipped=source.skipped(),
    )


def _endpoints(
    source: ApiDocument, base_url: str | None, auth: SuggestedAuth, names: Mapping[str, str] | None
) -> Iterator[ApiEndpoint]:
    for operation in choose_operations(list_operations(source, names), None).operations:
        try:
            yield _endpoint(source, operation, base_url, auth)
        except UnusableOperation as unusable:
            source.skip(operation.label, unusable.why)


def _endpoint(
    source: ApiDocument, operation: Operation, base_url: str | None, auth: SuggestedAuth
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
    return ApiEndpoint(
        name=operation.name,
        operation_id=operation.operation_id,
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
