"""Rows by the million, made by the database itself."""

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement

_AT_ONCE = 25_000

Columns = dict[str, Any]


async def fill(
    context: Callable[[], Context],
    table: sa.Table,
    rows: int,
    fixed: Columns,
    varying: Callable[[Any, Any], Columns],
) -> None:
    """So many rows with the same `fixed` values; `varying` gives the others from a row's number and its text.

    Texts are in the order of the numbers.
    """
    for first in range(0, rows, _AT_ONCE):
        statement = _filling(table, first + 1, min(rows, first + _AT_ONCE), fixed, varying)
        async with context() as ctx:
            await ctx.system("bench").execute(statement)


def _filling(
    table: sa.Table, first: int, last: int, fixed: Columns, varying: Callable[[Any, Any], Columns]
) -> Statement[Any]:
    numbers = sa.select(sa.literal(first, sa.BigInteger()).label("n")).cte("numbers", recursive=True)
    numbers = numbers.union_all(
        sa.select(numbers.c.n + 1).where(numbers.c.n < sa.literal(last, sa.BigInteger()))
    )
    text = sa.func.substr(sa.cast(numbers.c.n + 10_000_000, sa.Text()), 2)
    values = {
        **varying(numbers.c.n, text),
        **{name: sa.literal(value, table.c[name].type) for name, value in fixed.items()},
    }
    return Statement(sa.insert(table).from_select(list(values), sa.select(*values.values())))
