"""The response to an outgoing call; limits on time and size apply while it arrives."""

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Self

from retinue.kit.egress.connection import EgressConnection
from retinue.kit.egress.content_encoding import decoder_for
from retinue.kit.egress.destination import Destination
from retinue.kit.egress.errors import EgressTimeout, ResponseTooLarge

# Compressed data may be slightly larger than its decoded form, but not by more than this.
_ENCODING_OVERHEAD = 64 * 1024


class _StallWatch:
    """One timer for the whole body: a timer per chunk would cost more than the chunk."""

    __slots__ = (
        "_connection",
        "_ends_at",
        "_loop",
        "_stall_timeout_s",
        "_timer",
        "_waiting_since",
    )

    def __init__(self, connection: EgressConnection, ends_at: float, stall_timeout_s: float) -> None:
        self._connection = connection
        self._ends_at = ends_at
        self._stall_timeout_s = stall_timeout_s
        self._loop = connection.loop
        self._waiting_since: float | None = None
        self._timer = self._loop.call_at(min(self._loop.time() + stall_timeout_s, ends_at), self._check_stall)

    def start_waiting(self) -> None:
        """Record that the reader waits for the next chunk from now on."""
        self._waiting_since = self._loop.time()
        if self._waiting_since >= self._ends_at:
            raise EgressTimeout

    def stop_waiting(self) -> None:
        """Record that the reader has its chunk; its own processing time does not count."""
        self._waiting_since = None

    def stop(self) -> None:
        self._timer.cancel()

    def _check_stall(self) -> None:
        """Fail the reader if it has waited too long, else check again at the earliest possible stall."""
        now = self._loop.time()
        since = now if self._waiting_since is None else self._waiting_since
        left_s = min(since + self._stall_timeout_s, self._ends_at) - now
        if left_s > 0:
            self._timer = self._loop.call_later(left_s, self._check_stall)
        elif self._waiting_since is not None:
            self._connection.time_out()


class _Body:
    """The incoming body; received and decoded bytes each have a limit."""

    __slots__ = (
        "_decoded",
        "_decoder",
        "_ends_at",
        "_max_decoded",
        "_max_received",
        "_raw",
        "_received",
        "_stall_timeout_s",
        "_watch",
    )

    def __init__(self, raw: EgressConnection, ends_at: float, stall_timeout_s: float, max_bytes: int) -> None:
        self._raw = raw
        self._max_decoded = max_bytes
        self._max_received = max_bytes + _ENCODING_OVERHEAD
        self._received = self._decoded = 0
        if raw.length is not None and raw.length > self._max_received and not raw.is_at_end:
            raise ResponseTooLarge
        self._decoder = decoder_for(raw.headers.get("Content-Encoding", ""))
        self._ends_at = ends_at
        self._stall_timeout_s = stall_timeout_s
        self._watch: _StallWatch | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._watch is not None:
            self._watch.stop()
        if kind is None and self._decoder is not None:
            self._decoder.finish()

    async def next(self, nap_s: float = 0.0) -> bytes:
        """Return the next received bytes; nothing at the end."""
        if not self._raw.has_news:
            await self._wait()
        elif self._raw.loop.time() >= self._ends_at:
            # The deadline also covers the time the reader spent on earlier chunks.
            raise EgressTimeout
        chunk = self._raw.take(nap_s)
        self._received += len(chunk)
        if self._received > self._max_received:
            raise ResponseTooLarge
        return chunk

    async def _wait(self) -> None:
        if self._watch is None:
            self._watch = _StallWatch(self._raw, self._ends_at, self._stall_timeout_s)
        self._watch.start_waiting()
        await self._raw.wait()
        self._watch.stop_waiting()

    def decoded(self, received: bytes) -> Iterable[bytes]:
        """Decode in pieces, so that memory use never exceeds the limit."""
        if self._decoder is None:
            return (self._within_limit(received),)
        return map(self._within_limit, self._decoder.feed(received))

    def _within_limit(self, piece: bytes) -> bytes:
        self._decoded += len(piece)
        if self._decoded > self._max_decoded:
            raise ResponseTooLarge
        return piece


class Response:
    """A response with status and headers; the body is consumed once, whole or as it arrives."""

    __slots__ = (
        "_ends_at",
        "_max_bytes",
        "_raw",
        "_stall_timeout_s",
        "destination",
        "headers",
        "nap_s",
        "status",
    )

    def __init__(
        self,
        raw: EgressConnection,
        destination: Destination,
        *,
        ends_at: float,
        stall_timeout_s: float,
        max_bytes: int,
    ) -> None:
        self.status: int = raw.status
        self.headers: Mapping[str, str] = raw.headers
        self.destination = destination
        self._raw = raw
        self._ends_at = ends_at
        self._stall_timeout_s = stall_timeout_s
        self._max_bytes = max_bytes
        self.nap_s = 0.0

    async def read(self) -> bytes:
        pieces: list[bytes] = []
        with self._body() as body:
            while received := await body.next():
                pieces.extend(body.decoded(received))
                if self._raw.is_at_end:
                    break
        return b"".join(pieces)

    async def iter_bytes(self) -> AsyncIterator[bytes]:
        """Yield the decoded body as it arrives; data within `nap_s` seconds of a piece is combined."""
        with self._body() as body:
            while received := await body.next(self.nap_s):
                for piece in body.decoded(received):
                    yield piece

    async def iter_lines(self) -> AsyncIterator[bytes]:
        """Yield the decoded body line by line, without line ends."""
        line: list[bytes] = []
        with self._body() as body:
            while received := await body.next():
                for piece in body.decoded(received):
                    first, *others = piece.split(b"\n")
                    line.append(first)
                    for other in others:
                        yield b"".join(line).removesuffix(b"\r")
                        line = [other]
        if last := b"".join(line):
            yield last.removesuffix(b"\r")

    def _body(self) -> _Body:
        return _Body(self._raw, self._ends_at, self._stall_timeout_s, self._max_bytes)
