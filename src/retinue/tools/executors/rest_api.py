"""`rest_api`: one of the configured endpoints, filled with values of the input."""

import re
from collections.abc import Mapping
from typing import Any

from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.tools.config.shapes import RestApiToolConfig, RestEndpoint, parse_run_config
from retinue.tools.errors import ExecutionFailed
from retinue.tools.executors.call import ExecutorCall
from retinue.tools.executors.forms import encode_form, form_pairs
from retinue.tools.executors.headers import header_texts, merge_headers, validate_headers
from retinue.tools.executors.http_call import HttpToolRequest, send
from retinue.tools.executors.urls import encode_segment, refuse_path_traversal

_INPUT_PLACES = frozenset({"path_params", "query", "body", "headers"})
_OBJECTS = ("path_params", "query", "headers")
_PLACEHOLDER = re.compile(r"\{([^{}/?#]+)\}")
_WITHOUT_BODY = frozenset({"GET", "HEAD", "DELETE"})


async def run(call: ExecutorCall) -> Any:
    config = parse_run_config(call.config, RestApiToolConfig)
    given = dict(call.input)
    endpoint = _choose_endpoint(config.endpoints, given.pop("endpoint", None))
    return await send(call, _build_request(call, config.base_url, endpoint, given))


def _choose_endpoint(endpoints: Mapping[str, RestEndpoint], name: object) -> RestEndpoint:
    if name is None and len(endpoints) == 1:
        return next(iter(endpoints.values()))
    if not isinstance(name, str) or name not in endpoints:
        raise Invalid({"input.endpoint": f"must be one of {', '.join(sorted(endpoints))}"})
    return endpoints[name]


def _build_request(
    call: ExecutorCall, base_url: str, endpoint: RestEndpoint, tool_input: JsonObject
) -> HttpToolRequest:
    """Build the request; values of a flat input fill the path first, then the query or the body."""
    method = endpoint.method.upper()
    is_explicit = _has_explicit_places(tool_input)
    explicit = tool_input if is_explicit else {}
    flat = {**(endpoint.default_params or {}), **({} if is_explicit else tool_input)}
    names = _PLACEHOLDER.findall(endpoint.path)
    path_values = {name: flat[name] for name in names if name in flat} | (explicit.get("path_params") or {})
    rest = {name: value for name, value in flat.items() if name not in names}
    query, body = explicit.get("query") or {}, explicit.get("body")
    if method in _WITHOUT_BODY:
        query = {**rest, **query}
    elif rest and (body is None or isinstance(body, dict)):
        body = {**rest, **(body or {})}
    input_headers = _input_headers(call, explicit.get("headers") or {})
    type_header: dict[str, str] = {}
    if body is not None and endpoint.body_type != "json":
        body, content_type = encode_form(
            body, endpoint.body_type, endpoint.body_styles or {}, "input.body" if is_explicit else "input"
        )
        type_header = {"Content-Type": content_type}
    return HttpToolRequest(
        method=method,
        url=_url(base_url, endpoint.path, path_values, "input.path_params" if is_explicit else "input"),
        query=form_pairs(query, endpoint.query_styles or {}, "input.query" if is_explicit else "input"),
        headers=merge_headers(header_texts(endpoint.default_headers), input_headers, type_header),
        body=body,
    )


def _has_explicit_places(tool_input: JsonObject) -> bool:
    """Return whether the input says where its values go; otherwise it is flat."""
    return _INPUT_PLACES.issuperset(tool_input) and all(
        isinstance(tool_input.get(name) or {}, dict) for name in _OBJECTS
    )


def _url(base_url: str, path: str, values: JsonObject, field: str) -> str:
    """Fill the path and append it to the base URL; values cannot leave the path."""
    if "?" in base_url or "#" in base_url:
        raise ExecutionFailed("not_configured", "config.base_url must not have a query or a fragment.")

    def fill(matched: re.Match[str]) -> str:
        return encode_segment(values.get(matched[1]), f"{field}.{matched[1]}")

    filled = _PLACEHOLDER.sub(fill, path)
    refuse_path_traversal(path, filled, field)
    return f"{base_url.rstrip('/')}/{filled.lstrip('/')}" if filled else base_url


def _input_headers(call: ExecutorCall, tool_input: JsonObject) -> dict[str, str]:
    """Return the headers of the input; they must not replace the tool's authentication."""
    headers = validate_headers(tool_input, "input.headers")
    granted = call.authentication
    reserved = {name.lower() for name in granted.headers}
    if granted.headers or granted.query:
        reserved.add("authorization")
    for name in headers:
        if name.lower() in reserved:
            raise Invalid({f"input.headers.{name}": "is set by the tool itself"})
    return headers
