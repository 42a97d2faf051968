"""Responses: the kinds of results that a handler may return besides a plain object."""

from collections.abc import AsyncIterator, Callable
from typing import Any, Generic, TypeVar

import msgspec
import structlog

from retinue.kit.errors import InternalError, RetinueError
from retinue.kit.http.error_format import ErrorFormat

log = structlog.get_logger("retinue.http")

T = TypeVar("T")

JSON = (b"content-type", b"application/json")
NO_STORE = (b"cache-control", b"no-store")

_encode = msgspec.json.Encoder().encode


class Reply(msgspec.Struct, Generic[T], frozen=True):
    """A body with a status or headers that differ from the route's declaration."""

    body: T
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()


class Download(msgspec.Struct, frozen=True, kw_only=True):
    """A file to download, which the browser must never execute."""

    chunks: Callable[[], AsyncIterator[bytes]]
    size: int
    mime_type: str
    filename: str = ""
    inline: bool = False
    cache: str = "no-store"


class WebDocument(msgspec.Struct, frozen=True):
    """A document of our own, such as the reference page or a public form."""

    content: bytes
    mime_type: str = "text/html; charset=utf-8"
    policy: str = "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"


class EventStream(msgspec.Struct, frozen=True):
    """Server-sent events; the producer opens its own units of work.

    `show_error` builds the last event of a failed stream for protocols without `event: error`. A stream that
    `is_endless` also ends when another process takes over: its client connects again.
    """

    events: Callable[[], AsyncIterator[Any]]
    show_error: Callable[[Any], Any] | None = None
    is_endless: bool = False


class ByteStream(msgspec.Struct, frozen=True):
    """A body that is sent while it is produced; the producer opens its own units of work.

    With `filename`, a browser stores it.
    """

    chunks: Callable[[], AsyncIterator[bytes]]
    mime_type: str
    filename: str = ""


class HttpResponse(msgspec.Struct):
    """A response to send: status, headers and a body, which may be a stream."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes = b""
    chunks: AsyncIterator[bytes] | None = None
    events: AsyncIterator[Any] | None = None
    made: AsyncIterator[bytes] | None = None
    show_error: Callable[[Any], Any] | None = None
    is_endless: bool = False

    @property
    def streams(self) -> bool:
        return self.chunks is not None or self.events is not None or self.made is not None


def encode(value: object) -> bytes:
    return _encode(value)


def render_error(error: RetinueError, format: ErrorFormat | None = None) -> HttpResponse:
    """Convert an error to a response; `format` is that of a route with another protocol."""
    if isinstance(error, InternalError):
        log.error("internal_error_in_response", exc_info=error)
        error = RetinueError()
    headers = [JSON, NO_STORE]
    given = error.headers if format is None else {**error.headers, **format.headers(error)}
    headers += [(name.lower().encode(), value.encode("latin-1")) for name, value in given.items()]
    body = error.body() if format is None else format.body(error)
    return HttpResponse(error.status, headers, _encode(body))


def render_response(result: object, status: int, *, wrap: bool) -> HttpResponse:
    """Convert a handler's result to a response."""
    headers: list[tuple[bytes, bytes]] = []
    if type(result) is Reply:
        headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in result.headers]
        status = result.status or status
        result = result.body
    if result is None:
        return HttpResponse(status, headers)
    if isinstance(result, Download):
        return _download(result, headers, status)
    if isinstance(result, WebDocument):
        headers += [
            (b"content-type", result.mime_type.encode()),
            (b"content-security-policy", result.policy.encode()),
        ]
        return HttpResponse(status, headers, result.content)
    if isinstance(result, EventStream):
        headers += ((b"content-type", b"text/event-stream"), NO_STORE)
        return HttpResponse(
            status,
            headers,
            events=result.events(),
            show_error=result.show_error,
            is_endless=result.is_endless,
        )
    if isinstance(result, ByteStream):
        headers += ((b"content-type", result.mime_type.encode()), NO_STORE)
        if result.filename:
            headers.append((b"content-disposition", _disposition(result.filename)))
        return HttpResponse(status, headers, made=result.chunks())
    if wrap:
        result = {"data": result}
    headers += (JSON, NO_STORE)
    return HttpResponse(status, headers, _encode(result))


def _download(file: Download, headers: list[tuple[bytes, bytes]], status: int) -> HttpResponse:
    headers += [
        (b"content-type", file.mime_type.encode("latin-1", "replace")),
        (b"content-length", b"%d" % file.size),
        (b"content-security-policy", b"sandbox; default-src 'none'"),
        (b"content-disposition", _disposition(file.filename, "inline" if file.inline else "attachment")),
        (b"cache-control", file.cache.encode()),
    ]
    return HttpResponse(status, headers, chunks=file.chunks())


def _disposition(filename: str, kind: str = "attachment") -> bytes:
    from urllib.parse import quote

    if not filename:
        return kind.encode()
    return f"{kind}; filename*=UTF-8''{quote(filename, safe='')}".encode()


def security_headers(*, is_https: bool) -> list[tuple[bytes, bytes]]:
    """Return the headers of every response."""
    headers = [
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
        (b"x-frame-options", b"DENY"),
        (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    ]
    if is_https:
        headers.append((b"strict-transport-security", b"max-age=31536000"))
    return headers
