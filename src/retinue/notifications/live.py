"""Notifications as they come: who listens in this process, and how they hear of what others store."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable
from typing import Any

import sqlalchemy as sa
import structlog

from retinue.kit.context import Caller, Context
from retinue.kit.db.statements import Statement, reading
from retinue.kit.errors import RateLimited, RetinueError
from retinue.kit.http.sse import Event
from retinue.kit.instance import Instance
from retinue.kit.principal import SYSTEM
from retinue.notifications.models import Inbox, UserNotification
from retinue.notifications.schemas import NotificationOut

log = structlog.get_logger("retinue.notifications")

LOOK_EVERY_S = 1.0
MOST_STREAMS = 20
"""Of one user in one process; a browser has one for each of its windows."""

# Clocks of several machines differ, and a transaction may commit long after it looked at its clock.
_LOOK_BACK_S = 60
_BATCH = 100
_RETRY_AFTER_S = 5

_inboxes, _notifications = Inbox.__table__, UserNotification.__table__
_CHANGED: Statement[Any] = Statement(
    sa.select(_inboxes.c.user_id, _inboxes.c.version).where(_inboxes.c.updated_at > sa.bindparam("since"))
)
_AFTER: Statement[UserNotification] = reading(
    UserNotification,
    sa.select(_notifications)
    .where(
        _notifications.c.user_id == sa.bindparam("of_user"),
        _notifications.c.number > sa.bindparam("after", type_=sa.BigInteger()),
    )
    .order_by(_notifications.c.number)
    .limit(_BATCH),
)


class LiveInboxes:
    """The streams of this process, by their user."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._listeners: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._versions: dict[str, int] = {}
        self._watching: asyncio.Task[None] | None = None

    def listen(self, user_id: str) -> asyncio.Event:
        if len(self._listeners[user_id]) >= MOST_STREAMS:
            raise RateLimited(
                limit=MOST_STREAMS,
                window="concurrent",
                retry_after=_RETRY_AFTER_S,
                reset=int(self._instance.clock.time()) + _RETRY_AFTER_S,
                message=f"There are {MOST_STREAMS} streams of yours already; close one of them.",
            )
        news = asyncio.Event()
        self._listeners[user_id].add(news)
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch())
        return news

    def leave(self, user_id: str, news: asyncio.Event) -> None:
        self._listeners[user_id].discard(news)
        if not self._listeners[user_id]:
            del self._listeners[user_id]
            self._versions.pop(user_id, None)

    def wake(self, user_ids: Iterable[str]) -> None:
        for user_id in user_ids:
            for news in self._listeners.get(user_id, ()):
                news.set()

    async def _watch(self) -> None:
        """Look for what other processes stored, for as long as anyone listens here."""
        try:
            while self._listeners:
                await asyncio.sleep(LOOK_EVERY_S)
                try:
                    await self._look()
                except RetinueError as error:
                    log.warning("notifications could not be looked up", error=error.message)
        finally:
            self._watching = None

    async def _look(self) -> None:
        reader = Context(self._instance, SYSTEM, Caller(correlation_id=""), reads_freely=True)
        system = reader.system("listeners of every tenant")
        since = self._instance.clock.ahead(-_LOOK_BACK_S)
        for user_id, version in await system.rows(_CHANGED, since=since):
            if user_id in self._listeners and self._versions.get(user_id) != version:
                self._versions[user_id] = version
                self.wake([user_id])

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])


async def follow(ctx: Context, after: int | None) -> AsyncGenerator[Event, None]:
    """What the caller is told after a number, or from now on, and how many of it all are unread.

    `ctx` is one that reads freely. An event's id is the number of the last notification before it, so that
    whoever comes back with it misses none.
    """
    user_id, inboxes = ctx.principal.id, ctx.adapter(LiveInboxes)
    news = inboxes.listen(user_id)
    try:
        inbox = await _inbox(ctx)
        position = inbox.last_number if after is None else min(after, inbox.last_number)
        unread: int | None = None
        while True:
            news.clear()
            found = await ctx.db.rows(_AFTER, of_user=user_id, after=position)
            for notification in found:
                position = notification.number
                yield Event("notification", NotificationOut.of(notification), position)
            if len(found) == _BATCH:
                continue
            inbox = await _inbox(ctx)
            if inbox.unread != unread:
                unread = inbox.unread
                yield Event("unread", {"count": unread}, position)
            await news.wait()
    finally:
        inboxes.leave(user_id, news)


async def _inbox(ctx: Context) -> Inbox:
    found = await ctx.db.find(Inbox, user_id=ctx.principal.id)
    return found or Inbox(user_id=ctx.principal.id)
