"""Live notifications and changes: the open streams of this process, and polling for what others did."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable

import msgspec
import sqlalchemy as sa
import structlog

from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.errors import RetinueError
from retinue.kit.http.sse import ServerSentEvent
from retinue.kit.limits.open_streams import require_stream_seat
from retinue.kit.principal import SYSTEM, Principal
from retinue.notifications.live_changes import ChangePoller
from retinue.notifications.models import Inbox, UserNotification
from retinue.notifications.redacted_views import shown_notifications
from retinue.notifications.stream_listener import StreamListener

log = structlog.get_logger("retinue.notifications")

POLL_INTERVAL_SECONDS = 1.0
CHANGED_INBOXES = "notifications.changed_inboxes"
"""The topic under which processes tell each other whose inbox has changed."""

# Machine clocks differ, and a transaction may commit long after it read the clock.
_LOOKBACK_SECONDS = 60
_BATCH = 100

_inboxes, _notifications = Inbox.__table__, UserNotification.__table__
_CHANGED = Statement(
    sa.select(_inboxes.c.user_id, _inboxes.c.version).where(_inboxes.c.updated_at > sa.bindparam("since"))
)
_AFTER: Statement[UserNotification] = record_statement(
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
    """The open streams of this process, by user."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._listeners: defaultdict[str, set[StreamListener]] = defaultdict(set)
        self._versions: dict[str, int] = {}
        self._poll_task: asyncio.Task[None] | None = None
        instance.peers.subscribe(CHANGED_INBOXES, lambda user_id: self.wake([user_id]))

    def listen(self, principal: Principal) -> StreamListener:
        user_id = principal.id
        require_stream_seat(len(self._listeners[user_id]), self._instance.clock)
        listener = StreamListener(principal)
        self._listeners[user_id].add(listener)
        if self._poll_task is None:
            self._poll_task = asyncio.create_task(self._poll_changes())
        return listener

    def leave(self, listener: StreamListener) -> None:
        user_id = listener.principal.id
        self._listeners[user_id].discard(listener)
        if not self._listeners[user_id]:
            del self._listeners[user_id]
            self._versions.pop(user_id, None)

    def wake_everywhere(self, user_ids: list[str]) -> None:
        """Wake the listeners of this process and of its peers; processes elsewhere poll."""
        self.wake(user_ids)
        self._instance.peers.publish(CHANGED_INBOXES, *user_ids)

    def wake(self, user_ids: Iterable[str]) -> None:
        for user_id in user_ids:
            for listener in self._listeners.get(user_id, ()):
                listener.wake_for_inbox()

    async def _poll_changes(self) -> None:
        """Poll for changes, also those made by other processes, while anyone listens here."""
        changes = ChangePoller(self._instance)
        try:
            while self._listeners:
                await asyncio.sleep(POLL_INTERVAL_SECONDS)
                try:
                    await self._wake_changed()
                    await changes.poll([one for some in self._listeners.values() for one in some])
                except RetinueError as error:
                    log.warning("notifications_unknown", error=error.message)
        finally:
            self._poll_task = None

    async def _wake_changed(self) -> None:
        reader = Context(self._instance, SYSTEM, Caller(correlation_id=""), reads_outside_transaction=True)
        system = reader.system("listeners of every tenant")
        since = self._instance.clock.ahead(-_LOOKBACK_SECONDS)
        for user_id, version in await system.rows(_CHANGED, since=since):
            if user_id in self._listeners and self._versions.get(user_id) != version:
                self._versions[user_id] = version
                self.wake([user_id])

    async def close(self) -> None:
        if self._poll_task is not None:
            self._poll_task.cancel()
            await asyncio.wait([self._poll_task])


async def follow_inbox(ctx: Context, after: int | None) -> AsyncGenerator[ServerSentEvent, None]:
    """Yield the caller's notifications after a number, or from now on, each new unread count, and changes.

    `ctx` reads outside a transaction. An event's id is the number of the last notification so far, so that a
    client that reconnects with it misses none.
    """
    user_id, inboxes = ctx.principal.id, ctx.state(LiveInboxes)
    listener = inboxes.listen(ctx.principal)
    try:
        inbox = await _inbox(ctx)
        position = inbox.last_number if after is None else min(after, inbox.last_number)
        unread: int | None = None
        while True:
            for change in listener.take_changes():
                yield ServerSentEvent("changed", msgspec.to_builtins(change), position)
            if not listener.is_inbox_stale:
                await listener.wait()
                continue
            listener.is_inbox_stale = False
            batch = await ctx.db.rows(_AFTER, of_user=user_id, after=position)
            for notification, shown in zip(batch, await shown_notifications(ctx, batch), strict=True):
                position = notification.number
                yield ServerSentEvent("notification", shown, position)
            if len(batch) == _BATCH:
                listener.is_inbox_stale = True
                continue
            inbox = await _inbox(ctx)
            if inbox.unread != unread:
                unread = inbox.unread
                yield ServerSentEvent("unread", {"count": unread}, position)
    finally:
        inboxes.leave(listener)


async def _inbox(ctx: Context) -> Inbox:
    row = await ctx.db.find(Inbox, user_id=ctx.principal.id)
    return row or Inbox(user_id=ctx.principal.id)
