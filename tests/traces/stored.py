"""Stored parts and spans of traces."""

from retinue.kit.tracing.models import TracePart
from retinue.kit.tracing.spans import Span
from tests.client import Api
from tests.factories.people import People


async def parts_of(people: People, person: Api, trace_id: str | None = None) -> list[TracePart]:
    """The parts of a tenant's traces, in the order in which they were stored."""
    async with people.context(person.user.tenant_id) as ctx:
        parts = await ctx.db.all(TracePart, order_by=("created_at", "id"))
    return [part for part in parts if trace_id in (None, part.trace_id)]


async def spans_of(people: People, person: Api, trace_id: str) -> list[Span]:
    parts = await parts_of(people, person, trace_id)
    return sorted((span for part in parts for span in part.spans), key=lambda span: span.started_ns)


def tree_of(spans: list[Span]) -> dict[str, str | None]:
    """The name of each span's parent; names must differ."""
    names = {span.span_id: span.name for span in spans}
    assert len(names) == len(spans), names
    return {span.name: names.get(span.parent_span_id or "") for span in spans}
