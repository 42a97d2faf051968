"""Server-sent events from a producer to one client."""

import asyncio
import contextlib
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from functools import lru_cache
from typing import Any

import msgspec
import structlog

from retinue.kit.errors import InternalError, RetinueError
from retinue.kit.http.bodies import Receive, Send
from retinue.kit.http.light_event import LightEvent
from retinue.kit.http.stream_watch import StreamError, StreamWatch
from retinue.kit.json_types import JsonObject

log = structlog.get_logger("retinue.http")

_OWN_HEADERS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
)
_BATCH_BYTES = 32 * 1024
_PING = b": ping\n\n"
_encode_json = msgspec.json.Encoder().encode


class ServerSentEvent(msgspec.Struct, gc=False):
    """One event of a stream; `event` is None for protocols with unnamed events."""

    event: str | None
    data: bytes | msgspec.Struct | JsonObject
    id: int | None = None


def encode(event: ServerSentEvent) -> bytes:
    """Encode an event; its data always stays on one line."""
    data = event.data
    if type(data) is not bytes:
        data = _encode_json(data)
    elif b"\n" in data or b"\r" in data:
        # JSON has line breaks only between tokens, where a blank is equivalent.
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
    events: AsyncIterator[ServerSentEvent],
    *,
    headers: list[tuple[bytes, bytes]],
    heartbeat_s: float = 15,
    write_timeout_s: float = 30,
    queue_bytes: int = 128 * 1024,
    still_allowed: Callable[[], Awaitable[bool]] | None = None,
    check_every_s: float = 4,
    shutting_down: asyncio.Event | None = None,
    show_error: Callable[[StreamError], ServerSentEvent] | None = None,
) -> None:
    """Send the events until they end, the client disconnects, its session ends, or the server stops.

    `show_error` builds the last event of a failed stream for protocols with their own error format. An error
    of the producer before the first byte is raised here, so that it gets its own status; a later one becomes
    an `error` event. The producer is closed before this returns. If the client stops reading, this returns
    with the response incomplete, and the server closes the connection.
    """
    writer = _Writer(send, headers, write_timeout_s, queue_bytes)
    if show_error is not None:
        writer.show_error = show_error
    pump = asyncio.create_task(_pump(events, writer))
    watch = StreamWatch(writer, pump, asyncio.create_task(_until_gone(receive)), shutting_down)
    try:
        is_connected = await watch.wait_until_ended(heartbeat_s, still_allowed, check_every_s)
        if pump.done():
            watch.error = _failure(pump, may_raise=is_connected and not writer.has_started)
        await _stop(pump)
        if is_connected:
            await writer.finish(watch.error)
    finally:
        watch.cancel()
        await _stop(pump, writer.task)


async def _pump(events: AsyncIterator[ServerSentEvent], writer: "_Writer") -> None:
    try:
        async for event in events:
            if not writer.write(encode(event)):
                await writer.wait_for_room()
            writer.last_id = event.id
    finally:
        # Needed if the cancellation hit `wait_for_room` and not the producer.
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
            log.error("stream_not_stopped", exc_info=error)


def _failure(pump: asyncio.Task[None], *, may_raise: bool) -> StreamError | None:
    """Return the error to report to the client; before the first byte, raise it instead."""
    error = asyncio.CancelledError() if pump.cancelled() else pump.exception()
    if error is None:
        return None
    if may_raise:
        raise error
    if isinstance(error, RetinueError) and not isinstance(error, InternalError):
        return StreamError(error.code, error.message)
    log.error("stream_failed", exc_info=error)
    return _INTERNAL_ERROR


class _Writer:
    """Sends frames directly while the client keeps up, and from a bounded queue while it does not.

    The first frame is sent at once. Later frames produced within one iteration of the event loop are sent
    together at its end: tokens come in bursts, and a write costs more than its bytes (ADR 19).
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
        self.show_error: Callable[[StreamError], ServerSentEvent] = self._error_event
        self._send = send
        self._headers = headers
        self._timeout_s = timeout_s
        self._queue_bytes = queue_bytes
        self._queue = bytearray()
        self._room = LightEvent()
        self._gathered = bytearray()
        self._call_soon = asyncio.get_running_loop().call_soon

    def write(self, frame: bytes) -> bool:
        """Send, gather or queue a frame; return False if the queue is full."""
        if not self.has_started or self.task is not None:
            self.flush()
            return self._send_now(frame)
        if not self._gathered:
            self._call_soon(self.flush)
        self._gathered += frame
        return len(self._gathered) < _BATCH_BYTES or self.flush()

    def flush(self) -> bool:
        """Send the gathered frames."""
        if not self._gathered:
            return True
        frames = bytes(self._gathered)
        self._gathered.clear()
        return self._send_now(frames)

    def _send_now(self, frame: bytes) -> bool:
        if self.task is not None:
            self._queue += frame
            return len(self._queue) <= self._queue_bytes
        # Run the send until it would wait; it seldom does, which saves a task.
        sending = (self._send(_body(frame)) if self.has_started else self._begin(frame)).__await__()
        try:
            waiting_for = next(sending)
        except StopIteration:
            return True
        self.task = asyncio.create_task(self._catch_up(sending, waiting_for))
        return True

    async def wait_for_room(self) -> None:
        while len(self._queue) > self._queue_bytes:
            self._room.clear()
            await self._room.wait()

    def send_ping(self) -> None:
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

    def _error_event(self, error: StreamError) -> ServerSentEvent:
        # Uses the id of the last real event, so that a client resuming after the error misses nothing.
        return ServerSentEvent("error", error, self.last_id)

    async def _begin(self, frame: bytes) -> None:
        self.has_started = True
        names = {name for name, _ in self._headers}
        headers = [header for header in _OWN_HEADERS if header[0] not in names] + self._headers
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send(_body(frame))

    async def _catch_up(self, sending: Generator[Any, Any, None], waiting_for: object) -> None:
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
                log.exception("stream_not_sent")
            self.is_stalled = True
            if self.when_stalled is not None:
                self.when_stalled()
        finally:
            self.task = None


def _body(frame: bytes) -> JsonObject:
    return {"type": "http.response.body", "body": frame, "more_body": True}


@types.coroutine
def _rest_of(sending: Generator[Any, Any, None], waiting_for: object) -> Generator[Any, Any, None]:
    """Continue a send that was started elsewhere and had to wait."""
    try:
        yield waiting_for
        yield from sending
    finally:
        sending.close()
