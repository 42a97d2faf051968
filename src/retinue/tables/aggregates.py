"""Aggregates over the rows of a table, in total or by group.

Large tables on SQLite are read in parts, whose figures are merged here (ADR 16).
"""

import functools
import operator
from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.tables.filters import Condition, Field, Shape, field_expression, field_of, to_sql
from retinue.tables.models import Column, DataTable, rows
from retinue.tables.queries import MAX_GROUPS
from retinue.tables.storage import Layout
from retinue.tables.table_scan import is_scanned_in_parts, iterate_parts, part_conditions

FUNCTIONS = ("count", "sum", "avg", "min", "max", "distinct")
_NUMERIC_FUNCTIONS = {"sum", "avg"}
_MAX_METRICS, _MAX_GROUP_COLUMNS = 20, 3

Metric = tuple[str, Field | None]
Group = tuple[Any, ...]
Figures = dict[Metric, Any]

_MAX_MERGED_GROUPS = 50_000
"""With more groups than this, the database computes all of them in one statement."""
_COUNT_ALL: Metric = ("count", None)


async def aggregate(
    ctx: Context, table: DataTable, condition: Condition, group_by: str, metrics: str
) -> list[JsonObject]:
    """Return one entry for all rows, or one for each group, largest first."""
    layout = Layout(table)
    names = [name.strip() for name in group_by.split(",") if name.strip()]
    keys = [_parse_group_column(layout, name) for name in names]
    metric_names = [name.strip() for name in metrics.split(",") if name.strip()] or ["count"]
    if len(metric_names) > _MAX_METRICS or len(keys) > _MAX_GROUP_COLUMNS:
        raise Invalid(
            {"metrics": f"at most {_MAX_METRICS} metrics and {_MAX_GROUP_COLUMNS} columns to group by"}
        )
    parsed_metrics = [_parse_metric(layout, name) for name in metric_names]
    groups = await _load_groups(ctx, table, condition, tuple(field_of(key) for key in keys), parsed_metrics)
    largest = sorted(groups.items(), key=_by_size)[:MAX_GROUPS]
    return [_render_group(group, figures, keys, metric_names, parsed_metrics) for group, figures in largest]


def _by_size(item: tuple[Group, Figures]) -> Any:
    """Sort key: large groups first, then by their values, with null last."""
    group, figures = item
    return -figures[_COUNT_ALL], *((value is None, value) for value in group)


async def _load_groups(
    ctx: Context, table: DataTable, condition: Condition, keys: tuple[Field, ...], metrics: list[Metric]
) -> dict[Group, Figures]:
    figures = tuple(
        dict.fromkeys([_COUNT_ALL, *(part for metric in metrics for part in _partial_metrics(metric))])
    )
    given = {"row_key": table.row_key, **condition.parameters}
    dialect = ctx.db.dialect
    if is_scanned_in_parts(ctx, table, condition) and not any(
        function == "distinct" for function, _ in figures
    ):
        groups: dict[Group, Figures] = {}
        statement = _statement(dialect, condition.shape, keys, figures, True, True)
        async for bounds in iterate_parts(ctx, table):
            for row in await ctx.db.rows(statement, **given, **bounds):
                _merge_group(
                    groups, tuple(row[: len(keys)]), dict(zip(figures, row[len(keys) :], strict=True))
                )
            if len(groups) > _MAX_MERGED_GROUPS:
                break
        else:
            return groups
    heavy = table.row_count > 1000
    statement = _statement(dialect, condition.shape, keys, figures, False, heavy)
    return _groups_of(await ctx.db.rows(statement, **given), keys, figures)


def _groups_of(rows: Any, keys: tuple[Field, ...], figures: tuple[Metric, ...]) -> dict[Group, Figures]:
    key_count = len(keys)
    return {tuple(row[:key_count]): dict(zip(figures, row[key_count:], strict=True)) for row in rows}


def _partial_metrics(metric: Metric) -> list[Metric]:
    """Return the metrics to compute per part, from which the total can be derived."""
    function, field = metric
    return [("sum", field), ("count", field)] if function == "avg" else [metric]


def _merge_group(groups: dict[Group, Figures], group: Group, more: Figures) -> None:
    current = groups.get(group)
    if current is None:
        groups[group] = more
        return
    for metric, value in more.items():
        before = current[metric]
        if before is None or value is None:
            current[metric] = before if value is None else value
        else:
            current[metric] = _MERGERS[metric[0]](before, value)


_MERGERS: JsonObject = {"count": operator.add, "sum": operator.add, "min": min, "max": max}


def _parse_group_column(layout: Layout, name: str) -> Column:
    column = layout.by_name.get(name)
    if column is None or field_of(column)[2] in {"json", "list"}:
        raise Invalid({"group_by": f"rows cannot be grouped by {name}"})
    return column


def _parse_metric(layout: Layout, text: str) -> Metric:
    function, _, name = text.partition(":")
    if function not in FUNCTIONS or (not name and function != "count"):
        raise Invalid({"metrics": f"{text} must be count, or one of {', '.join(FUNCTIONS)} with :column"})
    if not name:
        return function, None
    column = layout.by_name.get(name)
    if column is None:
        raise Invalid({"metrics": f"{text}: there is no such column"})
    field = field_of(column)
    if function in _NUMERIC_FUNCTIONS and field[2] not in {"number", "boolean"}:
        raise Invalid({"metrics": f"{text} needs a column of numbers"})
    if function != "count" and field[2] in {"json", "list"}:
        raise Invalid({"metrics": f"{text} needs a column with a single value"})
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
    extracted = [field_expression(dialect, field).label(f"f{at}") for at, field in enumerate(fields)] or [
        rows.c.id
    ]
    # Extract the values in a subquery first, so that grouping sorts values instead of whole rows.
    values = (
        sa.select(*extracted)
        .where(
            rows.c.table_key == sa.bindparam("row_key", type_=sa.BigInteger()),
            to_sql(dialect, shape or ("and",)),
            *(part_conditions() if of_part else ()),
        )
        .offset(0)
        .subquery()
    )

    def value(field: Field) -> Any:
        return values.c[f"f{fields.index(field)}"]

    groups = [value(key) for key in keys]
    aggregates = [
        sa.func.count().label(f"m{at}") if field is None else _figure(function, value(field)).label(f"m{at}")
        for at, (function, field) in enumerate(figures)
    ]
    source = sa.select(*groups, *aggregates).select_from(values).group_by(*groups)
    if not of_part:
        order = [sa.func.count().desc(), *(group.asc().nulls_last() for group in groups)]
        source = source.order_by(*order).limit(MAX_GROUPS) if groups else source
    return Statement(source, heavy=heavy)


def _figure(function: str, value: Any) -> Any:
    if function == "distinct":
        return sa.func.count(sa.distinct(value))
    return getattr(sa.func, function)(value)


def _render_group(
    group: Group, figures: Figures, keys: list[Column], metric_names: list[str], metrics: list[Metric]
) -> JsonObject:
    shown: JsonObject = {}
    if keys:
        shown["group"] = {key.name: _value(field_of(key), group[at]) for at, key in enumerate(keys)}
    for name, (function, field) in zip(metric_names, metrics, strict=True):
        if function == "avg":
            total, count = figures["sum", field], figures["count", field]
            value = total / count if count else None
        else:
            value = figures[function, field]
        value_field = field if function in {"min", "max"} else None
        shown[name] = _value(value_field or ("", "", "number"), value)
    return shown


def _value(field: Field, value: object) -> Any:
    """Return whole floats as integers, and booleans as booleans."""
    if field[2] == "boolean" and value is not None:
        return bool(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value
