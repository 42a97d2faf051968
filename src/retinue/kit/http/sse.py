"""Server-sent events: a producer's events to one client, for as long as both want it."""

import asyncio
import contextlib
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from functools import lru_cache
from typing import Any

import msgspec
import structlog

from retinue.kit.errors import RetinueError
from retinue.kit.http.bodies import Receive, Send
from retinue.kit.http.signals import Signal
from retinue.kit.http.stream_watch import StreamError, Watch

log = structlog.get_logger("retinue.http")

_OWN_HEADERS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
)
_BATCH_BYTES = 32 * 1024
_PING = b": ping\n\n"
_encode_json = msgspec.json.Encoder().encode


class Event(msgspec.Struct, gc=False):
    """`event` is None for protocols whose events have no names."""

    event: str | None
    data: bytes | msgspec.Struct | dict[str, Any]
    id: int | None = None


def encode(event: Event) -> bytes:
    """An event as it is sent; whatever its data holds, it stays one line and one event."""
    data = event.data
    if type(data) is not bytes:
        data = _encode_json(data)
    elif b"\n" in data or b"\r" in data:
        # JSON text has line breaks only between its tokens, where a blank is as good.
        data = data.replace(b"\n", b" ").replace(b"\r", b" ")
    name = _name_line(event.event) if event.event is not None else b""
    if event.id is None:
        return b"%bdata: %b\n\n" % (name, data)
    return b"%bid: %d\ndata: %b\n\n" % (name, event.id, data)


@lru_cache(maxsize=256)
def _name_line(name: str) -> bytes:
    if not name or "\n" in name or "\r" in name:
        raise ValueError(f"{name!r} cannot name an event")
    return f"event: {name}\n".encode()


_INTERNAL_ERROR = StreamError(RetinueError.code, RetinueError().message)


async def stream(
    send: Send,
    receive: Receive,
    events: AsyncIterator[Event],
    *,
    headers: list[tuple[bytes, bytes]],
    heartbeat_s: float = 15,
    write_timeout_s: float = 30,
    queue_bytes: int = 128 * 1024,
    still_allowed: Callable[[], Awaitable[bool]] | None = None,
    check_every_s: float = 4,
    shutting_down: asyncio.Event | None = None,
    show_error: Callable[[StreamError], Event] | None = None,
) -> None:
    """Send the events until they end, the client goes, its session ends, or the server does.

    `show_error` writes the last event of a stream that failed, where a protocol has words of its own for it.
    What the producer raises before the first byte is raised here, to be answered with a status of its own;
    later it becomes an `error` event. The producer is closed before this returns. If the client takes nothing
    any more this returns with the answer unfinished, on which our server cuts the connection.
    """
    writer = _Writer(send, headers, write_timeout_s, queue_bytes)
    if show_error is not None:
        writer.show_error = show_error
    pump = asyncio.create_task(_pump(events, writer))
    watch = Watch(writer, pump, asyncio.create_task(_until_gone(receive)), shutting_down)
    try:
        is_there = await watch.until_end(heartbeat_s, still_allowed, check_every_s)
        if pump.done():
            watch.error = _failure(pump, may_raise=is_there and not writer.has_started)
        await _stop(pump)
        if is_there:
            await writer.finish(watch.error)
    finally:
        watch.cancel()
        await _stop(pump, writer.task)


async def _pump(events: AsyncIterator[Event], writer: "_Writer") -> None:
    try:
        async for event in events:
            if not writer.write(encode(event)):
                await writer.room()
            writer.last_id = event.id
    finally:
        # A cancelled producer has been told; one that was waiting for room has not.
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _stop(*tasks: asyncio.Task[Any] | None) -> None:
    running = [task for task in tasks if task is not None and not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running)
    for task in running:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.error("stream did not stop cleanly", exc_info=error)


def _failure(pump: asyncio.Task[None], *, may_raise: bool) -> StreamError | None:
    """What the producer's end means for its client; before the first byte an error is the caller's."""
    error = asyncio.CancelledError() if pump.cancelled() else pump.exception()
    if error is None:
        return None
    if may_raise:
        raise error
    if isinstance(error, RetinueError):
        return StreamError(error.code, error.message)
    log.error("stream failed", exc_info=error)
    return _INTERNAL_ERROR


