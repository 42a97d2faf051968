"""Turns that this process streams: their listeners, stop requests and abandonment (ADR 11).

A turn runs in its own task, so a client that lost its connection can reconnect and miss nothing. When nobody
has listened for a moment the turn is cancelled, which also closes the provider's connection.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import Any

import msgspec
import sqlalchemy as sa
import structlog

from retinue.chat.models import Message
from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError
from retinue.kit.http.sse import ServerSentEvent
from retinue.kit.principal import SYSTEM

log = structlog.get_logger("retinue.chat")

# Long enough for a phone that reloads its page; with what noticing takes, slots are free within 5 seconds.
ABANDON_AFTER_SECONDS = 3.5
POLL_SECONDS = 1.0

STOPPED = "chat.stopped"
"""The topic under which processes tell each other which replies to stop."""

# Levels of detail: the text only, also the agent's tools, also the tools of sub-agents.
TEXT_ONLY, WITH_TOOLS, WITH_SUB_AGENTS = 0, 1, 2

_messages = Message.__table__
_STOPPED = Statement(
    sa.select(_messages.c.reply_id).where(
        _messages.c.is_stopped == sa.true(), _messages.c.created_at > sa.bindparam("since")
    )
)


class Frame(msgspec.Struct, gc=False):
    """An event, the lowest level that sees it, and the variant (`plain`) that TEXT_ONLY listeners get."""

    event: ServerSentEvent
    level: int
    plain: ServerSentEvent | None = None

    def event_for(self, level: int) -> ServerSentEvent | None:
        if level < self.level:
            return None
        return self.plain if self.plain is not None and level == TEXT_ONLY else self.event


async def _not_followed() -> bool:
    return False


class LiveTurn:
    __slots__ = (
        "_abandon_check",
        "_abandon_timer",
        "_error",
        "_frames",
        "_is_followed_elsewhere",
        "_is_over",
        "_listeners",
        "_wakeups",
        "id",
        "is_own",
        "is_stopped",
        "task",
    )

    def __init__(
        self,
        id: str,
        is_followed_elsewhere: Callable[[], Awaitable[bool]] = _not_followed,
        *,
        is_own: bool = True,
        earlier_frames: Iterable[Frame] = (),
    ) -> None:
        """A turn that is not `is_own` is run and stopped elsewhere; `earlier_frames` come first."""
        self.id = id
        self.is_own = is_own
        self.is_stopped = False
        self._is_followed_elsewhere = is_followed_elsewhere
        # Pieces of text are stored as plain strings: a long reply has thousands of them.
        self._frames: list[Frame | str] = list(earlier_frames)
        self._is_over = False
        self._error: RetinueError | None = None
        self._listeners = 0
        self._wakeups: list[asyncio.Future[None]] = []
        self.task: asyncio.Task[None] | None = None
        self._abandon_timer: asyncio.TimerHandle | None = None
        self._abandon_check: asyncio.Task[None] | None = None

    def start(self, run: Callable[["LiveTurn"], Awaitable[None]]) -> "asyncio.Task[None]":
        self.task = asyncio.create_task(self._run(run))
        self._start_abandon_timer()
        return self.task

    async def _run(self, run: Callable[["LiveTurn"], Awaitable[None]]) -> None:
        try:
            await run(self)
        except RetinueError as error:
            self._error = error
        except asyncio.CancelledError:
            self._error = self._error or RetinueError("The reply was cut off.")
        finally:
            self._is_over = True
            self._wake_followers()

    def publish(self, name: str, data: Any, level: int, plain: Any = None) -> None:
        """Add an event for current and future listeners."""
        number = len(self._frames) + 1
        shown_plain = ServerSentEvent(name, plain, number) if plain is not None else None
        self._frames.append(Frame(ServerSentEvent(name, data, number), level, shown_plain))
        self._wake_followers()

    def publish_text(self, text: str) -> None:
        """Add a piece of the reply."""
        self._frames.append(text)
        self._wake_followers()

    def stop(self) -> None:
        """Stop the turn on request; the text so far becomes the reply."""
        self.is_stopped = True
        self.cancel()

    def cancel(self) -> None:
        """Cancel the task once; a second cancellation would interrupt the handling of the first."""
        if self.task is not None and not self.task.cancelling():
            self.task.cancel()

    async def follow(self, after: int, level: int) -> AsyncGenerator[ServerSentEvent, None]:
        """Yield the events after number `after`, including those still to come."""
        self._listeners += 1
        if self._abandon_timer is not None:
            self._abandon_timer.cancel()
        position = after
        try:
            while True:
                while position < len(self._frames):
                    frame = self._frames[position]
                    position += 1
                    event = _text_event(frame, position) if isinstance(frame, str) else frame.event_for(level)
                    if event is not None:
                        yield event
                if self._is_over:
                    break
                await self._next_wakeup()
            if self._error is not None:
                raise self._error
        finally:
            self._listeners -= 1
            self._start_abandon_timer()

    def _start_abandon_timer(self) -> None:
        if self._listeners == 0 and not self._is_over:
            self._abandon_timer = asyncio.get_running_loop().call_later(
                ABANDON_AFTER_SECONDS, self._check_abandoned
            )

    def _check_abandoned(self) -> None:
        self._abandon_check = asyncio.create_task(self._cancel_unless_followed())

    async def _cancel_unless_followed(self) -> None:
        """Cancel the turn unless a client has reconnected to another process."""
        try:
            is_followed = await self._is_followed_elsewhere()
        except RetinueError as error:
            log.warning("turn_followers_unknown", error=error.message)
            is_followed = False
        if is_followed:
            self._start_abandon_timer()
        elif self._listeners == 0:
            self.cancel()

    def _next_wakeup(self) -> "asyncio.Future[None]":
        wakeup: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._wakeups.append(wakeup)
        return wakeup

    def _wake_followers(self) -> None:
        wakeups, self._wakeups = self._wakeups, []
        for wakeup in wakeups:
            if not wakeup.done():
                wakeup.set_result(None)


def _text_event(text: str, number: int) -> ServerSentEvent:
    return ServerSentEvent("content_delta", {"delta": text}, number)


class LiveTurns:
    """The live turns of this process."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self.opened_at = instance.peers.opened_at or instance.clock.now()
        self._turns: dict[str, LiveTurn] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._watching: asyncio.Task[None] | None = None
        instance.peers.subscribe(STOPPED, self._stop)

    def __len__(self) -> int:
        return len(self._turns)

    def find(self, id: str) -> LiveTurn | None:
        return self._turns.get(id)

    def start(self, turn: LiveTurn, run: Callable[[LiveTurn], Awaitable[None]]) -> None:
        self._turns[turn.id] = turn
        task = turn.start(run)
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._on_task_done(turn, done))
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch_stop_requests())

    def _on_task_done(self, turn: LiveTurn, task: "asyncio.Task[None]") -> None:
        self._turns.pop(turn.id, None)
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("live_turn_failed", exc_info=task.exception())

    async def _watch_stop_requests(self) -> None:
        """Stop turns whose stop request reached another process, while any turn is live here."""
        try:
            while self._turns:
                await asyncio.sleep(POLL_SECONDS)
                try:
                    await self._stop_requested_turns()
                except RetinueError as error:
                    log.warning("stopped_turns_unknown", error=error.message)
        finally:
            self._watching = None

    async def _stop_requested_turns(self) -> None:
        instance = self._instance
        reader = Context(instance, SYSTEM, Caller(correlation_id=""), reads_outside_transaction=True)
        system = reader.system("turns of every tenant")
        for (id,) in await system.rows(_STOPPED, since=instance.clock.ahead(-600)):
            self._stop(id)

    def _stop(self, id: str) -> None:
        turn = self._turns.get(id)
        if turn is not None and turn.is_own:
            turn.stop()

    async def wait_until_idle(self) -> None:
        """Wait until no turn runs here: its client may have come back to another process."""
        while own := [turn.task for turn in self._turns.values() if turn.is_own and turn.task is not None]:
            await asyncio.wait(own)

    async def close(self) -> None:
        for turn in list(self._turns.values()):
            turn.cancel()
        if self._watching is not None:
            self._watching.cancel()
        pending = [*self._tasks, *([self._watching] if self._watching else [])]
        if pending:
            await asyncio.wait(pending, timeout=5)
