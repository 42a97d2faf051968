"""Turns that are being streamed by this process: who listens, who may stop them, and when they are given up.

A turn runs in a task of its own, so a client that lost its connection can come back and miss nothing. When
nobody has listened for a moment the turn is cut off, which hangs up on the model's provider too.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import Any

import msgspec
import sqlalchemy as sa
import structlog

from retinue.chat.models import Message
from retinue.kit.context import Caller, Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError
from retinue.kit.http.sse import Event
from retinue.kit.instance import Instance
from retinue.kit.principal import SYSTEM

log = structlog.get_logger("retinue.chat")

GRACE_S = 2.0
LOOK_EVERY_S = 1.0

# What a listener sees: the text, the tools beside it, and what sub-agents do as well.
TEXT, TOOLS, EVERYTHING = 0, 1, 2

_messages = Message.__table__
_STOPPED: Statement[Any] = Statement(
    sa.select(_messages.c.reply_id).where(
        _messages.c.is_stopped.is_(True), _messages.c.created_at > sa.bindparam("since")
    )
)


class Frame(msgspec.Struct, gc=False):
    """An event and from which level on it is seen; `plain` is what those who see only the text get of it."""

    event: Event
    level: int
    plain: Event | None = None

    def seen(self, level: int) -> Event | None:
        if level < self.level:
            return None
        return self.plain if self.plain is not None and level == TEXT else self.event


async def _by_nobody() -> bool:
    return False


class LiveTurn:
    __slots__ = (
        "_error",
        "_frames",
        "_giving_up",
        "_is_followed_elsewhere",
        "_is_over",
        "_listeners",
        "_looking",
        "_task",
        "_waiting",
        "id",
        "is_own",
        "is_stopped",
    )

    def __init__(
        self,
        id: str,
        is_followed_elsewhere: Callable[[], Awaitable[bool]] = _by_nobody,
        *,
        is_own: bool = True,
        so_far: Iterable[Frame] = (),
    ) -> None:
        """One that is not its `own` is run by somebody else, who also stops it; `so_far` was said before."""
        self.id = id
        self.is_own = is_own
        self.is_stopped = False
        self._is_followed_elsewhere = is_followed_elsewhere
        # A piece of text stands for its event: there are thousands of them in a long reply.
        self._frames: list[Frame | str] = list(so_far)
        self._is_over = False
        self._error: RetinueError | None = None
        self._listeners = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._task: asyncio.Task[None] | None = None
        self._giving_up: asyncio.TimerHandle | None = None
        self._looking: asyncio.Task[None] | None = None

    def start(self, run: Callable[["LiveTurn"], Awaitable[None]]) -> "asyncio.Task[None]":
        self._task = asyncio.create_task(self._run(run))
        self._await_listener()
        return self._task

    async def _run(self, run: Callable[["LiveTurn"], Awaitable[None]]) -> None:
        try:
            await run(self)
        except RetinueError as error:
            self._error = error
        except asyncio.CancelledError:
            self._error = self._error or RetinueError("The reply was cut off.")
        finally:
            self._is_over = True
            self._tell()

    def publish(self, name: str, data: Any, level: int, plain: Any = None) -> None:
        """Add an event for whoever listens now or later."""
        number = len(self._frames) + 1
        shown_plain = Event(name, plain, number) if plain is not None else None
        self._frames.append(Frame(Event(name, data, number), level, shown_plain))
        self._tell()

    def publish_text(self, text: str) -> None:
        """Add a piece of the reply."""
        self._frames.append(text)
        self._tell()

    def stop(self) -> None:
        """As its listener wanted: what was said so far is the reply."""
        self.is_stopped = True
        self.cancel()

    def cancel(self) -> None:
        """Once: a second time would cut off what is done about the first."""
        if self._task is not None and not self._task.cancelling():
            self._task.cancel()

    async def follow(self, after: int, level: int) -> AsyncGenerator[Event, None]:
        """The events after a number, those that are still to come included."""
        self._listeners += 1
        if self._giving_up is not None:
            self._giving_up.cancel()
        position = after
        try:
            while True:
                while position < len(self._frames):
                    frame = self._frames[position]
                    position += 1
                    event = _said(frame, position) if isinstance(frame, str) else frame.seen(level)
                    if event is not None:
                        yield event
                if self._is_over:
                    break
                await self._next_news()
            if self._error is not None:
                raise self._error
        finally:
            self._listeners -= 1
            self._await_listener()

    def _await_listener(self) -> None:
        if self._listeners == 0 and not self._is_over:
            self._giving_up = asyncio.get_running_loop().call_later(GRACE_S, self._give_up)

    def _give_up(self) -> None:
        self._looking = asyncio.create_task(self._give_up_unless_followed())

    async def _give_up_unless_followed(self) -> None:
        """A client that came back may have come to another process."""
        try:
            is_followed = await self._is_followed_elsewhere()
        except RetinueError as error:
            log.warning("whether a turn is followed elsewhere is not known", error=error.message)
            is_followed = False
        if is_followed:
            self._await_listener()
        elif self._listeners == 0:
            self.cancel()

    def _next_news(self) -> "asyncio.Future[None]":
        news: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(news)
        return news

    def _tell(self) -> None:
        waiting, self._waiting = self._waiting, []
        for news in waiting:
            if not news.done():
                news.set_result(None)


def _said(text: str, number: int) -> Event:
    return Event("content_delta", {"delta": text}, number)


class LiveTurns:
    """The live turns of this process."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._turns: dict[str, LiveTurn] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._watching: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._turns)

    def find(self, id: str) -> LiveTurn | None:
        return self._turns.get(id)

    def start(self, turn: LiveTurn, run: Callable[[LiveTurn], Awaitable[None]]) -> None:
        self._turns[turn.id] = turn
        task = turn.start(run)
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._ended(turn, done))
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch())

    def _ended(self, turn: LiveTurn, task: "asyncio.Task[None]") -> None:
        self._turns.pop(turn.id, None)
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("a live turn failed", exc_info=task.exception())

    async def _watch(self) -> None:
        """Stop what another process was asked to stop, for as long as anything is live here."""
        try:
            while self._turns:
                await asyncio.sleep(LOOK_EVERY_S)
                try:
                    await self._stop_marked()
                except RetinueError as error:
                    log.warning("stopped turns could not be looked up", error=error.message)
        finally:
            self._watching = None

    async def _stop_marked(self) -> None:
        instance = self._instance
        reader = Context(instance, SYSTEM, Caller(correlation_id=""), reads_freely=True)
        system = reader.system("turns of every tenant")
        for (id,) in await system.rows(_STOPPED, since=instance.clock.ahead(-600)):
            turn = self._turns.get(id)
            if turn is not None and turn.is_own:
                turn.stop()

    async def close(self) -> None:
        for turn in list(self._turns.values()):
            turn.cancel()
        if self._watching is not None:
            self._watching.cancel()
        pending = [*self._tasks, *([self._watching] if self._watching else [])]
        if pending:
            await asyncio.wait(pending, timeout=5)
