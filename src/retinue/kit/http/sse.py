"""Server-sent events: a producer's events to one client, for as long as both want it."""

import asyncio
import contextlib
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from functools import lru_cache
from math import inf
from typing import Any

import msgspec
import structlog

from retinue.kit.errors import RetinueError
from retinue.kit.http.bodies import Receive, Send

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
    event: str
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
    if event.id is None:
        return b"%bdata: %b\n\n" % (_name_line(event.event), data)
    return b"%bid: %d\ndata: %b\n\n" % (_name_line(event.event), event.id, data)


@lru_cache(maxsize=256)
def _name_line(name: str) -> bytes:
    if not name or "\n" in name or "\r" in name:
        raise ValueError(f"{name!r} cannot name an event")
    return f"event: {name}\n".encode()


class StreamError(msgspec.Struct, frozen=True):
    """The data of an `error` event, after which the stream ends."""

    code: str
    message: str


_SESSION_ENDED = StreamError("session_ended", "Your session has ended.")
_INTERNAL_ERROR = StreamError(RetinueError.code, RetinueError().message)
_SERVER_SHUTDOWN = StreamError("server_shutdown", "The server is shutting down; connect again.")


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
) -> None:
    """Send the events until they end, the client goes, its session ends, or the server does.

    What the producer raises before the first byte is raised here, to be answered with a status of its own;
    later it becomes an `error` event. The producer is closed before this returns. If the client takes nothing
    any more this returns with the answer unfinished, on which our server cuts the connection.
    """
    writer = _Writer(send, headers, write_timeout_s, queue_bytes)
    pump = asyncio.create_task(_pump(events, writer))
    watch = _Watch(writer, pump, asyncio.create_task(_until_gone(receive)))
    if shutting_down is not None:
        watch.shutdown = asyncio.create_task(shutting_down.wait())
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


class _Watch:
    """Waits for whatever ends a stream, and beats meanwhile."""

    def __init__(self, writer: "_Writer", pump: asyncio.Task[None], gone: asyncio.Task[None]) -> None:
        self.error: StreamError | None = None
        self.shutdown: asyncio.Task[Any] | None = None
        self._writer = writer
        self._pump = pump
        self._gone = gone
        self._check: asyncio.Task[bool] | None = None

    def cancel(self) -> None:
        for task in (self._gone, self.shutdown, self._check):
            if task is not None:
                task.cancel()

    async def until_end(
        self, heartbeat_s: float, still_allowed: Callable[[], Awaitable[bool]] | None, check_every_s: float
    ) -> bool:
        """Whether the client is still there to be told how it ended."""
        now = asyncio.get_running_loop().time
        next_beat = now() + heartbeat_s
        next_check = now() + check_every_s if still_allowed is not None else inf
        while True:
            waits = [self._pump, self._gone, self._writer.stalled, self.shutdown, self._check]
            await asyncio.wait(
                [wait for wait in waits if wait is not None],
                timeout=max(0, min(next_beat, next_check) - now()),
                return_when=asyncio.FIRST_COMPLETED,
            )
            if self._gone.done() or self._writer.stalled.done():
                return False
            if self._pump.done() or self._has_ended():
                return True
            if now() >= next_beat:
                self._writer.beat()
                next_beat = now() + heartbeat_s
            if still_allowed is not None and self._check is None and now() >= next_check:
                self._check = asyncio.create_task(_ask(still_allowed))
                next_check = now() + check_every_s

    def _has_ended(self) -> bool:
        if self.shutdown is not None and self.shutdown.done():
            self.error = _SERVER_SHUTDOWN
        elif self._check is not None and self._check.done():
            if not self._check.result():
                self.error = _SESSION_ENDED
            self._check = None
        return self.error is not None


async def _ask(still_allowed: Callable[[], Awaitable[bool]]) -> bool:
    try:
        return await still_allowed()
    except Exception:
        log.exception("a stream's session could not be checked")
        return False


class _Writer:
    """Sends frames while the client keeps up, and from a bounded queue while it does not.

    The first frame leaves at once. What is produced within one turn of the event loop after that leaves
    together at the turn's end: tokens come in bursts, and a write costs more than its bytes.
    """

    def __init__(
        self, send: Send, headers: list[tuple[bytes, bytes]], timeout_s: float, queue_bytes: int
    ) -> None:
        self.has_started = False
        self.last_id: int | None = None
        self.task: asyncio.Task[None] | None = None
        self.stalled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._send = send
        self._headers = headers
        self._timeout_s = timeout_s
        self._queue_bytes = queue_bytes
        self._queue = bytearray()
        self._room = asyncio.Event()
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
            # The id of the last real event, so that a client resuming after this one misses nothing.
            self.write(encode(Event("error", error, self.last_id)))
        self.flush()
        if self.task is not None:
            await asyncio.wait([self.task])
        if self.stalled.done():
            return
        if not self.has_started:
            await self._begin(b"")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._timeout_s):
                await self._send({"type": "http.response.body", "body": b"", "more_body": False})

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
            if not self.stalled.done():
                self.stalled.set_result(None)
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
