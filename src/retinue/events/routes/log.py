from retinue.events import log, trying
from retinue.events.loaders import EventById
from retinue.events.schemas import EventLogQuery, EventOut, EventPage, EventTest, EventTested, Trace
from retinue.kit.context import Context
from retinue.kit.http.routing import Routes

routes = Routes("/api/v1/event-log", tag="events")
emitting = Routes("/api/v1/events", tag="events")


@routes.get("", requires="events:read")
async def list_events(ctx: Context, query: EventLogQuery) -> EventPage:
    """Newest first."""
    return await log.page(ctx, query)


@routes.get("/trace/{correlation_id}", requires="events:read")
async def trace_events(ctx: Context, correlation_id: str) -> Trace:
    """What belongs to one chain of causes, oldest first."""
    return await log.follow(ctx, correlation_id)


@routes.get("/{event_id}", requires="events:read")
async def get_event(ctx: Context, event: EventById) -> EventOut:
    return log.shown(ctx, event)


@emitting.post("/test", requires="events:write", status=202, calls_out=True)
async def emit_test_event(ctx: Context, body: EventTest) -> EventTested:
    """The event goes to all who chose to hear of it, marked as a test; `matched` says how many those are."""
    return await trying.emit_test(ctx, body)
