"""Queries for the event log and for the subscriptions that may match events."""

from collections.abc import Iterable
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.events.log_search import page_of_search
from retinue.events.models import ActionType, Subscription
from retinue.events.schemas import EventLogQuery, EventStreamQuery, SubscriptionList
from retinue.kit.context import Context
from retinue.kit.context.references import Referrer
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.db.text_match import escape_like
from retinue.kit.events.declare import category_of
from retinue.kit.events.filters import matches_filters, matches_type
from retinue.kit.events.models import EventEntry
from retinue.kit.events.routing import DispatchedEvent
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import MAX_PER_PAGE, Listing, Slice
from retinue.kit.schema.validation import read_instant
from retinue.kit.timelines import Timeline

MAX_TRACE_EVENTS = 1_000

_events, _subscriptions = EventEntry.__table__, Subscription.__table__
_LOG = Timeline(
    EventEntry,
    "created_at",
    ("position", "id"),
    {
        "event_type": _events.c.type == sa.bindparam("event_type", type_=sa.Text()),
        "category": _events.c.category == sa.bindparam("category", type_=sa.Text()),
        "correlation_id": _events.c.correlation_id == sa.bindparam("correlation_id", type_=sa.Text()),
    },
)
_FILTERS = ("event_type", "category", "correlation_id")
_TRACE = record_statement(
    EventEntry,
    sa.select(_events)
    .where(_events.c.correlation_id == sa.bindparam("correlation_id", type_=sa.Text()))
    .order_by(_events.c.created_at, _events.c.position, _events.c.id)
    .limit(MAX_TRACE_EVENTS),
    heavy=True,
)


def wanted_of(query: EventLogQuery | EventStreamQuery) -> dict[str, str]:
    """Return the filters that are given, by the names of their parameters."""
    return {name: getattr(query, name) for name in _FILTERS if getattr(query, name) is not None}


async def page_of_events(ctx: Context, query: EventLogQuery) -> Slice[EventEntry]:
    """Return one page of the log, newest first."""
    wanted = wanted_of(query)
    bounds = {"since": _parse_instant("from", query.from_), "until": _parse_instant("to", query.to)}
    # A type implies its category, so that no index needs both.
    names_both = wanted.keys() >= {"event_type", "category"}
    if names_both and wanted.pop("category") != category_of(wanted["event_type"]):
        return Slice([], 0, query.page, min(query.per_page, MAX_PER_PAGE))
    if query.search:
        given = {name: bound for name, bound in bounds.items() if bound is not None}
        return await page_of_search(ctx, query, wanted | given)
    return await _LOG.listed(ctx, query, wanted, **bounds)


def _parse_instant(name: str, text: str | None) -> str | None:
    """Parse an instant; an unescaped `+` in a query arrives as a space."""
    return None if text is None else read_instant(name, text.replace(" ", "+"))


async def load_trace(ctx: Context, correlation_id: str) -> tuple[list[EventEntry], int]:
    entries = await ctx.db.rows(_TRACE, correlation_id=correlation_id)
    if len(entries) < MAX_TRACE_EVENTS:
        return entries, len(entries)
    return entries, await _LOG.count(ctx, {"correlation_id": correlation_id})


_SUBSCRIPTIONS = Listing(
    Subscription,
    sorts=("created_at", "updated_at", "event_type", "last_triggered_at", "trigger_count"),
    filters=("event_type", "action_type", "active", "workflow_id"),
)


async def page_of_subscriptions(ctx: Context, query: SubscriptionList) -> Slice[Subscription]:
    return await _SUBSCRIPTIONS.page(ctx.db, query)


class SubscriptionCandidate(msgspec.Struct, frozen=True):
    """The columns of a subscription that decide whether it matches an event."""

    tenant_id: str
    id: str
    event_type: str
    filters: JsonObject

    def accepts(self, event: DispatchedEvent) -> bool:
        return (
            self.tenant_id == event.tenant_id
            and matches_type(self.event_type, event.type)
            and matches_filters(self.filters, event.data)
        )


def _candidate(row: Any) -> SubscriptionCandidate:
    return SubscriptionCandidate(row[0], row[1], row[2], msgspec.json.decode(row[3]))


_CANDIDATES: Statement[SubscriptionCandidate] = Statement(
    sa.select(*(_subscriptions.c[name] for name in SubscriptionCandidate.__struct_fields__))
    .where(
        in_list(_subscriptions.c.tenant_id, "tenants"),
        _subscriptions.c.active == sa.true(),
        sa.or_(_subscriptions.c.is_pattern == sa.true(), in_list(_subscriptions.c.event_type, "types")),
    )
    .order_by(_subscriptions.c.tenant_id, _subscriptions.c.created_at, _subscriptions.c.id),
    _candidate,
)


async def load_candidates(db: SystemDb, events: Iterable[DispatchedEvent]) -> list[SubscriptionCandidate]:
    """Return the active subscriptions to these events' types or to patterns, oldest first per tenant."""
    batch = list(events)
    return await db.rows(
        _CANDIDATES,
        tenants=list_parameter({event.tenant_id for event in batch}),
        types=list_parameter({event.type for event in batch}),
    )


# References to notification channels, which subscriptions may name.
_OF_CHANNEL: Statement[Referrer] = Statement(
    sa.select(_subscriptions.c.id, _subscriptions.c.event_type)
    .where(
        _subscriptions.c.action_type == sa.literal(ActionType.notification.value),
        sa.cast(_subscriptions.c.action_config, sa.Text()).like(
            sa.bindparam("used", type_=sa.Text()), escape="\\"
        ),
    )
    .order_by(_subscriptions.c.created_at, _subscriptions.c.id),
    lambda row: Referrer(row[0], row[1]),
)


async def find_subscriptions_of_channel(ctx: Context, channel_id: str) -> list[Referrer]:
    """Return the subscriptions that notify through a channel, by their event type."""
    return await ctx.db.rows(_OF_CHANNEL, used=f'%"{escape_like(channel_id)}"%')


async def keep_channel_reference(ctx: Context, channel_id: str) -> None:
    """Do nothing: a subscription whose channel was deleted shows that as its last error."""
