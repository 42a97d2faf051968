"""Counts, sums and the like over the rows of a table, together or by groups."""

import functools
from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid
from retinue.tables.filters import Condition, Field, Shape, expression, field_of, sql
from retinue.tables.models import Column, DataTable, rows
from retinue.tables.queries import MOST_GROUPS
from retinue.tables.storage import Layout

FUNCTIONS = ("count", "sum", "avg", "min", "max", "distinct")
_OF_NUMBERS = {"sum", "avg"}
_MOST_METRICS, _MOST_KEYS = 20, 3

Metric = tuple[str, Field | None]


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
    heavy = table.row_count > 1000
    shape = (tuple(field_of(key) for key in keys), tuple(wanted))
    statement = _statement(ctx.db.dialect, condition.shape, *shape, heavy)
    found = await ctx.db.rows(statement, row_key=table.row_key, **condition.parameters)
    return [_shown(row, keys, asked, wanted) for row in found]


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
    dialect: str, shape: Shape, keys: tuple[Field, ...], metrics: tuple[Metric, ...], heavy: bool
) -> Statement[Any]:
    groups = [expression(dialect, key).label(f"g{at}") for at, key in enumerate(keys)]
    figures = [_figure(dialect, metric).label(f"m{at}") for at, metric in enumerate(metrics)]
    source = sa.select(*groups, *figures).where(
        rows.c.table_key == sa.bindparam("row_key", type_=sa.BigInteger()), sql(dialect, shape or ("and",))
    )
    if groups:
        # By their names: an expression written twice is two expressions with parameters of their own.
        names: list[Any] = [sa.column(f"g{at}") for at in range(len(groups))]
        source = source.group_by(*names).limit(MOST_GROUPS)
        source = source.order_by(sa.func.count().desc(), *(name.asc().nulls_last() for name in names))
    return Statement(source, heavy=heavy)


def _figure(dialect: str, metric: Metric) -> Any:
    function, field = metric
    if field is None:
        return sa.func.count()
    found = expression(dialect, field)
    if function == "distinct":
        return sa.func.count(sa.distinct(found))
    return getattr(sa.func, function)(found)


def _shown(row: Any, keys: list[Column], asked: list[str], wanted: list[Metric]) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    if keys:
        shown["group"] = {key.name: _value(field_of(key), row[at]) for at, key in enumerate(keys)}
    for at, (name, (function, field)) in enumerate(zip(asked, wanted, strict=True)):
        value = row[len(keys) + at]
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