class _Writer:
    """Sends frames while the client keeps up, and from a bounded queue while it does not.

    The first frame leaves at once. What is produced within one turn of the event loop after that leaves
    together at the turn's end: tokens come in bursts, and a write costs more than its bytes.
    """

    __slots__ = (
        "_call_soon",
        "_gathered",
        "_headers",
        "_queue",
        "_queue_bytes",
        "_room",
        "_send",
        "_timeout_s",
        "has_started",
        "is_stalled",
        "last_id",
        "show_error",
        "task",
        "when_stalled",
    )

    def __init__(
        self, send: Send, headers: list[tuple[bytes, bytes]], timeout_s: float, queue_bytes: int
    ) -> None:
        self.has_started = False
        self.last_id: int | None = None
        self.task: asyncio.Task[None] | None = None
        self.is_stalled = False
        self.when_stalled: Callable[[], None] | None = None
        self.show_error: Callable[[StreamError], Event] = self._error_event
        self._send = send
        self._headers = headers
        self._timeout_s = timeout_s
        self._queue_bytes = queue_bytes
        self._queue = bytearray()
        self._room = Signal()
        self._gathered = bytearray()
        self._call_soon = asyncio.get_running_loop().call_soon

    def write(self, frame: bytes) -> bool:
        """Send, gather or queue a frame; False when there is no room for another one."""
        if not self.has_started or self.task is not None:
            self.flush()
            return self._send_now(frame)
        if not self._gathered:
            self._call_soon(self.flush)
        self._gathered += frame
        return len(self._gathered) < _BATCH_BYTES or self.flush()

    def flush(self) -> bool:
        """Send what was gathered."""
        if not self._gathered:
            return True
        frames = bytes(self._gathered)
        self._gathered.clear()
        return self._send_now(frames)

    def _send_now(self, frame: bytes) -> bool:
        if self.task is not None:
            self._queue += frame
            return len(self._queue) <= self._queue_bytes
        # The send is run here up to where it would wait. It seldom does, and then costs no task of its own.
        sending = (self._send(_body(frame)) if self.has_started else self._begin(frame)).__await__()
        try:
            waiting_for = next(sending)
        except StopIteration:
            return True
        self.task = asyncio.create_task(self._catch_up(sending, waiting_for))
        return True

    async def room(self) -> None:
        while len(self._queue) > self._queue_bytes:
            self._room.clear()
            await self._room.wait()

    def beat(self) -> None:
        if self.task is None:
            self.write(_PING)

    async def finish(self, error: StreamError | None) -> None:
        if error is not None:
            self.write(encode(self.show_error(error)))
        self.flush()
        if self.task is not None:
            await asyncio.wait([self.task])
        if self.is_stalled:
            return
        if not self.has_started:
            await self._begin(b"")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._timeout_s):
                await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    def _error_event(self, error: StreamError) -> Event:
        # The id of the last real event, so that a client resuming after this one misses nothing.
        return Event("error", error, self.last_id)

    async def _begin(self, frame: bytes) -> None:
        self.has_started = True
        given = {name for name, _ in self._headers}
        headers = [header for header in _OWN_HEADERS if header[0] not in given] + self._headers
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send(_body(frame))

    async def _catch_up(self, sending: Generator[Any, Any, None], waiting_for: Any) -> None:
        try:
            async with asyncio.timeout(self._timeout_s):
                await _rest_of(sending, waiting_for)
            while self._queue:
                frames = bytes(self._queue[:_BATCH_BYTES])
                del self._queue[:_BATCH_BYTES]
                if len(self._queue) <= self._queue_bytes:
                    self._room.set()
                async with asyncio.timeout(self._timeout_s):
                    await self._send(_body(frames))
        except Exception as error:
            if not isinstance(error, TimeoutError):
                log.exception("stream could not be sent")
            self.is_stalled = True
            if self.when_stalled is not None:
                self.when_stalled()
        finally:
            self.task = None


def _body(frame: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": frame, "more_body": True}


@types.coroutine
def _rest_of(sending: Generator[Any, Any, None], waiting_for: Any) -> Generator[Any, Any, None]:
    """What is left of a send that was begun elsewhere and had to wait for something."""
    try:
        yield waiting_for
        yield from sending
    finally:
        sending.close()
