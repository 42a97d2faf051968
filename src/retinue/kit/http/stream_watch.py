"""Watches for the end of a stream: by its producer, its client, its session or the server."""

import asyncio
from collections.abc import Awaitable, Callable
from math import inf
from typing import ClassVar, Protocol

import msgspec
import structlog

log = structlog.get_logger("retinue.http")


class StreamError(msgspec.Struct, frozen=True):
    """The data of an `error` event, after which the stream ends."""

    code: str
    message: str


_SESSION_ENDED = StreamError("session_ended", "Your session has ended. Sign in again.")
_SERVER_SHUTDOWN = StreamError("server_shutdown", "The server is shutting down. Connect again.")


class WatchedWriter(Protocol):
    """The part of a stream's writer that is watched."""

    is_stalled: bool
    when_stalled: Callable[[], None] | None

    def send_ping(self) -> None: ...


class _Shutdown:
    """The shutdown of the server; one task waits for it on behalf of all streams."""

    _of: ClassVar[dict[asyncio.Event, "_Shutdown"]] = {}

    def __init__(self, event: asyncio.Event) -> None:
        self._event = event
        self._watches: set[StreamWatch] = set()
        self._waiting = asyncio.create_task(self._tell())

    @classmethod
    def of(cls, event: asyncio.Event) -> "_Shutdown":
        if event not in cls._of:
            cls._of[event] = cls(event)
        return cls._of[event]

    def join(self, watch: "StreamWatch") -> None:
        self._watches.add(watch)
        if self._event.is_set():
            watch.end(_SERVER_SHUTDOWN)

    def leave(self, watch: "StreamWatch") -> None:
        self._watches.discard(watch)
        if not self._watches:
            self._waiting.cancel()
            self._of.pop(self._event, None)

    async def _tell(self) -> None:
        await self._event.wait()
        for watch in self._watches:
            watch.end(_SERVER_SHUTDOWN)


class StreamWatch:
    """Waits for the end of a stream and sends heartbeats meanwhile."""

    __slots__ = (
        "_check",
        "_check_every_s",
        "_ended",
        "_gone",
        "_heartbeat_s",
        "_loop",
        "_next_beat",
        "_next_check",
        "_pump",
        "_shutdown",
        "_still_allowed",
        "_timer",
        "_writer",
        "error",
    )

    def __init__(
        self,
        writer: WatchedWriter,
        pump: asyncio.Task[None],
        gone: asyncio.Task[None],
        shutting_down: asyncio.Event | None,
    ) -> None:
        self.error: StreamError | None = None
        self._loop = asyncio.get_running_loop()
        self._writer = writer
        self._pump = pump
        self._gone = gone
        self._shutdown = _Shutdown.of(shutting_down) if shutting_down is not None else None
        self._check: asyncio.Task[bool] | None = None
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._timer: asyncio.TimerHandle | None = None

    def cancel(self) -> None:
        self._writer.when_stalled = None
        self._gone.cancel()
        if self._shutdown is not None:
            self._shutdown.leave(self)
        if self._check is not None:
            self._check.cancel()
        if self._timer is not None:
            self._timer.cancel()

    async def wait_until_ended(
        self, heartbeat_s: float, still_allowed: Callable[[], Awaitable[bool]] | None, check_every_s: float
    ) -> bool:
        """Wait for the end of the stream; return whether the client is still connected."""
        self._heartbeat_s, self._next_beat = heartbeat_s, self._loop.time() + heartbeat_s
        self._still_allowed, self._check_every_s = still_allowed, check_every_s
        self._next_check = self._loop.time() + check_every_s if still_allowed is not None else inf
        self._writer.when_stalled = self.end
        self._pump.add_done_callback(self._has_ended)
        self._gone.add_done_callback(self._has_ended)
        if self._shutdown is not None:
            self._shutdown.join(self)
        self._wait()
        await self._ended
        return not (self._gone.done() or self._writer.is_stalled)

    def end(self, error: StreamError | None = None) -> None:
        if not self._ended.done():
            self.error = error
            self._ended.set_result(None)

    def _has_ended(self, _task: asyncio.Task[None]) -> None:
        self.end()

    def _wait(self) -> None:
        self._timer = self._loop.call_at(min(self._next_beat, self._next_check), self._look)

    def _look(self) -> None:
        now = self._loop.time()
        if now >= self._next_beat:
            self._writer.send_ping()
            self._next_beat = now + self._heartbeat_s
        if self._still_allowed is not None and now >= self._next_check:
            self._next_check = inf
            self._check = asyncio.create_task(_is_still_allowed(self._still_allowed))
            self._check.add_done_callback(self._checked)
        self._wait()

    def _checked(self, check: asyncio.Task[bool]) -> None:
        self._check = None
        if check.cancelled() or self._ended.done():
            return
        if not check.result():
            self.end(_SESSION_ENDED)
            return
        self._next_check = self._loop.time() + self._check_every_s
        assert self._timer is not None
        self._timer.cancel()
        self._wait()


async def _is_still_allowed(still_allowed: Callable[[], Awaitable[bool]]) -> bool:
    try:
        return await still_allowed()
    except Exception:
        log.exception("stream_session_unchecked")
        return False
