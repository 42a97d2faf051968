from retinue.events import log, trial_events
from retinue.events.loaders import EventById
from retinue.events.schemas import EventLogQuery, EventOut, EventPage, EventTest, EventTested, Trace
from retinue.kit.context import Context
from retinue.kit.http.routing import Routes

routes = Routes("/api/v1/event-log", tag="events")
emitting = Routes("/api/v1/events", tag="events")


@routes.get("", requires="events:read")
async def list_events(ctx: Context, query: EventLogQuery) -> EventPage:
    """Return the events of the tenant, newest first.

    Events are kept for 90 days. Data that quotes a conversation the caller may not read is redacted.
    """
    return await log.page(ctx, query)


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
