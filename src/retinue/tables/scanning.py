"""A large table is gone through once, for all that a question wants to know of its rows.

On SQLite it is read in parts. Each is a statement of its own, some ten milliseconds long: whoever else asks
comes in between, and a question that takes too long is given up between two of them. On PostgreSQL, where
nobody waits for the process that reads, it is one statement.
"""

import asyncio
import functools
from collections.abc import AsyncIterator
from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.tables.errors import QueryTooExpensive
from retinue.tables.filters import Condition, Shape, sql
from retinue.tables.models import DataTable, rows

PART = 20_000
PATIENCE_S = 30.0
ENOUGH_S = 1.0
"""So long is counted on when the rows that are shown have been found."""

_LAST = "~"  # after every id

Bounds = dict[str, str]


def takes_all(table: DataTable, condition: Condition) -> bool:
    """Whether it takes all rows of a large table to know which ones hold the condition."""
    return table.row_count > PART and not condition.is_indexed


def has_parts(ctx: Context, table: DataTable, condition: Condition) -> bool:
    return takes_all(table, condition) and ctx.db.dialect == "sqlite"


def in_part() -> list[Any]:
    """Conditions on rows of one part; its bounds are their parameters."""
    return [
        rows.c.id >= sa.bindparam("first_id", type_=rows.c.id.type),
        rows.c.id < sa.bindparam("until_id", type_=rows.c.id.type),
    ]


async def parts(ctx: Context, table: DataTable, *, is_down: bool = True) -> AsyncIterator[Bounds]:
    """The bounds of all parts, the newest or the oldest first."""
    if ctx.db.dialect != "sqlite":
        yield {"first_id": "", "until_id": _LAST}
        return
    # Ids alone are in the index, and the tenant is not: the table's key is known to belong to it.
    system = ctx.system("where the parts of a table of this tenant begin")
    started = ctx.clock.monotonic()
    edge: str | None = _LAST if is_down else ""
    while edge is not None:
        if ctx.clock.monotonic() - started > PATIENCE_S:
            raise QueryTooExpensive
        beyond = await system.scalar(_beyond(is_down, PART), row_key=table.row_key, edge=edge)
        first, until = (beyond or "", edge) if is_down else (edge, beyond or _LAST)
        yield {"first_id": first, "until_id": until}
        edge = beyond
        # In a transaction on SQLite nothing else here lets others have their turn.
        await asyncio.sleep(0)


@functools.cache
def _beyond(is_down: bool, part: int) -> Statement[Any]:
    """The first id of the part before the edge, or of the one after the part that begins with it."""
    edge = sa.bindparam("edge", type_=rows.c.id.type)
    source = sa.select(rows.c.id).where(rows.c.table_key == sa.bindparam("row_key", type_=sa.BigInteger()))
    if is_down:
        source = source.where(rows.c.id < edge).order_by(rows.c.id.desc()).offset(part - 1)
    else:
        source = source.where(rows.c.id >= edge).order_by(rows.c.id).offset(part)
    return Statement(source.limit(1), heavy=True)


async def find(
    ctx: Context,
    table: DataTable,
    condition: Condition,
    *,
    is_down: bool = True,
    offset: int = 0,
    limit: int = 0,
    most: int,
    enough_s: float | None = None,
) -> tuple[list[str], int, bool]:
    """Ids of some rows that hold the condition, how many do, and whether that is exact.

    Counting ends when there are more than `most`, and after a while when those that are asked for are found.
    """
    given = {"row_key": table.row_key, **condition.parameters}
    shown = offset + limit
    ids: list[str] = []
    total = 0
    started = ctx.clock.monotonic()
    enough_s = ENOUGH_S if enough_s is None else enough_s
    async for bounds in parts(ctx, table, is_down=is_down):
        is_late = ctx.clock.monotonic() - started > enough_s
        if total >= shown and (total > most or is_late):
            return ids, min(total, max(most + 1, shown)), False
        given["row_limit"] = max(most + 1, shown) - total
        if total >= shown:
            total += int(await ctx.db.scalar(_count(ctx.db.dialect, condition.shape), **given, **bounds))
            continue
        found = await ctx.db.rows(_ids(ctx.db.dialect, condition.shape, is_down), **given, **bounds)
        ids += [row[0] for row in found[max(0, offset - total) : shown - total]]
        total += len(found)
    return ids, min(total, max(most + 1, shown)), total <= most


def _matching(dialect: str, shape: Shape) -> Any:
    found = sa.select(rows.c.id).where(
        rows.c.table_key == sa.bindparam("row_key", type_=sa.BigInteger()),
        *in_part(),
        sql(dialect, shape or ("and",)),
    )
    return found.limit(sa.bindparam("row_limit", type_=sa.BigInteger()))


@functools.lru_cache(maxsize=1024)
def _ids(dialect: str, shape: Shape, is_down: bool) -> Statement[Any]:
    order = rows.c.id.desc() if is_down else rows.c.id
    return Statement(_matching(dialect, shape).order_by(order), heavy=True)


@functools.lru_cache(maxsize=1024)
def _count(dialect: str, shape: Shape) -> Statement[Any]:
    source = sa.select(sa.func.count()).select_from(_matching(dialect, shape).subquery())
    return Statement(source, heavy=True)
