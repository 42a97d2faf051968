from retinue.events import log, trial_events
from retinue.events.live_log import follow_log
from retinue.events.loaders import EventById
from retinue.events.queries import wanted_of
from retinue.events.schemas import (
    EventLogQuery,
    EventOut,
    EventPage,
    EventStreamQuery,
    EventTest,
    EventTested,
    Trace,
)
from retinue.kit.context import Context
from retinue.kit.errors import RateLimited
from retinue.kit.http.last_event import read_last_event_id
from retinue.kit.http.replies import EventStream
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Routes

routes = Routes("/api/v1/event-log", tag="events")
emitting = Routes("/api/v1/events", tag="events")


@routes.get("", requires="events:read")
async def list_events(ctx: Context, query: EventLogQuery) -> EventPage:
    """Return the events of the tenant, newest first.

    Events are kept for 90 days. Data that quotes a conversation the caller may not read is redacted.
    """
    return await log.page(ctx, query)


@routes.get("/stream", requires="events:read", errors=(RateLimited,))
async def stream_event_log(ctx: Context, query: EventStreamQuery, request: Request) -> EventStream:
    """Receive the events of the tenant as they are stored, as server-sent events.

    After `ready` come `event` events, each within about a second, in the form of the log and with the same
    data redacted. Send the last event's id as `Last-Event-ID` to receive what was missed; what was stored in
    the seconds before it comes again, recognizable by its `id`. `gap` says that more was stored than is
    sent: read the log for what is older than its `until`. At most 20 streams per user.
    """
    after, detached, wanted = read_last_event_id(request), ctx.detached(), wanted_of(query)
    return EventStream(lambda: follow_log(detached, query.search, wanted, after), is_endless=True)


@routes.get("/trace/{correlation_id}", requires="events:read")
async def trace_events(ctx: Context, correlation_id: str) -> Trace:
    """Return everything with one correlation id, oldest first. An unknown id answers 200 without entries."""
    return await log.show_trace(ctx, correlation_id)


@routes.get("/{event_id}", requires="events:read")
async def get_event(ctx: Context, event: EventById) -> EventOut:
    """Return one event of the log. Data that quotes a conversation the caller may not read is redacted."""
    return await log.shown_one(ctx, event)


@emitting.post("/test", requires="events:write", status=202, calls_out=True)
async def emit_test_event(ctx: Context, body: EventTest) -> EventTested:
    """Emit an event marked as a test.

    It goes to every matching webhook, subscription and workflow, whose actions are really carried out;
    `matched` counts the webhooks and subscriptions.
    """
    return await trial_events.send_test_event(ctx, body)
