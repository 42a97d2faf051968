"""Reading the event log."""

from retinue.events import catalogue
from retinue.events.queries import MOST_COUNTED, page_of_events, trace
from retinue.events.schemas import EventActor, EventLogQuery, EventOut, EventPage, EventSource, Trace
from retinue.kit.context import Context
from retinue.kit.events.models import EventEntry
from retinue.kit.events.outward import outward


async def page(ctx: Context, query: EventLogQuery) -> EventPage:
    found = await page_of_events(ctx, query)
    return EventPage(
        data=[shown(ctx, entry) for entry in found.items],
        total=min(found.total, MOST_COUNTED),
        total_is_exact=found.total <= MOST_COUNTED,
        page=found.page,
        per_page=found.per_page,
    )


async def follow(ctx: Context, correlation_id: str) -> Trace:
    """What belongs together, in the order in which it happened."""
    found, total = await trace(ctx, correlation_id)
    data = [shown(ctx, entry) for entry in found]
    return Trace(correlation_id=correlation_id, data=data, total=total)


def shown(ctx: Context, entry: EventEntry) -> EventOut:
    return EventOut(
        id=entry.id,
        type=entry.type,
        category=entry.category,
        correlation_id=entry.correlation_id,
        data=outward(entry.data, entry.tenant_id, entry.actor),
        source=_source(ctx, entry),
        actor=EventActor(type=entry.actor.get("type", ""), id=entry.actor.get("id", "")),
        test=entry.is_test,
        created_at=entry.created_at,
    )


def _source(ctx: Context, entry: EventEntry) -> EventSource:
    """Of a name of the tenant's own nobody but the tenant knows what it happened to."""
    kind = catalogue.find(ctx.instance, entry.type)
    if kind is None or not kind.subject:
        return EventSource(type="custom" if kind is None else entry.category, id=entry.subject_id)
    id = entry.subject_id or entry.data.get(kind.subject)
    return EventSource(type=kind.subject.removesuffix("_id"), id=id if isinstance(id, str) else "")
