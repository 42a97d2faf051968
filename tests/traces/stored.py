"""Parts and spans of traces."""

import sqlalchemy as sa

from retinue.chat.models import ChatLog
from retinue.kit.db.statements import Statement
from retinue.kit.tracing.models import TracePart
from retinue.kit.tracing.spans import Span
from retinue.traces.queries import parts_by_id
from tests.client import Api
from tests.factories.people import People

_IDS = Statement(
    sa.union_all(
        sa.select(TracePart.__table__.c.id),
        sa.select(ChatLog.__table__.c.id).where(ChatLog.__table__.c.trace_ns.is_not(None)),
    )
)


async def parts_of(people: People, person: Api, trace_id: str | None = None) -> list[TracePart]:
    """The parts of a tenant's traces, in the order in which they were recorded."""
    async with people.context(person.user.tenant_id) as ctx:
        parts = await parts_by_id(ctx.db, [row[0] for row in await ctx.db.rows(_IDS)])
    return [part for part in parts if trace_id in (None, part.trace_id)]


async def spans_of(people: People, person: Api, trace_id: str) -> list[Span]:
    parts = await parts_of(people, person, trace_id)
    return sorted((span for part in parts for span in part.spans), key=lambda span: span.started_ns)


def tree_of(spans: list[Span]) -> dict[str, str | None]:
    """The name of each span's parent; names must differ."""
    names = {span.span_id: span.name for span in spans}
    assert len(names) == len(spans), names
    return {span.name: names.get(span.parent_span_id or "") for span in spans}
