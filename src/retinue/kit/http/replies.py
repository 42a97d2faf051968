"""What a handler may answer besides a plain object."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from retinue.kit.errors import RetinueError

T = TypeVar("T")
Headers = Sequence[tuple[bytes, bytes]]

JSON = (b"content-type", b"application/json")
NO_STORE = (b"cache-control", b"no-store")

_encode = msgspec.json.Encoder().encode


class Reply(msgspec.Struct, Generic[T], frozen=True):
    """A body with another status or further headers than the route declares."""

    body: T
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()


class Download(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes for the browser to keep, never to run."""

    chunks: Callable[[], AsyncIterator[bytes]]
    size: int
    mime_type: str
    filename: str = ""
    inline: bool = False
    cache: str = "no-store"


class Document(msgspec.Struct, frozen=True):
    """A whole document of our own: the reference page, a public form."""

    content: bytes
    mime_type: str = "text/html; charset=utf-8"
    policy: str = "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"


class EventStream(msgspec.Struct, frozen=True):
    """Server-sent events; the producer opens units of work of its own.

    `show_error` writes the last event of a stream that failed, where `event: error` is not the protocol's.
    """

    events: Callable[[], AsyncIterator[Any]]
    show_error: Callable[[Any], Any] | None = None


class ByteStream(msgspec.Struct, frozen=True):
    """Bytes that are still being made; the producer opens units of work of its own."""

    chunks: Callable[[], AsyncIterator[bytes]]
    mime_type: str


class Answer(msgspec.Struct):
    """What is sent: status, headers and body, or a body that streams."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes = b""
    chunks: AsyncIterator[bytes] | None = None
    events: AsyncIterator[Any] | None = None
    made: AsyncIterator[bytes] | None = None
    show_error: Callable[[Any], Any] | None = None

    @property
    def streams(self) -> bool:
        return self.chunks is not None or self.events is not None or self.made is not None


def encode(value: Any) -> bytes:
    return _encode(value)


def error_answer(error: RetinueError) -> Answer:
    content: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.details is not None:
        content["details"] = error.details
    headers = [JSON, NO_STORE]
    headers += [(name.lower().encode(), value.encode("latin-1")) for name, value in error.headers.items()]
    return Answer(error.status, headers, _encode({"error": content}))


def answer(result: Any, status: int, *, wrap: bool) -> Answer:
    """Turn what the handler returned into what is sent."""
    headers: list[tuple[bytes, bytes]] = []
    if type(result) is Reply:
        headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in result.headers]
        status = result.status or status
        result = result.body
    if result is None:
        return Answer(status, headers)
    if isinstance(result, Download):
        return _download(result, headers, status)
    if isinstance(result, Document):
        headers += [
            (b"content-type", result.mime_type.encode()),
            (b"content-security-policy", result.policy.encode()),
        ]
        return Answer(status, headers, result.content)
    if isinstance(result, EventStream):
        headers += ((b"content-type", b"text/event-stream"), NO_STORE)
        return Answer(status, headers, events=result.events(), show_error=result.show_error)
    if isinstance(result, ByteStream):
        headers += ((b"content-type", result.mime_type.encode()), NO_STORE)
        return Answer(status, headers, made=result.chunks())
    if wrap:
        result = {"data": result}
    headers += (JSON, NO_STORE)
    return Answer(status, headers, _encode(result))


def _download(file: Download, headers: list[tuple[bytes, bytes]], status: int) -> Answer:
    headers += [
        (b"content-type", file.mime_type.encode("latin-1", "replace")),
        (b"content-length", b"%d" % file.size),
        (b"content-security-policy", b"sandbox; default-src 'none'"),
        (b"content-disposition", _disposition(file)),
        (b"cache-control", file.cache.encode()),
    ]
    return Answer(status, headers, chunks=file.chunks())


def _disposition(file: Download) -> bytes:
    from urllib.parse import quote

    kind = "inline" if file.inline else "attachment"
    if not file.filename:
        return kind.encode()
    return f"{kind}; filename*=UTF-8''{quote(file.filename, safe='')}".encode()
