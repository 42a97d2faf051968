"""Pages that begin at a row: they stay in place while rows are added and deleted elsewhere."""

from typing import Any

from retinue.kit.context import Context
from retinue.tables import table_scan
from retinue.tables.errors import RowNotFound
from retinue.tables.filters import Condition, Field, Shape
from retinue.tables.models import DataTable
from retinue.tables.queries import (
    MAX_ROWS_PER_PAGE,
    RowSlice,
    count_rows,
    find_by_id,
    find_by_ids,
    is_heavy,
    order_of,
    page_statement,
)
from retinue.tables.storage import Layout, StoredRow
from retinue.tables.values import slot_value

_ROW_ID: Field = ("own", "id", "text")


async def page_beside(
    ctx: Context,
    table: DataTable,
    condition: Condition,
    *,
    sort: str | None,
    row_id: str,
    backwards: bool,
    per_page: int,
) -> RowSlice:
    """Return the rows after a row or, `backwards`, before it; the row itself need not match the condition."""
    per_page = min(per_page, MAX_ROWS_PER_PAGE)
    field, descending = order_of(Layout(table), sort)
    edge = await find_by_id(ctx, table, row_id)
    if edge is None:
        raise RowNotFound
    total, is_exact = await count_rows(ctx, table, condition)
    downwards = descending is not backwards
    if field == _ROW_ID and not condition.matches_all and table_scan.needs_full_scan(table, condition):
        ids, _, _ = await table_scan.scan(
            ctx,
            table,
            condition,
            descending=downwards,
            limit=per_page,
            most=0,
            count_budget_seconds=0,
            edge_id=edge.id,
        )
        items = await find_by_ids(ctx, table, ids)
    else:
        items = await _list(ctx, table, condition, field, downwards, edge, backwards, per_page)
    return RowSlice(items[::-1] if backwards else items, total, is_exact, 1, per_page)


async def _list(
    ctx: Context,
    table: DataTable,
    condition: Condition,
    field: Field,
    downwards: bool,
    edge: StoredRow,
    backwards: bool,
    limit: int,
) -> list[StoredRow]:
    value = _value_at(table, field, edge)
    given: dict[str, Any] = {
        "row_key": table.row_key,
        **condition.parameters,
        "edge_value": value,
        "edge_id": edge.id,
    }
    items: list[StoredRow] = []
    for by_value, parts in _ranges(field, downwards, backwards, has_value=value is not None):
        shape: Shape = ("and", condition.shape or ("and",), *parts)
        statement = page_statement(
            ctx.db.dialect, shape, field, downwards, by_value, is_heavy(table, condition)
        )
        items += await ctx.db.rows(statement, row_limit=limit - len(items), row_offset=0, **given)
        if len(items) >= limit:
            break
    return items


def _value_at(table: DataTable, field: Field, edge: StoredRow) -> Any:
    """Return the value of the sorted field in a row, as it is compared."""
    if field[0] == "own":
        return edge.id if field == _ROW_ID else edge.updated_at
    column = next(one for one in table.columns if field[1] in (one.slot, one.key))
    value = edge.values.get(column.key)
    return None if value is None else slot_value(column, value)


def _ranges(
    field: Field, downwards: bool, backwards: bool, *, has_value: bool
) -> list[tuple[bool | None, tuple[Shape, ...]]]:
    """Return the ranges to read in turn. Rows without a value come last in both directions."""
    beyond: Shape = ("beyond", field, "edge_value", "edge_id", downwards)
    beyond_id: Shape = ("beyond", _ROW_ID, "edge_id", "edge_id", downwards)
    if field[0] == "own":
        return [(None, (beyond,))]
    filled: Shape = ("filled", field)
    empty: Shape = ("null", field)
    if has_value:
        rest: list[tuple[bool | None, tuple[Shape, ...]]] = [] if backwards else [(False, (empty,))]
        return [(True, (filled, beyond)), *rest]
    return [(False, (empty, beyond_id)), *([(True, (filled,))] if backwards else [])]
