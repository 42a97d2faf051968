from retinue.events import catalogue
from retinue.events.errors import EventTypeNotFound
from retinue.events.schemas import Categories, EventTypeOut, EventTypes
from retinue.kit.context import Context
from retinue.kit.events.declare import CATEGORIES
from retinue.kit.http.routing import Routes

routes = Routes("/api/v1/event-types", tag="events")


@routes.get("", requires="events:read")
async def list_event_types(ctx: Context) -> EventTypes:
    """Return the catalogue: every event type with the schema and an example of its data."""
    return EventTypes(event_types=catalogue.event_types(ctx.instance))


@routes.get("/categories", requires="events:read", cached=True)
async def list_event_categories(
    ctx: Context,  # noqa: ARG001  every handler takes it
) -> Categories:
    """Return the names of all event categories."""
    return Categories(categories=list(CATEGORIES))


@routes.get("/{event_type}", requires="events:read", errors=(EventTypeNotFound,))
async def get_event_type(ctx: Context, event_type: str) -> EventTypeOut:
    """Return one event type of the catalogue. Names of your own are not in it and answer 404."""
    return catalogue.fetch(ctx.instance, event_type)
