"""Reading a tenant's traces."""

from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import record_statement
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import Listing, PageQuery, Slice, query_instant
from retinue.kit.timelines import Timeline
from retinue.kit.tracing.models import TracePart, TraceSummary
from retinue.traces.schemas import TraceList

MAX_PARTS = 1_000
"""Parts of one trace that are shown, oldest first."""

_parts = TracePart.__table__
_EQUAL = (
    "agent_id",
    "conversation_id",
    "workflow_id",
    "user_id",
    "kind",
    "status",
    "error_code",
    "correlation_id",
)


def _equal(name: str) -> Any:
    return _parts.c[name] == sa.bindparam(name, type_=_parts.c[name].type)


_CONDITIONS: dict[str, Any] = {
    **{name: _equal(name) for name in (*_EQUAL, "is_first")},
    # The form that the index of failed parts has.
    "has_error": _parts.c.error_code.is_not(None),
    "min_duration_us": _parts.c.duration_us >= sa.bindparam("min_duration_us", type_=sa.BigInteger()),
}
_BY_TIME = Timeline(TraceSummary, "created_at", ("id",), _CONDITIONS)
_BY_DURATION = Listing(
    TraceSummary,
    sorts=("duration_us",),
    matches=_CONDITIONS,
    from_={"since": "created_at"},
    until={"until": "created_at"},
    heavy=True,
)
_PARTS_OF_TRACE = record_statement(
    TracePart,
    sa.select(_parts)
    .where(_parts.c.trace_id == sa.bindparam("trace_id", type_=_parts.c.trace_id.type))
    .order_by(_parts.c.created_at, _parts.c.id)
    .limit(MAX_PARTS),
    heavy=True,
)


class _DurationQuery(PageQuery, kw_only=True):
    """The list sorted by duration, with the names of its conditions."""

    agent_id: str | None = None
    conversation_id: str | None = None
    workflow_id: str | None = None
    user_id: str | None = None
    kind: str | None = None
    status: str | None = None
    error_code: str | None = None
    correlation_id: str | None = None
    is_first: bool | None = None
    has_error: bool | None = None
    min_duration_us: int | None = None
    since: str | None = None
    until: str | None = None
    sort: str


async def page(ctx: Context, query: TraceList) -> Slice[TraceSummary]:
    """Return one page: by milestones in order of time (ADR 23), by a scan if sorted by duration."""
    wanted = _filters(query)
    if query.sort != "-started_at":
        sort = query.sort.replace("duration_ms", "duration_us")
        given: JsonObject = {**wanted, "since": query.from_, "until": query.to}
        sorted_query = _DurationQuery(page=query.page, per_page=query.per_page, sort=sort, **given)
        return await _BY_DURATION.page(ctx.db, sorted_query)
    bounds = {
        name: None if written is None else query_instant(shown, written)
        for name, shown, written in (("since", "from", query.from_), ("until", "to", query.to))
    }
    return await _BY_TIME.listed(ctx, query, wanted, **bounds)


def _filters(query: TraceList) -> JsonObject:
    wanted: JsonObject = {name: getattr(query, name) for name in _EQUAL}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    if wanted.get("status") == "error":
        del wanted["status"]
        wanted["has_error"] = True
    if query.min_duration_ms is not None:
        wanted["min_duration_us"] = round(query.min_duration_ms * 1_000)
    return wanted or {"is_first": True}


async def parts_of_trace(ctx: Context, trace_id: str) -> list[TracePart]:
    return await ctx.db.rows(_PARTS_OF_TRACE, trace_id=trace_id)
