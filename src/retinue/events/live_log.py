"""The event log as it grows: the open streams of this process, which one poll per second wakes."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
import structlog

from retinue.events.log import render_events
from retinue.events.log_search import newest_events
from retinue.kit.clock import Instant, parse_instant, to_instant
from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError
from retinue.kit.events.models import EventEntry
from retinue.kit.http.sse import ServerSentEvent
from retinue.kit.limits.open_streams import require_stream_seat
from retinue.kit.principal import SYSTEM

log = structlog.get_logger("retinue.events")

POLL_INTERVAL_SECONDS = 1.0
MAX_EVENTS_AT_ONCE = 500
"""Number of events that are sent at once; of more, only the newest are, after a `gap`."""

# Machine clocks differ, and a transaction may commit long after it read the clock.
_LOOKBACK = timedelta(seconds=10)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LATEST = parse_instant("9999-01-01T00:00:00.000000Z")

_events = EventEntry.__table__
_BUSY_TENANTS = Statement(
    sa.select(_events.c.tenant_id)
    .where(in_list(_events.c.tenant_id, "tenants"), _events.c.created_at >= sa.bindparam("since"))
    .distinct()
)


class LiveLog:
    """The open streams of this process, by user and by tenant."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._streams_by_user: defaultdict[str, int] = defaultdict(int)
        self._wakeups_by_tenant: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._poll_task: asyncio.Task[None] | None = None

    def listen(self, ctx: Context) -> asyncio.Event:
        """Return what is set when the tenant may have new events."""
        require_stream_seat(self._streams_by_user[ctx.principal.id], self._instance.clock)
        self._streams_by_user[ctx.principal.id] += 1
        wakeup = asyncio.Event()
        self._wakeups_by_tenant[ctx.tenant_id].add(wakeup)
        if self._poll_task is None:
            self._poll_task = asyncio.create_task(self._poll_while_watched())
        return wakeup

    def leave(self, ctx: Context, wakeup: asyncio.Event) -> None:
        user_id = ctx.principal.id
        self._streams_by_user[user_id] -= 1
        if not self._streams_by_user[user_id]:
            del self._streams_by_user[user_id]
        self._wakeups_by_tenant[ctx.tenant_id].discard(wakeup)
        if not self._wakeups_by_tenant[ctx.tenant_id]:
            del self._wakeups_by_tenant[ctx.tenant_id]

    async def _poll_while_watched(self) -> None:
        try:
            while self._wakeups_by_tenant:
                await asyncio.sleep(POLL_INTERVAL_SECONDS)
                try:
                    await self._wake_busy()
                except RetinueError as error:
                    log.warning("events_unknown", error=error.message)
        finally:
            self._poll_task = None

    async def _wake_busy(self) -> None:
        """Wake the streams of tenants with events that may not have been sent yet."""
        reader = Context(self._instance, SYSTEM, Caller(correlation_id=""), reads_outside_transaction=True)
        system = reader.system("listeners of every tenant")
        since = self._instance.clock.ahead(-_LOOKBACK.total_seconds())
        tenants = list_parameter(self._wakeups_by_tenant)
        for (tenant_id,) in await system.rows(_BUSY_TENANTS, tenants=tenants, since=since):
            for wakeup in self._wakeups_by_tenant.get(tenant_id, ()):
                wakeup.set()

    async def close(self) -> None:
        if self._poll_task is not None:
            self._poll_task.cancel()
            await asyncio.wait([self._poll_task])


class _Tail:
    """The end of the log as one stream has sent it."""

    def __init__(self, ctx: Context, search: str | None, equal: dict[str, str]) -> None:
        self._ctx = ctx
        self._search = search
        self._equal = equal
        self._sent: dict[str, Instant] = {}

    async def take(self, since: Instant) -> tuple[list[EventEntry], bool]:
        """Return the events since then that were not sent, oldest first, and whether older ones are left."""
        found = await newest_events(
            self._ctx, self._search, {**self._equal, "since": since}, MAX_EVENTS_AT_ONCE + 1
        )
        has_more = len(found) > MAX_EVENTS_AT_ONCE and found[-1].id not in self._sent
        fresh = [entry for entry in found[:MAX_EVENTS_AT_ONCE] if entry.id not in self._sent]
        self._sent = {id: at for id, at in self._sent.items() if at >= since}
        self._sent |= {entry.id: entry.created_at for entry in fresh}
        # Without anything new, what was left out before is left out still.
        return fresh[::-1], has_more and bool(fresh)


async def follow_log(
    ctx: Context, search: str | None, equal: dict[str, str], after: int | None
) -> AsyncGenerator[ServerSentEvent, None]:
    """Yield the matching events as they are stored, from the one numbered `after` on, or from now on.

    `ctx` reads outside a transaction. The id of an event of the stream is the microsecond of the newest one
    so far. After a reconnection, the events of the last seconds before it come again, because some of them
    may have been committed late.
    """
    live, tail = ctx.state(LiveLog), _Tail(ctx, search, equal)
    wakeup = live.listen(ctx)
    try:
        opened = ctx.clock.now()
        since = opened if after is None else min(opened, _instant_of(after))
        position, floor = _number_of(since), _before(since)
        if after is None:
            await tail.take(floor)
        else:
            wakeup.set()
        yield ServerSentEvent("ready", {"since": since}, position)
        while True:
            await wakeup.wait()
            wakeup.clear()
            next_floor = max(floor, _before(ctx.clock.now()))
            entries, has_more = await tail.take(floor)
            if has_more:
                yield ServerSentEvent("gap", {"until": entries[0].created_at}, position)
            for entry, shown in zip(entries, await render_events(ctx, entries), strict=True):
                position = max(position, _number_of(entry.created_at))
                yield ServerSentEvent("event", shown, position)
            floor = next_floor
    finally:
        live.leave(ctx, wakeup)


def _before(at: Instant) -> Instant:
    return to_instant(max(parse_instant(at), _EPOCH + _LOOKBACK) - _LOOKBACK)


def _number_of(at: Instant) -> int:
    return (parse_instant(at) - _EPOCH) // _MICROSECOND


def _instant_of(number: int) -> Instant:
    return to_instant(_EPOCH + min(number * _MICROSECOND, _LATEST - _EPOCH))
