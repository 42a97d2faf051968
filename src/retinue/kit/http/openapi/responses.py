"""The responses of an operation: success from the handler's annotation, errors from the declaration."""

import inspect
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, get_args, get_origin

import msgspec

from retinue.kit.errors import (
    FileTooLarge,
    Forbidden,
    Invalid,
    InvalidJson,
    NotFound,
    PayloadTooLarge,
    RateLimited,
    RetinueError,
    TenantNotFound,
    Unauthorized,
    Unavailable,
    UnsupportedMediaType,
    VersionConflict,
)
from retinue.kit.http.error_format import ErrorFormat
from retinue.kit.http.idempotency import IdempotencyConflict, IdempotencyKeyReused
from retinue.kit.http.openapi.schemas import SchemaComponents, union_members
from retinue.kit.http.replies import ByteStream, Download, EventStream, Reply, WebDocument
from retinue.kit.http.routing import ANY_NAME, PUBLIC, Route, takes_if_match, takes_if_none_match
from retinue.kit.http.unknown_names import WARNED_METHODS
from retinue.kit.json_types import JsonObject
from retinue.kit.limits import COST

Refusal = type[RetinueError]

# One event of a stream; its data is JSON text.
_EVENT = {
    "type": "object",
    "properties": {
        "event": {"type": "string", "description": "Type of the event; it decides the fields of `data`."},
        "id": {
            "type": "string",
            "description": "Position in the stream. Send the latest as `Last-Event-ID` to continue there.",
        },
        "data": {"type": "string", "description": "JSON text: an object whose fields depend on `event`."},
    },
    "required": ["event", "data"],
}
_WARNINGS = {"type": "array", "items": {"type": "string"}, "description": "As in `RequestWarnings`."}
# The media type of a file or document depends on the request.
_ANYTHING = "*/*"

HEADERS = {
    "X-RateLimit-Limit": ("integer", "Cost units that the window allows."),
    "X-RateLimit-Remaining": ("integer", "Cost units left in the window."),
    "X-RateLimit-Reset": ("integer", "Unix second at which the oldest cost leaves the window."),
    "X-RateLimit-Window": (
        "integer",
        "Length of the window in seconds; for a concurrency limit, the seconds to wait.",
    ),
    "X-RateLimit-Scope": (
        "string",
        "Whose requests are used up: `tenant`, `key` or `address`; absent if another limit refused.",
    ),
    "ETag": (
        "string",
        "Version of the returned object, to send as `If-Match` with a change; of a list, `If-None-Match`.",
    ),
    "X-Request-ID": ("string", "Id of this request, for support and logs."),
    "X-Correlation-ID": ("string", "Correlation id sent by the caller, or a new one."),
    "Retry-After": ("integer", "Seconds to wait before the next attempt."),
    "WWW-Authenticate": ("string", "Authentication scheme to use."),
    "X-Retinue-Warnings": (
        "string",
        "`ignored_field:` and the path of each name that had no effect, percent-encoded, at most 20.",
    ),
    "Preference-Applied": ("string", "`handling=strict` if the request preferred it."),
    "Idempotent-Replayed": ("string", "`true` if this is the stored response to an earlier request."),
}
_ON_EVERY_RESPONSE = (
    "X-Correlation-ID",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-RateLimit-Window",
    "X-Request-ID",
)
_ON_STATUS = {401: ("WWW-Authenticate",), 429: ("Retry-After", "X-RateLimit-Scope"), 503: ("Retry-After",)}

# Errors of the pipeline itself; a response made of these alone is shared by all operations.
_PIPELINE = frozenset(
    {
        FileTooLarge,
        Forbidden,
        IdempotencyConflict,
        IdempotencyKeyReused,
        Invalid,
        InvalidJson,
        NotFound,
        PayloadTooLarge,
        RateLimited,
        TenantNotFound,
        Unauthorized,
        Unavailable,
        UnsupportedMediaType,
        VersionConflict,
    }
)


class ErrorContent(msgspec.Struct):
    code: str
    message: str
    details: JsonObject | msgspec.UnsetType = msgspec.UNSET


class Error(msgspec.Struct):
    """The format of every error."""

    error: ErrorContent


class RequestWarnings(msgspec.Struct):
    """Present if fields of the request had no effect."""

    warnings: list[str] | msgspec.UnsetType = msgspec.UNSET


