"""What an operation answers: its success from the handler's annotation, its refusals from the declaration."""

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
    Unauthorized,
    Unavailable,
    UnsupportedMediaType,
)
from retinue.kit.http.idempotency import IdempotencyConflict, IdempotencyKeyReused
from retinue.kit.http.openapi.shapes import Shapes, union_members
from retinue.kit.http.replies import ByteStream, Document, Download, EventStream, Reply
from retinue.kit.http.routing import PUBLIC, Route
from retinue.kit.limits import COST

Refusal = type[RetinueError]

# The media type of a file or document is known only once there is one.
# One event of a stream; its data is JSON text.
_EVENT = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("event", "id", "data")},
    "required": ["event", "data"],
}
_ANYTHING = "*/*"

HEADERS = {
    "X-RateLimit-Limit": ("integer", "Cost units that the window allows."),
    "X-RateLimit-Remaining": ("integer", "Cost units left in the window."),
    "X-RateLimit-Reset": ("integer", "The Unix second at which the oldest cost leaves the window."),
    "X-RateLimit-Window": (
        "string",
        "The window in seconds, or `concurrent` for work done at the same time.",
    ),
    "X-Request-ID": ("string", "The id of this request, for support and logs."),
    "X-Correlation-ID": ("string", "What the caller sent under this name, or a new id."),
    "Retry-After": ("integer", "Seconds to wait before the next try."),
    "WWW-Authenticate": ("string", "The scheme to authenticate with."),
    "Idempotent-Replayed": ("string", "`true` when this is the stored answer to an earlier request."),
}
_ON_EVERY_ANSWER = (
    "X-Correlation-ID",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-RateLimit-Window",
    "X-Request-ID",
)
_ON_STATUS = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",)}

# The refusals of the pipeline itself; an answer made of these alone is the same in every operation.
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
        Unauthorized,
        Unavailable,
        UnsupportedMediaType,
    }
)


class ErrorContent(msgspec.Struct):
    code: str
    message: str
    details: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET


class Error(msgspec.Struct):
    """The one shape of every refusal."""

    error: ErrorContent


class Answers:
    """Gives the responses of a route, and collects those that many routes share."""

    def __init__(self, shapes: Shapes) -> None:
        self._shapes = shapes
        self._shared: dict[str, Any] = {}
        self._error = {"application/json": {"schema": shapes.given(Error)}}

    def of(self, route: Route) -> dict[str, Any]:
        by_status: dict[int, list[Refusal]] = {}
        for refusal in dict.fromkeys(_refusals(route)):
            by_status.setdefault(refusal.status, []).append(refusal)
        responses = {str(status): self._refused(status, by_status[status]) for status in sorted(by_status)}
        successes = [status for status in (route.status, route.other_status) if status is not None]
        return {**{str(status): self._success(route, status) for status in successes}, **responses}

    def components(self) -> dict[str, Any]:
        return dict(sorted(self._shared.items()))

    def _success(self, route: Route, status: int) -> dict[str, Any]:
        response: dict[str, Any] = {
            "description": HTTPStatus(status).phrase,
            "headers": _headers("Idempotent-Replayed") if route.idempotent else _headers(),
        }
        content = self._content(route)
        if content:
            response["content"] = content
        return response

    def _content(self, route: Route) -> dict[str, Any]:
        if route.returns is inspect.Signature.empty:
            raise TypeError(f"{route.name} does not say what it returns")
        content: dict[str, Any] = {}
        json = []
        for returned in _unwrapped(route.returns):
            if returned in {ByteStream, Document, Download}:
                content[_ANYTHING] = {}
            elif returned is EventStream:
                content["text/event-stream"] = {"schema": _EVENT}
            else:
                json.append(self._shapes.given(returned))
        if json:
            schema = json[0] if len(json) == 1 else {"anyOf": json}
            if route.wrap:
                schema = {"type": "object", "properties": {"data": schema}, "required": ["data"]}
            content["application/json"] = {"schema": schema}
        return dict(sorted(content.items()))

    def _refused(self, status: int, refusals: list[Refusal]) -> dict[str, Any]:
        refusals = sorted(refusals, key=lambda refusal: (refusal.code, refusal.__name__))
        response = {
            "description": "\n".join(f"- `{refusal.code}`: {_message(refusal)}" for refusal in refusals),
            "headers": _headers(*_ON_STATUS.get(status, ())),
            "content": self._error,
            "x-codes": sorted({refusal.code for refusal in refusals}),
        }
        if not _PIPELINE.issuperset(refusals):
            return response
        name = "Or".join(refusal.__name__ for refusal in refusals)
        self._shared[name] = response
        return {"$ref": f"#/components/responses/{name}"}


def _headers(*more: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in sorted((*_ON_EVERY_ANSWER, *more))}


def _message(refusal: Refusal) -> str:
    return (refusal.__doc__ or "").strip().partition("\n")[0]


def _unwrapped(returns: Any) -> Iterator[Any]:
    for returned in union_members(returns):
        if get_origin(returned) is Reply:
            yield from _unwrapped(get_args(returned)[0])
        else:
            yield Any if returned is Reply else returned


def _refusals(route: Route) -> Iterator[Refusal]:
    """Everything the pipeline may refuse with before the handler, then what the handler declares."""
    if route.requires is not PUBLIC:
        yield Unauthorized
    if route.permission is not None or route.takes_embed_key:
        yield Forbidden
    for _, _, loader in route.loaders:
        yield NotFound if loader is None else loader.missing
    if route.upload is not None:
        yield from (FileTooLarge, UnsupportedMediaType, Invalid)
    elif route.body is not None:
        yield from (InvalidJson, PayloadTooLarge, UnsupportedMediaType, Invalid)
    if route.query is not None:
        yield Invalid
    if route.idempotent:
        yield from (Invalid, IdempotencyConflict, IdempotencyKeyReused)
    if COST[route.cost]:
        yield RateLimited
    yield Unavailable
    yield from route.errors
