"""Counts, sums and the like over the rows of a table, together or by groups.

A large table is read in parts, whose figures are put together here.
"""

import functools
import operator
from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid
from retinue.tables.filters import Condition, Field, Shape, expression, field_of, sql
from retinue.tables.models import Column, DataTable, rows
from retinue.tables.queries import MOST_GROUPS
from retinue.tables.scanning import has_parts, in_part, parts
from retinue.tables.storage import Layout

FUNCTIONS = ("count", "sum", "avg", "min", "max", "distinct")
_OF_NUMBERS = {"sum", "avg"}
_MOST_METRICS, _MOST_KEYS = 20, 3

Metric = tuple[str, Field | None]
Group = tuple[Any, ...]
Figures = dict[Metric, Any]

_MOST_KEPT = 50_000
"""So many groups are put together here; where there are more, the database is asked for all of them."""
_ALL: Metric = ("count", None)


async def aggregate(
    ctx: Context, table: DataTable, condition: Condition, group_by: str, metrics: str
) -> list[dict[str, Any]]:
    """One answer for all rows, or one for each group, the largest first."""
    layout = Layout(table)
    names = [name.strip() for name in group_by.split(",") if name.strip()]
    keys = [_key(layout, name) for name in names]
    asked = [name.strip() for name in metrics.split(",") if name.strip()] or ["count"]
    if len(asked) > _MOST_METRICS or len(keys) > _MOST_KEYS:
        raise Invalid({"metrics": f"at most {_MOST_METRICS} metrics and {_MOST_KEYS} columns to group by"})
    wanted = [_metric(layout, name) for name in asked]
    found = await _groups(ctx, table, condition, tuple(field_of(key) for key in keys), wanted)
    largest = sorted(found.items(), key=_rank)[:MOST_GROUPS]
    return [_shown(group, figures, keys, asked, wanted) for group, figures in largest]


def _rank(found: tuple[Group, Figures]) -> Any:
    """Large groups first, then by their values; what has none comes last."""
    group, figures = found
    return -figures[_ALL], *((value is None, value) for value in group)


async def _groups(
    ctx: Context, table: DataTable, condition: Condition, keys: tuple[Field, ...], wanted: list[Metric]
) -> dict[Group, Figures]:
    figures = tuple(dict.fromkeys([_ALL, *(part for metric in wanted for part in _parts_of(metric))]))
    given = {"row_key": table.row_key, **condition.parameters}
    dialect = ctx.db.dialect
    if has_parts(ctx, table, condition) and not any(function == "distinct" for function, _ in figures):
        found: dict[Group, Figures] = {}
        statement = _statement(dialect, condition.shape, keys, figures, True, True)
        async for bounds in parts(ctx, table):
            for row in await ctx.db.rows(statement, **given, **bounds):
                _add(found, tuple(row[: len(keys)]), dict(zip(figures, row[len(keys) :], strict=True)))
            if len(found) > _MOST_KEPT:
                break
        else:
            return found
    heavy = table.row_count > 1000
    statement = _statement(dialect, condition.shape, keys, figures, False, heavy)
    return _groups_of(await ctx.db.rows(statement, **given), keys, figures)


def _groups_of(rows: Any, keys: tuple[Field, ...], figures: tuple[Metric, ...]) -> dict[Group, Figures]:
    many = len(keys)
    return {tuple(row[:many]): dict(zip(figures, row[many:], strict=True)) for row in rows}


def _parts_of(metric: Metric) -> list[Metric]:
    """What it takes to know a figure of all rows from those of parts."""
    function, field = metric
    return [("sum", field), ("count", field)] if function == "avg" else [metric]


def _add(found: dict[Group, Figures], group: Group, more: Figures) -> None:
    known = found.get(group)
    if known is None:
        found[group] = more
        return
    for metric, value in more.items():
        before = known[metric]
        if before is None or value is None:
            known[metric] = before if value is None else value
        else:
            known[metric] = _TOGETHER[metric[0]](before, value)


_TOGETHER: dict[str, Any] = {"count": operator.add, "sum": operator.add, "min": min, "max": max}


def _key(layout: Layout, name: str) -> Column:
    column = layout.by_name.get(name)
    if column is None or field_of(column)[2] in {"json", "list"}:
        raise Invalid({"group_by": f"{name} is not a column that rows can be grouped by"})
    return column


def _metric(layout: Layout, text: str) -> Metric:
    function, _, name = text.partition(":")
    if function not in FUNCTIONS or (not name and function != "count"):
        raise Invalid({"metrics": f"{text} must be count, or one of {', '.join(FUNCTIONS)} with :column"})
    if not name:
        return function, None
    column = layout.by_name.get(name)
    if column is None:
        raise Invalid({"metrics": f"{text} names no column"})
    field = field_of(column)
    if function in _OF_NUMBERS and field[2] not in {"number", "boolean"}:
        raise Invalid({"metrics": f"{text} needs a column of numbers"})
    if function != "count" and field[2] in {"json", "list"}:
        raise Invalid({"metrics": f"{text} needs a column with one value"})
    return function, field


@functools.lru_cache(maxsize=512)
def _statement(
    dialect: str,
    shape: Shape,
    keys: tuple[Field, ...],
    figures: tuple[Metric, ...],
    of_part: bool,
    heavy: bool,
) -> Statement[Any]:
    fields = list(dict.fromkeys([*keys, *(field for _, field in figures if field is not None)]))
    taken = [expression(dialect, field).label(f"f{at}") for at, field in enumerate(fields)] or [rows.c.id]
    # Taken out of the rows first, by themselves: what is sorted by groups then are values and not rows.
    values = (
        sa.select(*taken)
        .where(
            rows.c.table_key == sa.bindparam("row_key", type_=sa.BigInteger()),
            sql(dialect, shape or ("and",)),
            *(in_part() if of_part else ()),
        )
        .offset(0)
        .subquery()
    )

    def value(field: Field) -> Any:
        return values.c[f"f{fields.index(field)}"]

    groups = [value(key) for key in keys]
    made = [
        sa.func.count().label(f"m{at}") if field is None else _figure(function, value(field)).label(f"m{at}")
        for at, (function, field) in enumerate(figures)
    ]
    source = sa.select(*groups, *made).select_from(values).group_by(*groups)
    if not of_part:
        order = [sa.func.count().desc(), *(group.asc().nulls_last() for group in groups)]
        source = source.order_by(*order).limit(MOST_GROUPS) if groups else source
    return Statement(source, heavy=heavy)


def _figure(function: str, found: Any) -> Any:
    if function == "distinct":
        return sa.func.count(sa.distinct(found))
    return getattr(sa.func, function)(found)


def _shown(
    group: Group, figures: Figures, keys: list[Column], asked: list[str], wanted: list[Metric]
) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    if keys:
        shown["group"] = {key.name: _value(field_of(key), group[at]) for at, key in enumerate(keys)}
    for name, (function, field) in zip(asked, wanted, strict=True):
        if function == "avg":
            total, count = figures["sum", field], figures["count", field]
            value = total / count if count else None
        else:
            value = figures[function, field]
        kept = field if function in {"min", "max"} else None
        shown[name] = _value(kept or ("", "", "number"), value)
    return shown


def _value(field: Field, value: Any) -> Any:
    """Whole numbers without a fraction, and truth values as such."""
    if field[2] == "boolean" and value is not None:
        return bool(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value
