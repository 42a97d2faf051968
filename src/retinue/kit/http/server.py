"""The server: uvicorn with hardened connections and a graceful shutdown."""

import asyncio
import contextlib
import gc
import signal
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from types import FrameType
from typing import Any

import structlog
import uvicorn

from retinue.kit.clock import Clock, SystemClock
from retinue.kit.http.connections import ConnectionLimits, Connections
from retinue.kit.http.listening_sockets import bind
from retinue.kit.http.protocol import ServerConnection

__all__ = ["ConnectionLimits", "NotStarted", "serve"]

log = structlog.get_logger("retinue.http")

App = Callable[[Any, Any, Any], Any]

_TICK_SECONDS = 0.1
_BACKLOG = 2048
_CANCEL_TIMEOUT_SECONDS = 0.5
DRAIN_IDLE_SECONDS = 2.0
"""How long a kept-alive connection may still be used while a server drains; closing it at once would fail
a request that is on its way."""
_APP_SHUTDOWN_SECONDS = 2.0
_FINISH_ANSWERS_SECONDS = 2.0
"""How long answers have to end after the grace period, streams with an error that says why."""
_HURRIED_FINISH_SECONDS = 0.3
STOP_SECONDS_AFTER_GRACE = _FINISH_ANSWERS_SECONDS + _CANCEL_TIMEOUT_SECONDS + _APP_SHUTDOWN_SECONDS
"""How long a stop takes at most, beyond the grace period."""


class NotStarted(RuntimeError):
    """The application refused to start."""


async def serve(
    app: App,
    *,
    host: str = "",
    port: int = 0,
    sockets: list[socket.socket] | None = None,
    limits: ConnectionLimits,
    on_bound: Callable[[list[tuple[str, int]]], None],
    on_ready: Callable[[], None] | None = None,
    shutting_down: asyncio.Event | None = None,
    draining: asyncio.Event | None = None,
    max_drain_s: float = 0,
    orphaned: asyncio.Event | None = None,
    finish_work: Callable[[], Coroutine[None, None, None]] | None = None,
    shutdown_grace_s: float = 10,
    clock: Clock | None = None,
    lifespan: bool = True,
) -> None:
    """Serve until SIGTERM, SIGINT or until `shutting_down` is set; run it on uvloop.

    `on_bound` gets the addresses before the application starts and clients can connect; `on_ready` is called
    when requests are accepted. A signal begins `finish_work`; the server still accepts connections, so that
    load balancers learn of it, until this and the requests that were running have ended, for
    `shutdown_grace_s` at most. Then `shutting_down` is set, so that streams can end. A second signal ends the
    waiting. Once `orphaned` is set, the server stops in the same way, but accepts nothing more: its address
    belongs to a successor.
    Bound `sockets` take the place of host and port. Once `draining` is set, another process has taken over:
    the server accepts nothing more, and ends when its connections have, or after `max_drain_s`.
    """
    sockets = bind(host, port) if sockets is None else sockets
    try:
        on_bound([listener.getsockname()[:2] for listener in sockets])
        config = uvicorn.Config(
            app,
            loop="none",
            http=ServerConnection,
            ws="none",
            lifespan="on" if lifespan else "off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            backlog=_BACKLOG,
        )
        server = Server(config, Connections(limits, clock or SystemClock()))
        server.on_ready = on_ready
        server.shutting_down = shutting_down or asyncio.Event()
        server.grace_s = shutdown_grace_s
        server.draining = draining or asyncio.Event()
        server.max_drain_s = max_drain_s
        server.orphaned = orphaned or asyncio.Event()
        server.finish_work = finish_work
        await server.serve(sockets)
    finally:
        for listener in sockets:
            listener.close()