class ResponseComponents:
    """Builds the responses of a route and collects those shared by many routes."""

    def __init__(self, shapes: SchemaComponents) -> None:
        self._shapes = shapes
        self._shared: JsonObject = {}
        self._error = {"application/json": {"schema": shapes.response_schema(Error)}}

    def of(self, route: Route) -> JsonObject:
        by_status: dict[int, list[Refusal]] = {}
        for refusal in dict.fromkeys(_refusals(route)):
            by_status.setdefault(refusal.status, []).append(refusal)
        responses = {
            str(status): self._refused(status, by_status[status], route.error_format)
            for status in sorted(by_status)
        }
        successes = [status for status in (route.status, route.other_status) if status is not None]
        if takes_if_none_match(route):
            responses = {"304": self._unchanged(), **responses}
        return {**{str(status): self._success(route, status) for status in successes}, **responses}

    def components(self) -> JsonObject:
        return dict(sorted(self._shared.items()))

    def _success(self, route: Route, status: int) -> JsonObject:
        response: JsonObject = {
            "description": HTTPStatus(status).phrase,
            "headers": _headers(*_more_headers(route)),
        }
        content = self._content(route)
        if content:
            response["content"] = content
        return response

    def _unchanged(self) -> JsonObject:
        self._shared["Unchanged"] = {
            "description": "The response is still the one that `If-None-Match` names.",
            "headers": _headers("ETag"),
        }
        return {"$ref": "#/components/responses/Unchanged"}

    def _content(self, route: Route) -> JsonObject:
        if route.returns is inspect.Signature.empty:
            raise TypeError(f"{route.name} does not say what it returns")
        content: JsonObject = {}
        json = []
        for returned in _unwrapped(route.returns):
            if returned in {ByteStream, WebDocument, Download}:
                content[_ANYTHING] = {}
            elif returned is EventStream:
                content["text/event-stream"] = {"schema": _EVENT}
            else:
                json.append(self._shapes.response_schema(returned))
        if json:
            schema = json[0] if len(json) == 1 else {"anyOf": json}
            content["application/json"] = {"schema": self._enveloped(route, schema)}
        return dict(sorted(content.items()))

    def _enveloped(self, route: Route, schema: JsonObject) -> JsonObject:
        """Return the schema of the whole body: below `data` if wrapped, with warnings if it may have any."""
        may_warn = _may_have_warnings(route)
        if route.wrap:
            properties = {"data": _described(schema), **({"warnings": _WARNINGS} if may_warn else {})}
            return {"type": "object", "properties": properties, "required": ["data"]}
        return {"allOf": [schema, self._shapes.response_schema(RequestWarnings)]} if may_warn else schema

    def _refused(self, status: int, refusals: list[Refusal], format: ErrorFormat | None) -> JsonObject:
        refusals = sorted(refusals, key=lambda refusal: (refusal.code, refusal.__name__))
        response = {
            "description": "\n".join(f"- `{refusal.code}`: {_message(refusal)}" for refusal in refusals),
            "headers": _headers(*_ON_STATUS.get(status, ())),
            "content": self._error_content(refusals, format),
            "x-codes": sorted({refusal.code for refusal in refusals}),
        }
        if format is not None or not _PIPELINE.issuperset(refusals):
            return response
        name = "Or".join(refusal.__name__ for refusal in refusals)
        self._shared[name] = response
        return {"$ref": f"#/components/responses/{name}"}

    def _error_content(self, refusals: list[Refusal], format: ErrorFormat | None) -> JsonObject:
        """Return the envelope, and the shapes of errors that a protocol prescribes."""
        if format is not None:
            return {"application/json": {"schema": self._shapes.response_schema(format.shape)}}
        shapes = dict.fromkeys(refusal.body_shape for refusal in refusals)
        if shapes.keys() == {None}:
            return self._error
        schemas = [self._shapes.response_schema(Error if shape is None else shape) for shape in shapes]
        return {"application/json": {"schema": schemas[0] if len(schemas) == 1 else {"anyOf": schemas}}}


def _may_have_warnings(route: Route) -> bool:
    """Return whether the pipeline may add `warnings` to an answer whose type does not have them."""
    takes_anything = route.reads_body and route.query_names is ANY_NAME
    if route.method not in WARNED_METHODS or route.is_foreign or takes_anything:
        return False
    members = [get_origin(returned) or returned for returned in _unwrapped(route.returns)]
    streams = {ByteStream, Download, EventStream, WebDocument}
    shapes = [shape for shape in members if shape not in streams and issubclass(shape, msgspec.Struct)]
    return bool(shapes) and (route.wrap or not any("warnings" in shape.__struct_fields__ for shape in shapes))


def _more_headers(route: Route) -> Iterator[str]:
    if route.method in WARNED_METHODS and (route.body or route.upload) and not _may_have_warnings(route):
        yield "X-Retinue-Warnings"
    if route.idempotent:
        yield "Idempotent-Replayed"
    is_editable = route.versioned is not None or route.handles_etag_itself
    if (is_editable and route.method != "DELETE") or takes_if_none_match(route):
        yield "ETag"


def _headers(*more: str) -> JsonObject:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in sorted((*_ON_EVERY_RESPONSE, *more))}


def _message(refusal: Refusal) -> str:
    return (refusal.__doc__ or "").strip().partition("\n")[0]


def _unwrapped(returns: object) -> Iterator[Any]:
    for returned in union_members(returns):
        if get_origin(returned) is Reply:
            yield from _unwrapped(get_args(returned)[0])
        else:
            yield Any if returned is Reply else returned


def _refusals(route: Route) -> Iterator[Refusal]:
    """Yield the errors of the pipeline, then those declared for the handler."""
    if route.requires is not PUBLIC:
        yield Unauthorized
    if route.permission is not None or route.takes_embed_key:
        yield Forbidden
    if route.takes_tenant_id:
        yield TenantNotFound
    for _, _, loader in route.loaders:
        yield NotFound if loader is None else loader.missing
    yield from _input_refusals(route)
    if route.idempotent:
        yield from (Invalid, IdempotencyConflict, IdempotencyKeyReused)
    if takes_if_match(route):
        yield VersionConflict
    if COST[route.cost]:
        yield route.over_limit
    yield Unavailable
    yield from route.errors


def _input_refusals(route: Route) -> Iterator[Refusal]:
    if route.upload is not None:
        yield from (FileTooLarge, UnsupportedMediaType, Invalid)
    elif route.body is not None:
        yield from (InvalidJson, PayloadTooLarge, UnsupportedMediaType, Invalid)
    if route.query is not None:
        yield Invalid


def _described(data: JsonObject) -> JsonObject:
    """Return the schema of `data` with a description."""
    is_list = data.get("type") == "array"
    return {"description": "The entries." if is_list else "Result of the operation.", **data}
