"""Time, split and groups of a usage report."""

import csv
import io
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Instant, parse_instant, to_instant
from retinue.kit.context import Context
from retinue.kit.db.in_list import list_parameter
from retinue.kit.db.models import RECORDS
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid
from retinue.kit.http.replies import Download
from retinue.kit.limits import PlanLimits, limits_for
from retinue.kit.schema.validation import read_instant
from retinue.kit.spreadsheet_cells import escape_formula
from retinue.usage import periods
from retinue.usage.models import COUNTERS
from retinue.usage.price_book import load_price_book
from retinue.usage.report_statements import GROUP_COLUMNS, MAX_ROWS, costless_statement, sums_statement
from retinue.usage.request_counts import RequestCounts
from retinue.usage.schemas import (
    Counters,
    Granularity,
    Usage,
    UsageLimits,
    UsagePeriod,
    UsageQuery,
    UsageRow,
    UsedNow,
)

MAX_GROUP_IDS = 100
NO_GROUP = "null"
"""The id that chooses usage which belongs to no group."""
# An hour later there must still be a moment.
_LAST_MOMENT = "9999-01-01T00:00:00.000000Z"


class ReportScope(msgspec.Struct, frozen=True):
    """Time, split and chosen groups of a report."""

    begin: Instant
    end: Instant
    granularity: Granularity
    groups: tuple[str, ...]
    ids: frozenset[str] | None = None
    """The values of the only group to report; empty text stands for usage that belongs to none."""

    def includes(self, key: "Key") -> bool:
        return self.ids is None or key[1] in self.ids

    def parameters(self) -> dict[str, str]:
        # The hour that contains `end` counts as a whole; one that starts at `end` does not.
        bounds = {"begin": self.begin[:13], "until": _end_hour(self.end)}
        return bounds if self.ids is None else {**bounds, "ids": list_parameter(sorted(self.ids))}


async def build_report(ctx: Context, query: UsageQuery) -> Usage:
    groups = _groups(query.group_by)
    begin, end = _period(ctx, query)
    ids = _group_ids(query.group_ids, groups)
    scope = ReportScope(begin=begin, end=end, granularity=query.granularity, groups=groups, ids=ids)
    await ctx.state(RequestCounts).store()
    plan, limits = await _plan(ctx)
    used = await ctx.instance.limiter.used(ctx.tenant_id)
    rows = await _rows(ctx, scope)
    await _add_storage(ctx, rows, scope)
    totals = Counters()
    for row in rows.values():
        for name in Counters.__struct_fields__:
            setattr(totals, name, getattr(totals, name) + getattr(row, name))
    totals.storage_bytes = await _stored_now(ctx)
    totals.estimated_cost_usd = round(totals.estimated_cost_usd, 9)
    return Usage(
        period=UsagePeriod(from_=begin, to=end),
        plan=plan,
        limits=UsageLimits.of(limits, used=UsedNow.of(used)),
        totals=totals,
        data=[rows[key] for key in sorted(rows)],
    )


def _groups(group_by: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in group_by.split(",") if name.strip()))
    unknown = [name for name in names if name not in GROUP_COLUMNS]
    if unknown:
        raise Invalid({"group_by": f"must be one or more of {', '.join(GROUP_COLUMNS)}"})
    return names


def _group_ids(text: str, groups: tuple[str, ...]) -> frozenset[str] | None:
    ids = frozenset(id for part in text.split(",") if (id := part.strip()))
    if not ids:
        return None
    if len(groups) != 1:
        raise Invalid({"group_ids": "needs exactly one dimension in group_by"})
    if len(ids) > MAX_GROUP_IDS:
        raise Invalid({"group_ids": f"must be at most {MAX_GROUP_IDS} ids"})
    return frozenset("" if id == NO_GROUP else id for id in ids)


def _period(ctx: Context, query: UsageQuery) -> tuple[Instant, Instant]:
    now = ctx.now
    begin = periods.start_of(periods.name_at(now, "month"))
    if query.from_ is not None:
        begin = periods.start_of(periods.name_at(_read_moment("from", query.from_), "hour"))
    end = now
    if query.to is not None:
        end = _read_moment("to", query.to)
    elif begin > now:
        end = to_instant(parse_instant(begin) + timedelta(hours=1))
    if end <= begin:
        raise Invalid({"to": "must be after from"})
    return begin, end


def _read_moment(name: str, text: str) -> Instant:
    moment = read_instant(name, text)
    if moment >= _LAST_MOMENT:
        raise Invalid({name: f"must be before {_LAST_MOMENT}"})
    return moment