def freeze_startup_objects() -> None:
    """Exclude objects created at startup from garbage collection, and collect old objects rarely.

    Reference counting frees nearly everything. With a thousand open streams, a full collection would block
    the event loop for a tenth of a second; young objects are collected often, because that is quick.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 100, 20)


class Server(uvicorn.Server):
    on_ready: Callable[[], None] | None
    shutting_down: asyncio.Event
    draining: asyncio.Event
    orphaned: asyncio.Event
    finish_work: Callable[[], Coroutine[None, None, None]] | None
    grace_s: float
    max_drain_s: float

    def __init__(self, config: uvicorn.Config, connections: Connections) -> None:
        super().__init__(config)
        self.server_state: Connections = connections
        self._is_told_to_stop = False
        self._is_hurried = False
        self._tick_s = min(_TICK_SECONDS, connections.limits.sweep_s)
        self._ticks_per_sweep = max(1, round(connections.limits.sweep_s / self._tick_s))

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        except SystemExit as error:
            raise NotStarted from error
        freeze_startup_objects()
        if self.on_ready is not None:
            self.on_ready()

    async def main_loop(self) -> None:
        counter = 0
        while not await self.on_tick(counter):
            counter += 1
            await asyncio.sleep(self._tick_s)

    async def on_tick(self, counter: int) -> bool:
        if counter % self._ticks_per_sweep == 0:
            self.server_state.sweep()
        if self.shutting_down.is_set() or self.draining.is_set() or self.orphaned.is_set():
            self.should_exit = True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        listeners = sockets or []
        if self.draining.is_set() and not (self._is_told_to_stop or self.orphaned.is_set()):
            self._stop_listening(listeners)
            await self._drain()
        app_seconds = _APP_SHUTDOWN_SECONDS
        if self.shutting_down.is_set():
            app_seconds += self.grace_s
        else:
            await self._let_work_end(listeners)
        self._stop_listening(listeners)
        self.shutting_down.set()
        self.draining.set()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        try:
            async with asyncio.timeout(
                _HURRIED_FINISH_SECONDS if self._is_hurried else _FINISH_ANSWERS_SECONDS
            ):
                await self._finish_answers()
        except TimeoutError:
            await self._drop_answers()
        if self.force_exit:
            return
        try:
            async with asyncio.timeout(app_seconds):
                await self.lifespan.shutdown()
        except TimeoutError:
            log.warning("application_not_stopped")

    def _stop_listening(self, listeners: list[socket.socket]) -> None:
        for server in self.servers:
            server.close()
        for listener in listeners:
            listener.close()

    async def _let_work_end(self, listeners: list[socket.socket]) -> None:
        """Wait for the requests and the work that run now; those that come meanwhile are short."""
        loop = asyncio.get_running_loop()
        until, next_sweep = loop.time() + self.grace_s, 0.0
        if self.orphaned.is_set():
            self._stop_listening(listeners)
        work = asyncio.create_task(self.finish_work()) if self.finish_work is not None else None
        requests = set(self.server_state.tasks)
        while loop.time() < until and not (self._is_hurried or self.shutting_down.is_set()):
            if all(task.done() for task in requests) and (work is None or work.done()):
                break
            self.server_state.drain(may_close_idle=False)
            if loop.time() > next_sweep:
                self.server_state.sweep()
                next_sweep = loop.time() + self.server_state.limits.sweep_s
            await asyncio.sleep(0.02)
        if work is not None and not work.done():
            # The application goes on with it when it shuts down.
            work.cancel()

    async def _drain(self) -> None:
        """Wait until the connections have ended by themselves; who asks once more gets an answer."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        until, next_sweep = began + self.max_drain_s, 0.0
        while self.server_state.connections and loop.time() < until:
            if self._is_told_to_stop or self.shutting_down.is_set() or self.orphaned.is_set():
                return
            self.server_state.drain(may_close_idle=loop.time() - began > DRAIN_IDLE_SECONDS)
            if loop.time() > next_sweep:
                self.server_state.sweep()
                next_sweep = loop.time() + self.server_state.limits.sweep_s
            await asyncio.sleep(_TICK_SECONDS)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002  as signals are handled
        """Stop; a second signal skips the wait for replies, a third one every wait."""
        self.force_exit = self._is_hurried
        self._is_hurried = self._is_told_to_stop
        self._is_told_to_stop = True
        self.should_exit = True

    async def _finish_answers(self) -> None:
        state = self.server_state
        while (state.connections or state.tasks) and not self.force_exit:  # noqa: ASYNC110 - plain sets of uvicorn
            await asyncio.sleep(0.02)

    async def _drop_answers(self) -> None:
        tasks = list(self.server_state.tasks)
        log.warning("requests_cut_off", requests=len(tasks))
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_CANCEL_TIMEOUT_SECONDS)
        for connection in list(self.server_state.connections):
            connection.transport.abort()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals without raising them again afterwards, as uvicorn does: the caller cleans up."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {
            number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                # Whoever takes the process over has handlers of its own.
                if signal.getsignal(number) == self.handle_exit:
                    signal.signal(number, handler)
