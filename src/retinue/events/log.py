"""Reading the event log."""

from collections.abc import Sequence

from msgspec import UNSET

from retinue.events import catalogue
from retinue.events.queries import load_trace, page_of_events
from retinue.events.schemas import EventActor, EventLogQuery, EventOut, EventPage, EventSource, Trace
from retinue.kit.context import Context
from retinue.kit.context.conversation_access import ContentReader, load_content_reader
from retinue.kit.events.conversation_quotes import quoted_conversation_ids, without_quotes
from retinue.kit.events.models import EventEntry
from retinue.kit.events.public_data import public_data


async def page(ctx: Context, query: EventLogQuery) -> EventPage:
    found = await page_of_events(ctx, query)
    return EventPage(
        data=await render_events(ctx, found.items),
        total=found.total,
        page=found.page,
        per_page=found.per_page,
    )


async def show_trace(ctx: Context, correlation_id: str) -> Trace:
    """Return the events with one correlation id, oldest first."""
    entries, total = await load_trace(ctx, correlation_id)
    return Trace(correlation_id=correlation_id, data=await render_events(ctx, entries), total=total)


async def shown_one(ctx: Context, entry: EventEntry) -> EventOut:
    (event,) = await render_events(ctx, [entry])
    return event


async def render_events(ctx: Context, entries: Sequence[EventEntry]) -> list[EventOut]:
    """Return the entries without the content of conversations that the caller may not read."""
    reader = await load_content_reader(ctx, map(quoted_conversation_ids, entries))
    return [_render_event(ctx, entry, reader) for entry in entries]


def _render_event(ctx: Context, entry: EventEntry, reader: ContentReader) -> EventOut:
    is_readable = reader.may_read(quoted_conversation_ids(entry))
    data = entry.data if is_readable else without_quotes(entry.type, entry.data)
    return EventOut(
        id=entry.id,
        type=entry.type,
        category=entry.category,
        correlation_id=entry.correlation_id,
        data=public_data(data, entry.tenant_id, entry.actor),
        redacted=UNSET if is_readable else True,
        source=_source(ctx, entry),
        actor=EventActor(type=entry.actor.get("type", ""), id=entry.actor.get("id", "")),
        test=entry.is_test,
        created_at=entry.created_at,
    )


def _source(ctx: Context, entry: EventEntry) -> EventSource:
    """Return the subject of an event; that of a custom type is unknown."""
    kind = catalogue.find(ctx.instance, entry.type)
    if kind is None or not kind.subject:
        return EventSource(type="custom" if kind is None else entry.category, id=entry.subject_id)
    id = entry.subject_id or entry.data.get(kind.subject)
    return EventSource(type=kind.subject.removesuffix("_id"), id=id if isinstance(id, str) else "")