async def _plan(ctx: Context) -> tuple[str, PlanLimits]:
    """Return the tenant's plan and limits; tenants are another domain, so the table is known by name only."""
    tenants = RECORDS["tenants"].__table__
    query = sa.select(tenants.c.plan, tenants.c.limits).where(tenants.c.id == sa.literal(ctx.tenant_id))
    rows: list[Any] = await ctx.db.rows(Statement(query))
    plan, stored = rows[0]
    return plan, limits_for(plan, msgspec.json.decode(stored) if isinstance(stored, str) else stored)


Key = tuple[str, ...]


async def _rows(ctx: Context, scope: ReportScope) -> dict[Key, UsageRow]:
    groups = scope.groups
    statement = sums_statement(scope.granularity, groups, is_chosen=scope.ids is not None)
    sums_by_period = await ctx.db.rows(statement, **scope.parameters())
    if len(sums_by_period) > MAX_ROWS:
        raise Invalid(
            {"granularity": f"gives more than {MAX_ROWS} rows; choose a coarser one or a shorter period"}
        )
    rows: dict[Key, UsageRow] = {}
    for start, *values in sums_by_period:
        group_values, sums = values[: len(groups)], values[len(groups) :]
        row = _row(start, dict(zip(groups, group_values, strict=True)))
        for name, value in zip((*COUNTERS, "unpriced_tokens"), sums, strict=True):
            setattr(row, "estimated_cost_usd" if name == "cost_usd" else name, _to_number(name, value))
        row.total_tokens = row.prompt_tokens + row.completion_tokens
        rows[start, *group_values] = row
    if any(row.unpriced_tokens for row in rows.values()):
        await _subtract_free_tokens(ctx, rows, scope)
    return rows


async def _subtract_free_tokens(ctx: Context, rows: dict[Key, UsageRow], scope: ReportScope) -> None:
    """Leave only the tokens of models without a known price: a price of 0 is a price."""
    prices = await load_price_book(ctx)
    statement = costless_statement(scope.granularity, scope.groups, is_chosen=scope.ids is not None)
    for *key, model, tokens in await ctx.db.rows(statement, **scope.parameters()):
        # Not `typical_price is None`: a model that got its price later was unpriced when it was counted.
        row = rows.get(tuple(key))
        # Read after the sums, it may count what they did not.
        if row is not None and prices.typical_price(model) == 0:
            row.unpriced_tokens = max(0, row.unpriced_tokens - int(tokens))


def _end_hour(end: Instant) -> str:
    hour = periods.name_at(end, "hour")
    return hour if periods.start_of(hour) == end else periods.name_at(periods.end_of(hour), "hour")


def _to_number(name: str, value: Any) -> Any:
    return round(float(value), 9) if name == "cost_usd" else int(value)


def _row(start: str, group_values: dict[str, str]) -> UsageRow:
    group = {name: value or None for name, value in group_values.items()}
    return UsageRow(start=periods.start_of(start), end=periods.end_of(start), group=group)


async def _add_storage(ctx: Context, rows: dict[Key, UsageRow], scope: ReportScope) -> None:
    """Add the bytes stored in each period and still present; they belong to no group."""
    files = RECORDS["files"].__table__
    start = sa.func.substr(files.c.created_at, 1, periods.NAME_LENGTHS[scope.granularity]).label("start")
    stored = (
        sa.select(start, files.c.size_bytes)
        .where(files.c.created_at >= sa.literal(scope.begin), files.c.created_at < sa.literal(scope.end))
        .subquery()
    )
    query = sa.select(stored.c.start, sa.func.sum(stored.c.size_bytes)).group_by(stored.c.start)
    sizes: list[Any] = await ctx.db.rows(Statement(query, heavy=True))
    for name, size in sizes:
        key = (name, *("" for _ in scope.groups))
        if scope.includes(key):
            row = rows.setdefault(key, _row(name, dict.fromkeys(scope.groups, "")))
            row.storage_bytes = int(size)


async def _stored_now(ctx: Context) -> int:
    files = RECORDS["files"].__table__
    query = sa.select(sa.func.coalesce(sa.func.sum(files.c.size_bytes), 0))
    return int(await ctx.db.scalar(Statement(query)))


def as_csv(usage: Usage, group_by: str) -> Download:
    """Return the rows as CSV, with cells escaped that a spreadsheet would run as formulas."""
    groups = _groups(group_by)
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\r\n").writerow
    write(["start", "end", *groups, *Counters.__struct_fields__])
    for row in usage.data:
        counted = [getattr(row, name) for name in Counters.__struct_fields__]
        write([row.start, row.end, *(_cell(row.group[name]) for name in groups), *counted])
    content = text.getvalue().encode()
    return Download(
        chunks=lambda: _iterate([content]),
        size=len(content),
        mime_type="text/csv; charset=utf-8",
        filename=f"usage-{usage.period.from_[:10]}.csv",
    )


def _cell(value: str | None) -> str:
    return escape_formula(value or "")


async def _iterate(parts: Sequence[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part
