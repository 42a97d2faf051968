"""`rest_api`: one of the configured endpoints, with values of the input in their declared places."""

import re
from collections.abc import Mapping
from typing import Any

from retinue.kit.errors import Invalid
from retinue.tools.calls import Call
from retinue.tools.errors import ExecutionFailed
from retinue.tools.executors.configs import Endpoint, RestApiConfig, read_config
from retinue.tools.executors.headers import checked_headers, header_texts, merged_headers
from retinue.tools.executors.http_call import Request, send
from retinue.tools.executors.urls import encoded, query_pairs, refuse_steps

_PLACES = frozenset({"path_params", "query", "body", "headers"})
_OBJECTS = ("path_params", "query", "headers")
_PLACEHOLDER = re.compile(r"\{([^{}/?#]+)\}")
_WITHOUT_BODY = frozenset({"GET", "HEAD", "DELETE"})


async def run(call: Call) -> Any:
    config = read_config(call.config, RestApiConfig)
    given = dict(call.input)
    endpoint = _chosen(config.endpoints, given.pop("endpoint", None))
    return await send(call, _request(call, config.base_url, endpoint, given))


def _chosen(endpoints: Mapping[str, Endpoint], name: Any) -> Endpoint:
    if name is None and len(endpoints) == 1:
        return next(iter(endpoints.values()))
    if not isinstance(name, str) or name not in endpoints:
        raise Invalid({"input.endpoint": f"must be one of {', '.join(sorted(endpoints))}"})
    return endpoints[name]


def _request(call: Call, base_url: str, endpoint: Endpoint, given: dict[str, Any]) -> Request:
    """Values that name no place of their own fill the path first, then the query or the body."""
    method = endpoint.method.upper()
    is_placed = _is_placed(given)
    placed = given if is_placed else {}
    loose = {**(endpoint.default_params or {}), **({} if is_placed else given)}
    names = _PLACEHOLDER.findall(endpoint.path)
    in_path = {name: loose[name] for name in names if name in loose} | (placed.get("path_params") or {})
    rest = {name: value for name, value in loose.items() if name not in names}
    query, body = placed.get("query") or {}, placed.get("body")
    if method in _WITHOUT_BODY:
        query = {**rest, **query}
    elif rest and (body is None or isinstance(body, dict)):
        body = {**rest, **(body or {})}
    own = _input_headers(call, placed.get("headers") or {})
    return Request(
        method=method,
        url=_url(base_url, endpoint.path, in_path, "input.path_params" if is_placed else "input"),
        query=query_pairs(query),
        headers=merged_headers(header_texts(endpoint.default_headers), own),
        body=body,
    )


def _is_placed(given: dict[str, Any]) -> bool:
    """Whether the input says where its values belong; otherwise it is flat."""
    return _PLACES.issuperset(given) and all(isinstance(given.get(name) or {}, dict) for name in _OBJECTS)


def _url(base_url: str, path: str, values: dict[str, Any], field: str) -> str:
    """The path below the base, which no value can leave."""
    if "?" in base_url or "#" in base_url:
        raise ExecutionFailed("not_configured", "config.base_url may not have a query or a fragment.")

    def fill(matched: re.Match[str]) -> str:
        return encoded(values.get(matched[1]), f"{field}.{matched[1]}")

    filled = _PLACEHOLDER.sub(fill, path)
    refuse_steps(path, filled, field)
    return f"{base_url.rstrip('/')}/{filled.lstrip('/')}" if filled else base_url


def _input_headers(call: Call, given: dict[str, Any]) -> dict[str, str]:
    """Headers of the input, which never stand in for what the tool itself is let in with."""
    headers = checked_headers(given, "input.headers")
    granted = call.authentication
    reserved = {name.lower() for name in granted.headers}
    if granted.headers or granted.query:
        reserved.add("authorization")
    for name in headers:
        if name.lower() in reserved:
            raise Invalid({f"input.headers.{name}": "is set by the tool itself"})
    return headers
