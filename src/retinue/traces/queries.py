"""Reading a tenant's traces: stored parts, and plain turns, which their log entries tell about (ADR 46)."""

from collections.abc import Container
from typing import Any

import sqlalchemy as sa

from retinue.chat.models import ChatLog
from retinue.chat.traced_turns import TRACED_TURN_COLUMNS, TracedTurn, part_of_turn
from retinue.kit.clock import hour_of
from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import record_statement
from retinue.kit.joint_timelines import JointTimeline, TimelineSource
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import MAX_PER_PAGE, Slice, query_instant
from retinue.kit.tracing.models import TracePart, TraceSummary
from retinue.kit.tracing.origin import correlation_id_of
from retinue.traces.retention import retention_seconds
from retinue.traces.schemas import TraceList

_HOUR_SECONDS = 3_600
MAX_PARTS = 1_000
"""Parts of one trace that are shown, oldest first."""

_parts, _logs = TracePart.__table__, ChatLog.__table__
_LOG_PREFIX = f"{ChatLog.__prefix__}_"
_BY_DURATION = "duration"
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
_ONLY_PARTS = ("workflow_id", "error_code", "has_error")
"""Filters that no plain turn matches."""
_NARROW = frozenset({"conversation_id", "correlation_id"})


def _equal(table: sa.Table, *names: str) -> dict[str, Any]:
    return {name: table.c[name] == sa.bindparam(name, type_=table.c[name].type) for name in names}


_min_duration_us = sa.bindparam("min_duration_us", type_=sa.BigInteger())
_STORED = TimelineSource(
    _parts,
    "created_at",
    {
        **_equal(_parts, *_EQUAL, "is_first"),
        "kept_since": None,
        # The form that the index of failed parts has.
        "has_error": _parts.c.error_code.is_not(None),
        "min_duration_us": _parts.c.duration_us >= _min_duration_us,
    },
    {_BY_DURATION: _parts.c.duration_us},
)
_PLAIN = TimelineSource(
    _logs,
    "created_at",
    {
        **_equal(_logs, "agent_id", "conversation_id", "user_id", "correlation_id"),
        "kept_since": _logs.c.created_at >= sa.bindparam("kept_since", type_=sa.Text()),
        "kind": None,
        "status": None,
        "is_first": None,
        "min_duration_us": _logs.c.trace_ns >= _min_duration_us * 1_000,
    },
    {_BY_DURATION: _logs.c.trace_ns // 1_000},
    (_logs.c.trace_ns.is_not(None),),
    narrow=_NARROW,
)
_ALL, _WITHOUT_PLAIN_TURNS = JointTimeline(_STORED, _PLAIN), JointTimeline(_STORED)

_SUMMARIES = record_statement(
    TraceSummary,
    sa.select(*(_parts.c[name] for name in TraceSummary.__shape__.names)).where(in_list(_parts.c.id, "ids")),
)
_PARTS = record_statement(TracePart, sa.select(_parts).where(in_list(_parts.c.id, "ids")))
_TURNS = record_statement(
    TracedTurn,
    sa.select(*TRACED_TURN_COLUMNS).where(in_list(_logs.c.id, "ids"), _logs.c.trace_ns.is_not(None)),
)
_PARTS_OF_TRACE = record_statement(
    TracePart,
    sa.select(_parts)
    .where(_parts.c.trace_id == sa.bindparam("trace_id", type_=_parts.c.trace_id.type))
    .order_by(_parts.c.created_at, _parts.c.id)
    .limit(MAX_PARTS),
    heavy=True,
)
_TURNS_OF_TRACE = record_statement(
    TracedTurn,
    sa.select(*TRACED_TURN_COLUMNS)
    .where(
        _logs.c.correlation_id == sa.bindparam("correlation_id", type_=sa.Text()),
        _logs.c.trace_ns.is_not(None),
    )
    .limit(MAX_PARTS),
    heavy=True,
)


async def page(ctx: Context, query: TraceList) -> Slice[TraceSummary]:
    """Return one page: by milestones in order of time (ADR 23), by a scan if sorted by duration."""
    wanted = _filters(query)
    timeline = _ALL if _may_match_plain_turns(wanted) else _WITHOUT_PLAIN_TURNS
    if not _NARROW.intersection(wanted):
        # The index over time goes on with the log, whose traces have expired. Of an hour, so that milestones
        # stay; one hour more, because the job that removes traces runs every hour.
        kept_seconds = retention_seconds(ctx.settings) + _HOUR_SECONDS
        wanted["kept_since"] = hour_of(ctx.clock.ahead(-kept_seconds))
    bounds = {
        name: None if written is None else query_instant(shown, written)
        for name, shown, written in (("since", "from", query.from_), ("until", "to", query.to))
    }
    if query.sort == "-started_at":
        found = await timeline.listed(ctx, query, wanted, **bounds)
    else:
        per_page = min(query.per_page, MAX_PER_PAGE)
        total = await timeline.count(ctx, wanted, bounds["since"], bounds["until"])
        span = {"limit": per_page, "offset": (query.page - 1) * per_page}
        is_descending = query.sort.startswith("-")
        ids = await timeline.page_by(ctx, _BY_DURATION, wanted, is_descending=is_descending, **bounds, **span)
        found = Slice(ids, total, query.page, per_page)
    return Slice(await _summaries(ctx, found.items), found.total, found.page, found.per_page)


def _filters(query: TraceList) -> JsonObject:
    wanted: JsonObject = {name: getattr(query, name) for name in _EQUAL}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    if wanted.get("status") == "error":
        del wanted["status"]
        wanted["has_error"] = True
    if query.min_duration_ms is not None:
        wanted["min_duration_us"] = round(query.min_duration_ms * 1_000)
    return wanted or {"is_first": True}


def _may_match_plain_turns(wanted: JsonObject) -> bool:
    """Return whether the filters leave turns that went well, of which each began its trace."""
    return wanted.get("kind", "turn") == "turn" and not any(name in wanted for name in _ONLY_PARTS)


async def _summaries(ctx: Context, ids: list[str]) -> list[TraceSummary]:
    """Return the listed entries in this order, without those that were deleted meanwhile."""
    if not ids:
        return []
    found: dict[str, TraceSummary] = {}
    found |= {part.id: part for part in await ctx.db.rows(_SUMMARIES, ids=list_parameter(ids))}
    found |= {part.id: part for part in await _plain_turns(ctx.db, ids, found)}
    return [found[id] for id in ids if id in found]


async def parts_by_id(db: SystemDb, ids: list[str]) -> list[TracePart]:
    """Return parts, oldest first."""
    if not ids:
        return []
    stored = await db.rows(_PARTS, ids=list_parameter(ids))
    turns = await _plain_turns(db, ids, {part.id for part in stored})
    return sorted([*stored, *turns], key=_order)


async def _plain_turns(db: SystemDb, ids: list[str], stored: Container[str]) -> list[TracePart]:
    turns = [id for id in ids if id.startswith(_LOG_PREFIX) and id not in stored]
    if not turns:
        return []
    return [part_of_turn(turn) for turn in await db.rows(_TURNS, ids=list_parameter(turns))]


async def parts_of_trace(ctx: Context, trace_id: str) -> list[TracePart]:
    parts = await ctx.db.rows(_PARTS_OF_TRACE, trace_id=trace_id)
    turns = await ctx.db.rows(_TURNS_OF_TRACE, correlation_id=correlation_id_of(trace_id))
    return sorted([*parts, *map(part_of_turn, turns)], key=_order)[:MAX_PARTS]


def _order(part: TracePart) -> tuple[str, str]:
    return part.created_at, part.id.partition("_")[2]
