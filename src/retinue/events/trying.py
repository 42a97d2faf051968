"""Test events: emitted for all who chose to hear of them, who are counted."""

from typing import Any

from retinue.events import catalogue, log
from retinue.events.schemas import EventTest, EventTested, Matched
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.events.models import EventEntry
from retinue.kit.events.outward import ADDED, happened, outward


async def emit_test(ctx: Context, body: EventTest) -> EventTested:
    data = {name: value for name, value in body.data.items() if name not in ADDED}
    if body.strict:
        _check(ctx, body.event_type, data)
    async with ctx.unit() as unit:
        event_id = unit.emit_custom(body.event_type, data, test=True)
    entry = await ctx.db.get(EventEntry, event_id)
    assert entry is not None
    counts = await _count(ctx, entry)
    matched = Matched(subscriptions=counts.get("subscriptions", 0), webhooks=counts.get("webhooks", 0))
    return EventTested(event=log.shown(ctx, entry), matched=matched)


async def _count(ctx: Context, entry: EventEntry) -> dict[str, int]:
    told = happened(entry)
    routers = [router for manifest in ctx.instance.manifests for router in manifest.routers]
    return {router.name: await router.count(ctx, told) for router in routers}


def _check(ctx: Context, event_type: str, data: dict[str, Any]) -> None:
    kind = catalogue.find(ctx.instance, event_type)
    if kind is None:
        raise Invalid({"event_type": "is not in the catalogue, so there is no schema to check against"})
    wrong = catalogue.validator(kind).errors(outward(data, ctx.tenant_id, ctx.actor), "data")
    if wrong:
        raise Invalid(wrong)
