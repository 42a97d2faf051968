"""Test events: emitted to all matching webhooks and subscriptions, which are counted."""

from retinue.events import catalogue, log
from retinue.events.schemas import EventTest, EventTested, Matched
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.events.models import EventEntry
from retinue.kit.events.public_data import ENVELOPE_FIELDS, public_data
from retinue.kit.events.routing import Router, dispatched_event
from retinue.kit.json_types import JsonObject


async def send_test_event(ctx: Context, body: EventTest) -> EventTested:
    data = {name: value for name, value in body.data.items() if name not in ENVELOPE_FIELDS}
    if body.strict:
        _check(ctx, body.event_type, data)
    async with ctx.unit() as unit:
        event_id = unit.emit_custom(body.event_type, data, test=True)
    entry = await ctx.db.get(EventEntry, event_id)
    assert entry is not None
    counts = await _count_matches(ctx, entry)
    matched = Matched(subscriptions=counts.get("subscriptions", 0), webhooks=counts.get("webhooks", 0))
    return EventTested(event=await log.shown_one(ctx, entry), matched=matched)


async def _count_matches(ctx: Context, entry: EventEntry) -> dict[str, int]:
    event = dispatched_event(entry)
    routers = ctx.instance.registry.all(Router)
    return {router.name: await router.count(ctx, event) for router in routers}


def _check(ctx: Context, event_type: str, data: JsonObject) -> None:
    kind = catalogue.find(ctx.instance, event_type)
    if kind is None:
        raise Invalid({"event_type": "is not in the catalogue, so data cannot be validated; omit strict"})
    problems = catalogue.validator(kind).errors(public_data(data, ctx.tenant_id, ctx.actor), "data")
    if problems:
        raise Invalid(problems)
