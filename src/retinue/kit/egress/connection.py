"""One HTTP/1.1 connection to a checked address: one exchange after the other, each read under limits."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any, cast

import httptools

from retinue.kit.egress.errors import EgressFailed, EgressTimeout, ResponseTooLarge
from retinue.kit.errors import RetinueError

MAX_HEADER_BYTES = 64 * 1024

# What waits for a slow reader; then the other side is made to wait.
_UNREAD_BYTES = 64 * 1024
_NOT_HTTP = "The destination's answer is not valid HTTP."
_BODILESS = frozenset({204, 304})


class Headers(Mapping[str, str]):
    """The headers of an answer, by any spelling of their names; of several with one name the first counts."""

    __slots__ = ("_values",)

    def __init__(self, received: list[tuple[bytes, bytes]]) -> None:
        self._values: dict[str, str] = {}
        for name, value in received:
            self._values.setdefault(str(name, "utf-8", "replace").lower(), str(value, "utf-8", "replace"))

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def get(self, name: str, default: Any = None) -> Any:
        return self._values.get(name.lower(), default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class Connection(asyncio.Protocol):
    """The parser tells of an answer part by part; whoever sent the request reads it here."""

    __slots__ = (
        "_ends_with_connection",
        "_error",
        "_has_no_body",
        "_head_bytes",
        "_headers",
        "_is_answering",
        "_is_complete",
        "_may_be_kept",
        "_nap",
        "_nap_until",
        "_parser",
        "_pieces",
        "_transport",
        "_unframed",
        "_unread",
        "_waiter",
        "has_received",
        "headers",
        "is_lost",
        "kept_since",
        "length",
        "loop",
        "status",
        "was_kept",
    )

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport
        self._waiter: asyncio.Future[None] | None = None
        self._nap: asyncio.TimerHandle | None = None
        self._pieces: list[bytes] = []
        self._unread = 0
        self._error: RetinueError | None = None
        self._is_complete = True
        self.is_lost = False
        self.was_kept = False
        self.kept_since = 0.0

    def peer(self) -> tuple[str, int]:
        name = self._transport.get_extra_info("peername")
        return name[:2] if name else ("", 0)

    def send(self, head: bytes, content: bytes, *, has_no_body: bool) -> None:
        """Begin an exchange; `has_no_body`: no body will come, whatever the answer says of its length."""
        self._headers: list[tuple[bytes, bytes]] = []
        self._has_no_body = has_no_body
        self._ends_with_connection = self._is_answering = self._is_complete = False
        self._may_be_kept = False
        self._head_bytes = self._unframed = 0
        self.has_received = False
        self.status = 0
        self.length: int | None = None
        self._nap_until = 0.0
        self._transport.write(head + content if len(content) < MAX_HEADER_BYTES else head)
        if len(content) >= MAX_HEADER_BYTES:
            self._transport.write(content)

    async def answer(self, until: float) -> None:
        """Wait until status and headers are there, at most until a moment on the event loop's clock."""
        # A timer of the loop: to cancel the task, as asyncio.timeout would, costs several times as much.
        timer = self.loop.call_at(until, self.time_out)
        try:
            while not self._is_answering:
                await self._news()
        finally:
            timer.cancel()

    async def wait(self) -> None:
        """Until there is something to take, or the body is at its end."""
        while not self.has_news:
            await self._news()

    def take(self, nap_s: float = 0.0) -> bytes:
        """What has come of the body; nothing at its end.

        What comes within `nap_s` after this is given together at the end of that time, because every waking
        of a reader costs more than what it reads.
        """
        pieces = self._pieces
        if not pieces:
            return b""
        self._nap_until = self.loop.time() + nap_s if nap_s else 0.0
        received = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        if self._unread > _UNREAD_BYTES and not self.is_lost:
            self._transport.resume_reading()
        self._unread = 0
        return received

    @property
    def has_news(self) -> bool:
        """Whether there is something to take, or the body is at its end."""
        return self._is_complete or (bool(self._pieces) and self._nap is None)

    @property
    def is_at_end(self) -> bool:
        return self._is_complete and not self._pieces

    @property
    def is_reusable(self) -> bool:
        """Whether nothing is left of the last exchange on either side."""
        return (
            self.is_at_end
            and self._may_be_kept
            and not self.is_lost
            and not self._transport.get_write_buffer_size()
        )

    def fail(self, error: RetinueError) -> None:
        """Give the exchange up; whoever waits for it hears why."""
        if self._error is None:
            self._error = error
        self._wake()

    def time_out(self) -> None:
        self.fail(EgressTimeout())

    def close(self) -> None:
        self.is_lost = True
        self._transport.abort()

    async def _news(self) -> None:
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
        # The parser holds this object, and this object the parser.
        del self._parser
        if self._is_complete:
            return
        if not self._is_answering:
            self.fail(EgressFailed("The connection to the destination broke."))
        elif self._ends_with_connection and exc is None:
            self._is_complete = True
            self._wake()
        else:
            self.fail(EgressFailed("The destination's answer is cut off."))

    def data_received(self, data: bytes) -> None:
        if self._is_complete or self._error is not None:
            # Nobody asked: what comes now must not be taken for the next answer.
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
            # What is neither body nor a finished head: endless headers, trailers or chunk extensions.
            if self._unframed > MAX_HEADER_BYTES and not self._is_complete:
                self._refuse_header()

    def on_message_begin(self) -> None:
        if self._is_complete:
            self._may_be_kept = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._is_answering:
            self._headers.append((name, value))
            self._head_bytes += len(name) + len(value) + 4

    def on_headers_complete(self) -> None:
        if self._is_complete:
            return
        status = self._parser.get_status_code()
        if status < 200:
            self._headers.clear()
            self._head_bytes = 0
            return
        if self._head_bytes > MAX_HEADER_BYTES:
            self._refuse_header()
            return
        self.headers = Headers(self._headers)
        self._headers.clear()
        coding = self.headers.get("transfer-encoding")
        is_odd = coding is not None and coding.strip().lower() != "chunked"
        if is_odd or self._parser.get_http_version() not in {"1.1", "1.0"}:
            self.fail(EgressFailed(_NOT_HTTP))
            return
        self.status = status
        self._unframed = 0
        self._is_answering = True
        self._frame(status, is_chunked=coding is not None)
        self._wake()

    def _frame(self, status: int, *, is_chunked: bool) -> None:
        """How the end of the body is told."""
        if self._has_no_body:
            # The parser would wait for a body that does not come.
            self._is_complete = True
            return
        length = self.headers.get("content-length")
        if length is not None:
            self.length = int(length)
        else:
            self._ends_with_connection = not is_chunked and status not in _BODILESS
        # Who announces a body where none can be may send it yet: it must not begin the next answer.
        is_misframed = status in _BODILESS and (is_chunked or (status == 204 and bool(self.length)))
        self._may_be_kept = self._parser.should_keep_alive() and not is_misframed

    def on_body(self, body: bytes) -> None:
        if self._is_complete:
            return
        self._unframed = 0
        self._pieces.append(body)
        was_over = self._unread > _UNREAD_BYTES
        self._unread += len(body)
        if self._unread > _UNREAD_BYTES and not was_over:
            self._transport.pause_reading()
        if self._nap is not None:
            return
        if self._nap_until and self.loop.time() < self._nap_until:
            self._transport.pause_reading()
            self._nap = self.loop.call_at(self._nap_until, self._end_nap)
        else:
            self._wake()

    def _end_nap(self) -> None:
        """Wake the reader, but let the event loop look first at what came meanwhile."""
        self._stop_nap()
        self.loop.call_soon(self.loop.call_soon, self._wake)

    def _stop_nap(self) -> None:
        if self._nap is not None:
            self._nap.cancel()
            self._nap = None
        self._nap_until = 0.0
        if self._unread <= _UNREAD_BYTES and not self._transport.is_closing():
            self._transport.resume_reading()

    def on_message_complete(self) -> None:
        if self._is_answering:
            self._is_complete = True
            self._wake()

    def _refuse_header(self) -> None:
        self.fail(ResponseTooLarge("The header of the destination's answer is larger than allowed."))
