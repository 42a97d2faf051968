"""An HTTP/1.1 connection to a checked address: sequential exchanges, each read under limits."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any, cast

import httptools

from retinue.kit.egress.errors import EgressFailed, EgressTimeout, ResponseTooLarge
from retinue.kit.errors import RetinueError

MAX_HEADER_BYTES = 64 * 1024

# Buffered for a slow reader; beyond this, reading from the socket pauses.
_MAX_UNREAD_BYTES = 64 * 1024
_NOT_HTTP = "The destination's response is not valid HTTP."
_BODILESS = frozenset({204, 304})


class ResponseHeaders(Mapping[str, str]):
    """Response headers with case-insensitive names; of several with one name, the first counts."""

    __slots__ = ("_values",)

    def __init__(self, received: list[tuple[bytes, bytes]]) -> None:
        values: dict[str, str] = {}
        for name, value in received:
            values.setdefault(name.lower().decode("utf-8", "replace"), value.decode("utf-8", "replace"))
        self._values = values

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def get(self, name: str, default: Any = None) -> Any:
        return self._values.get(name.lower(), default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class EgressConnection(asyncio.Protocol):
    """Receives a response from the parser, part by part, and hands it to the sender of the request."""

    __slots__ = (
        "_answer_by",
        "_ends_with_connection",
        "_error",
        "_has_no_body",
        "_headers",
        "_is_answering",
        "_is_complete",
        "_may_be_kept",
        "_nap",
        "_nap_until",
        "_parser",
        "_pieces",
        "_timer",
        "_transport",
        "_unframed",
        "_unread",
        "_waiter",
        "has_received",
        "headers",
        "is_lost",
        "kept_until",
        "length",
        "loop",
        "made_at",
        "status",
        "was_kept",
    )

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport
        self._waiter: asyncio.Future[None] | None = None
        self._nap: asyncio.TimerHandle | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._answer_by: float | None = None
        self._pieces: list[bytes] = []
        self._unread = 0
        self._error: RetinueError | None = None
        self._is_complete = True
        self.is_lost = False
        self.was_kept = False
        self.made_at = self.loop.time()
        self.kept_until = 0.0

    def send(self, head: bytes, content: bytes, *, has_no_body: bool) -> None:
        """Begin an exchange; with `has_no_body` (HEAD), the response has no body whatever its headers say."""
        self._headers: list[tuple[bytes, bytes]] = []
        self._has_no_body = has_no_body
        self._ends_with_connection = self._is_answering = self._is_complete = False
        self._may_be_kept = False
        self._unframed = 0
        self.has_received = False
        self.status = 0
        self.length: int | None = None
        self._nap_until = 0.0
        self._transport.write(head + content if len(content) < MAX_HEADER_BYTES else head)
        if len(content) >= MAX_HEADER_BYTES:
            self._transport.write(content)

    async def wait_for_head(self, until: float) -> None:
        """Wait for status and headers, at most until a time on the event loop's clock."""
        self._answer_by = until
        # The timer of an earlier exchange is reused: most responses arrive long before it fires.
        if self._timer is None or self._timer.when() > until:
            self._set_timer(until)
        try:
            while not self._is_answering:
                await self._wait_for_progress()
        finally:
            self._answer_by = None

    async def wait(self) -> None:
        """Wait until there is data to take or the body is complete."""
        while not self.has_news:
            await self._wait_for_progress()

    def take(self, nap_s: float = 0.0) -> bytes:
        """Return the received part of the body; nothing at its end.

        Data that arrives within the next `nap_s` seconds is delivered together at their end, because waking
        the reader costs more than reading (ADR 19).
        """
        pieces = self._pieces
        if not pieces:
            return b""
        self._nap_until = self.loop.time() + nap_s if nap_s else 0.0
        received = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        if self._unread > _MAX_UNREAD_BYTES and not self.is_lost:
            self._transport.resume_reading()
        self._unread = 0
        return received

    @property
    def has_news(self) -> bool:
        """Return whether there is data to take or the body is complete."""
        return self._is_complete or (bool(self._pieces) and self._nap is None)

    @property
    def is_at_end(self) -> bool:
        return self._is_complete and not self._pieces

    @property
    def is_reusable(self) -> bool:
        """Return whether the last exchange is complete in both directions."""
        return (
            self.is_at_end
            and self._may_be_kept
            and not self.is_lost
            and not self._transport.get_write_buffer_size()
        )

    def fail(self, error: RetinueError) -> None:
        """Abandon the exchange; the waiting reader gets the error."""
        if self._error is None:
            self._error = error
        self._wake()

    def time_out(self) -> None:
        self.fail(EgressTimeout())

    def _set_timer(self, at: float) -> None:
        self._stop_timer()
        self._timer = self.loop.call_at(at, self._check_deadline)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check_deadline(self) -> None:
        """Fail an exchange whose response is late; a newer exchange may have a later deadline."""
        self._timer = None
        if self._answer_by is None:
            return
        if self.loop.time() < self._answer_by:
            self._set_timer(self._answer_by)
        else:
            self.time_out()

    def close(self) -> None:
        self.is_lost = True
        self._stop_timer()
        self._transport.abort()

    async def _wait_for_progress(self) -> None:
        if self._error is not None:
            raise self._error
        self._waiter = self.loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._nap is not None:
            self._stop_nap()
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        self._stop_timer()
        # Break the reference cycle between the parser and this object.
        del self._parser
        if self._is_complete:
            return
        if not self._is_answering:
            self.fail(EgressFailed("The connection to the destination was lost."))
        elif self._ends_with_connection and exc is None:
            self._is_complete = True
            self._wake()
        else:
            self.fail(EgressFailed("The destination's response is incomplete."))

    def data_received(self, data: bytes) -> None:
        if self._is_complete or self._error is not None:
            # Unsolicited data must not be mistaken for the next response.
            self.close()
            return
        self.has_received = True
        self._unframed += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._may_be_kept = False
            if not self._is_complete:
                self.fail(EgressFailed(_NOT_HTTP))
        else:
            # Neither body nor complete headers: endless headers, trailers or chunk extensions.
            if self._unframed > MAX_HEADER_BYTES and not self._is_complete:
                self._refuse_header()

    def on_message_begin(self) -> None:
        if self._is_complete:
            self._may_be_kept = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._is_answering:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self._is_complete:
            return
        status = self._parser.get_status_code()
        if status < 200:
            self._headers.clear()
            return
        # The headers are at most as long as what was received, which is usually little.
        if self._unframed > MAX_HEADER_BYTES and _size_of(self._headers) > MAX_HEADER_BYTES:
            self._refuse_header()
            return
        self.headers = ResponseHeaders(self._headers)
        self._headers.clear()
        coding = self.headers.get("transfer-encoding")
        is_unsupported = coding is not None and coding.strip().lower() != "chunked"
        if is_unsupported or self._parser.get_http_version() not in {"1.1", "1.0"}:
            self.fail(EgressFailed(_NOT_HTTP))
            return
        self.status = status
        self._unframed = 0
        self._is_answering = True
        self._frame(status, is_chunked=coding is not None)
        self._wake()

    def _frame(self, status: int, *, is_chunked: bool) -> None:
        """Determine how the end of the body is recognized."""
        if self._has_no_body:
            # The parser would wait for a body that never arrives.
            self._is_complete = True
            return
        length = self.headers.get("content-length")
        if length is not None:
            self.length = int(length)
        else:
            self._ends_with_connection = not is_chunked and status not in _BODILESS
        # A body announced for a bodiless status may still arrive; it must not start the next response.
        is_misframed = status in _BODILESS and (is_chunked or (status == 204 and bool(self.length)))
        self._may_be_kept = self._parser.should_keep_alive() and not is_misframed

    def on_body(self, body: bytes) -> None:
        if self._is_complete:
            return
        self._unframed = 0
        self._pieces.append(body)
        was_over = self._unread > _MAX_UNREAD_BYTES
        self._unread += len(body)
        if self._unread > _MAX_UNREAD_BYTES and not was_over:
            self._transport.pause_reading()
        if self._nap is not None:
            return
        if self._nap_until and self.loop.time() < self._nap_until:
            self._transport.pause_reading()
            self._nap = self.loop.call_at(self._nap_until, self._end_nap)
        else:
            self._wake()

    def _end_nap(self) -> None:
        """Wake the reader after the event loop has read the data that arrived meanwhile."""
        self._stop_nap()
        self.loop.call_soon(self.loop.call_soon, self._wake)

    def _stop_nap(self) -> None:
        if self._nap is not None:
            self._nap.cancel()
            self._nap = None
        self._nap_until = 0.0
        if self._unread <= _MAX_UNREAD_BYTES and not self._transport.is_closing():
            self._transport.resume_reading()

    def on_message_complete(self) -> None:
        if self._is_answering:
            self._is_complete = True
            self._wake()

    def _refuse_header(self) -> None:
        self.fail(ResponseTooLarge("The headers of the destination's response are larger than allowed."))


def _size_of(headers: list[tuple[bytes, bytes]]) -> int:
    return sum(len(name) + len(value) + 4 for name, value in headers)
