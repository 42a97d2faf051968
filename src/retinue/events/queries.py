"""The event log within bounds, however long it is, and the subscriptions that may care about events."""

import functools
from collections.abc import Iterable
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.events.models import Subscription
from retinue.events.schemas import EventLogQuery, SubscriptionList
from retinue.kit.context import Context
from retinue.kit.db.one_of import listed, one_of
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement, reading
from retinue.kit.events.declare import category_of
from retinue.kit.events.matching import matches_filters, matches_type
from retinue.kit.events.models import EventEntry
from retinue.kit.events.routing import Happened
from retinue.kit.lists import MAX_PER_PAGE, Listing, Slice
from retinue.kit.validation import read_instant

MOST_COUNTED = 1_000
LONGEST_TRACE = 1_000

_events, _subscriptions = EventEntry.__table__, Subscription.__table__
_given: dict[str, Any] = {
    "event_type": _events.c.type == sa.bindparam("event_type", type_=sa.Text()),
    "category": _events.c.category == sa.bindparam("category", type_=sa.Text()),
    "correlation_id": _events.c.correlation_id == sa.bindparam("correlation_id", type_=sa.Text()),
    "from_": _events.c.created_at >= sa.bindparam("from_", type_=sa.Text()),
    "to": _events.c.created_at <= sa.bindparam("to", type_=sa.Text()),
}
_limit = sa.bindparam("row_limit", type_=sa.BigInteger())
_offset = sa.bindparam("row_offset", type_=sa.BigInteger())


@functools.cache
def _newest(names: tuple[str, ...]) -> Statement[EventEntry]:
    source = (
        sa.select(_events)
        .where(*(_given[name] for name in names))
        .order_by(_events.c.created_at.desc(), _events.c.position.desc(), _events.c.id.desc())
        .limit(_limit)
        .offset(_offset)
    )
    return reading(EventEntry, source, heavy=True)


@functools.cache
def _counting(names: tuple[str, ...]) -> Statement[Any]:
    """A log of a million entries is not walked through for a number that nobody reads to the end."""
    # A column that every index has, so that no entry itself is read.
    counted = sa.select(_events.c.tenant_id).where(*(_given[name] for name in names)).limit(MOST_COUNTED + 1)
    return Statement(sa.select(sa.func.count()).select_from(counted.subquery()), heavy=True)


_TRACE = reading(
    EventEntry,
    sa.select(_events)
    .where(_given["correlation_id"])
    .order_by(_events.c.created_at, _events.c.position, _events.c.id)
    .limit(LONGEST_TRACE),
    heavy=True,
)


async def page_of_events(ctx: Context, query: EventLogQuery) -> Slice[EventEntry]:
    """Newest first; a `total` above `MOST_COUNTED` only says that there are more."""
    wanted = {name: getattr(query, name) for name in _given if getattr(query, name) is not None}
    for name in ("from_", "to"):
        if name in wanted:
            wanted[name] = read_instant(name.rstrip("_"), wanted[name].replace(" ", "+"))
    per_page = min(query.per_page, MAX_PER_PAGE)
    offset = (query.page - 1) * per_page
    # A type says its category: no index has both, and none is needed.
    is_said_twice = wanted.keys() >= {"event_type", "category"}
    if is_said_twice and wanted.pop("category") != category_of(wanted["event_type"]):
        return Slice([], 0, query.page, per_page)
    names = tuple(wanted)
    total = int(await ctx.db.scalar(_counting(names), **wanted))
    found: list[EventEntry] = []
    if offset < total or total > MOST_COUNTED:
        found = await ctx.db.rows(_newest(names), row_limit=per_page, row_offset=offset, **wanted)
    return Slice(found, total, query.page, per_page)


async def trace(ctx: Context, correlation_id: str) -> tuple[list[EventEntry], int]:
    found = await ctx.db.rows(_TRACE, correlation_id=correlation_id)
    if len(found) < LONGEST_TRACE:
        return found, len(found)
    names = ("correlation_id",)
    return found, min(MOST_COUNTED, int(await ctx.db.scalar(_counting(names), correlation_id=correlation_id)))


_SUBSCRIPTIONS = Listing(
    Subscription,
    sorts=("created_at", "updated_at", "event_type", "last_triggered_at", "trigger_count"),
    filters=("event_type", "action_type", "active", "workflow_id"),
)


async def page_of_subscriptions(ctx: Context, query: SubscriptionList) -> Slice[Subscription]:
    return await _SUBSCRIPTIONS.page(ctx.db, query)


class Candidate(msgspec.Struct, frozen=True):
    """A subscription as far as one must know it to see whether it cares."""

    tenant_id: str
    id: str
    event_type: str
    filters: dict[str, Any]

    def cares_about(self, event: Happened) -> bool:
        return (
            self.tenant_id == event.tenant_id
            and matches_type(self.event_type, event.type)
            and matches_filters(self.filters, event.data)
        )


def _candidate(row: Any) -> Candidate:
    return Candidate(row[0], row[1], row[2], msgspec.json.decode(row[3]))


_CANDIDATES: Statement[Candidate] = Statement(
    sa.select(*(_subscriptions.c[name] for name in Candidate.__struct_fields__))
    .where(
        one_of(_subscriptions.c.tenant_id, "tenants"),
        _subscriptions.c.active == sa.true(),
        sa.or_(_subscriptions.c.is_pattern == sa.true(), one_of(_subscriptions.c.event_type, "types")),
    )
    .order_by(_subscriptions.c.tenant_id, _subscriptions.c.created_at, _subscriptions.c.id),
    _candidate,
)


async def candidates(db: SystemDb, events: Iterable[Happened]) -> list[Candidate]:
    """The active subscriptions of these tenants to these types, or to patterns; oldest first."""
    batch = list(events)
    return await db.rows(
        _CANDIDATES,
        tenants=listed({event.tenant_id for event in batch}),
        types=listed({event.type for event in batch}),
    )
