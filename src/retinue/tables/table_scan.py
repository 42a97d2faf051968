"""Full scans of large tables: one pass computes everything a query needs (ADR 16).

On SQLite the table is read in parts of some ten milliseconds, each a separate statement, so that other
requests get their turn and a scan that takes too long can be aborted. On PostgreSQL it is one statement.
"""

import asyncio
import functools
from collections.abc import AsyncIterator
from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.tables.errors import QueryTooExpensive
from retinue.tables.filters import Condition, Shape, to_sql
from retinue.tables.models import DataTable, rows

PART_ROWS = 20_000
MAX_SCAN_SECONDS = 30.0
COUNT_BUDGET_SECONDS = 1.0
"""The time budget for counting after the rows of the page were found."""

_AFTER_LAST_ID = "~"  # sorts after every id

Bounds = dict[str, str]


def needs_full_scan(table: DataTable, condition: Condition) -> bool:
    """Return whether finding the matching rows takes a scan of a large table."""
    return table.row_count > PART_ROWS and not condition.is_indexed


def is_scanned_in_parts(ctx: Context, table: DataTable, condition: Condition) -> bool:
    return needs_full_scan(table, condition) and ctx.db.dialect == "sqlite"


def part_conditions() -> list[Any]:
    """Return the SQL conditions for rows of one part; its bounds are bound as parameters."""
    return [
        rows.c.id >= sa.bindparam("first_id", type_=rows.c.id.type),
        rows.c.id < sa.bindparam("until_id", type_=rows.c.id.type),
    ]


async def iterate_parts(
    ctx: Context, table: DataTable, *, descending: bool = True, edge_id: str = ""
) -> AsyncIterator[Bounds]:
    """Yield the bounds of all parts, newest or oldest first; with `edge_id`, of those beyond that row."""
    first, until = ("", edge_id or _AFTER_LAST_ID) if descending else (_just_after(edge_id), _AFTER_LAST_ID)
    if ctx.db.dialect != "sqlite":
        yield {"first_id": first, "until_id": until}
        return
    # A system query stays within the index, which lacks the tenant; the table's key belongs to this tenant.
    system = ctx.system("where the parts of a table of this tenant begin")
    started = ctx.clock.monotonic()
    edge: str | None = until if descending else first
    while edge is not None:
        if ctx.clock.monotonic() - started > MAX_SCAN_SECONDS:
            raise QueryTooExpensive
        beyond = await system.scalar(_next_edge(descending, PART_ROWS), row_key=table.row_key, edge=edge)
        first, until = (beyond or "", edge) if descending else (edge, beyond or _AFTER_LAST_ID)
        yield {"first_id": first, "until_id": until}
        edge = beyond
        # In a transaction on SQLite, nothing else here yields to other tasks.
        await asyncio.sleep(0)


def _just_after(id: str) -> str:
    """Return a text that sorts after an id and before every greater one."""
    return f"{id} " if id else ""


@functools.cache
def _next_edge(descending: bool, part: int) -> Statement[Any]:
    """Select the first id of the part before the edge or, ascending, of the part after it."""
    edge = sa.bindparam("edge", type_=rows.c.id.type)
    source = sa.select(rows.c.id).where(rows.c.table_key == sa.bindparam("row_key", type_=sa.BigInteger()))
    if descending:
        source = source.where(rows.c.id < edge).order_by(rows.c.id.desc()).offset(part - 1)
    else:
        source = source.where(rows.c.id >= edge).order_by(rows.c.id).offset(part)
    return Statement(source.limit(1), heavy=True)


async def scan(
    ctx: Context,
    table: DataTable,
    condition: Condition,
    *,
    descending: bool = True,
    offset: int = 0,
    limit: int = 0,
    most: int,
    count_budget_seconds: float | None = None,
    edge_id: str = "",
) -> tuple[list[str], int, bool]:
    """Return the ids of one page of matching rows, how many rows match, and whether that is exact.

    Counting stops beyond `most`, and after the count budget once the page is complete.
    """
    given = {"row_key": table.row_key, **condition.parameters}
    page_end = offset + limit
    ids: list[str] = []
    total = 0
    started = ctx.clock.monotonic()
    count_budget_seconds = COUNT_BUDGET_SECONDS if count_budget_seconds is None else count_budget_seconds
    async for bounds in iterate_parts(ctx, table, descending=descending, edge_id=edge_id):
        is_late = ctx.clock.monotonic() - started > count_budget_seconds
        if total >= page_end and (total > most or is_late):
            return ids, min(total, max(most + 1, page_end)), False
        given["row_limit"] = max(most + 1, page_end) - total
        if total >= page_end:
            total += int(await ctx.db.scalar(_count(ctx.db.dialect, condition.shape), **given, **bounds))
            continue
        matches = await ctx.db.rows(_ids(ctx.db.dialect, condition.shape, descending), **given, **bounds)
        ids += [row[0] for row in matches[max(0, offset - total) : page_end - total]]
        total += len(matches)
    return ids, min(total, max(most + 1, page_end)), total <= most


def _matching(dialect: str, shape: Shape) -> Any:
    statement = sa.select(rows.c.id).where(
        rows.c.table_key == sa.bindparam("row_key", type_=sa.BigInteger()),
        *part_conditions(),
        to_sql(dialect, shape or ("and",)),
    )
    return statement.limit(sa.bindparam("row_limit", type_=sa.BigInteger()))


@functools.lru_cache(maxsize=1024)
def _ids(dialect: str, shape: Shape, descending: bool) -> Statement[Any]:
    order = rows.c.id.desc() if descending else rows.c.id
    return Statement(_matching(dialect, shape).order_by(order), heavy=True)


@functools.lru_cache(maxsize=1024)
def _count(dialect: str, shape: Shape) -> Statement[Any]:
    source = sa.select(sa.func.count()).select_from(_matching(dialect, shape).subquery())
    return Statement(source, heavy=True)
