"""Reading rows: pages by an index where there is one, capped counts, and iteration."""

import functools
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.errors import Invalid
from retinue.kit.lists import Listing
from retinue.tables import table_scan
from retinue.tables.filters import Condition, Field, Shape, field_expression, field_of, system_field, to_sql
from retinue.tables.models import ColumnType, DataTable, TableImport, rows
from retinue.tables.storage import ROW_COLUMNS, SYSTEM_COLUMNS, Layout, StoredRow, read_row

MAX_ROWS_PER_PAGE = 1000
MAX_COUNTED_ROWS = 100_000
"""The cap for counting filtered rows. Beyond it, `total` is one more and `total_is_exact` is false."""
MAX_GROUPS = 1000
# Below this, a read is faster than starting a thread.
_MAX_INLINE_ROWS = 5_000
_EXPORT_BATCH_SIZE = 1_000

TABLES = Listing(
    DataTable,
    searches=("name", "slug", "description"),
    sorts=("created_at", "updated_at", "name", "slug", "row_count"),
)
IMPORTS = Listing(TableImport)

_tables = DataTable.__table__
_TABLE_SHARE_LOCKED = record_statement(
    DataTable,
    sa.select(_tables)
    .where(_tables.c.id == sa.bindparam("id", type_=_tables.c.id.type))
    .with_for_update(read=True, key_share=True),
)


async def find_for_writing(ctx: Context, table_id: str) -> DataTable | None:
    """Return the table, share-locked: its columns cannot change, but others may write rows."""
    await ctx.unit_of_work.begin()
    return await ctx.db.first(_TABLE_SHARE_LOCKED, id=table_id)


class RowSlice(msgspec.Struct):
    items: list[StoredRow]
    total: int
    is_exact: bool
    page: int
    per_page: int


def _in_table() -> Any:
    return rows.c.table_key == sa.bindparam("row_key", type_=sa.BigInteger())


def is_heavy(table: DataTable, condition: Condition | None = None) -> bool:
    return table.row_count > _MAX_INLINE_ROWS and not (condition is not None and condition.is_indexed)


async def page(
    ctx: Context, table: DataTable, condition: Condition, *, sort: str | None, page: int, per_page: int
) -> RowSlice:
    per_page = min(per_page, MAX_ROWS_PER_PAGE)
    offset = (page - 1) * per_page
    field, descending = order_of(Layout(table), sort)
    if (
        field == system_field("id")
        and not condition.matches_all
        and table_scan.needs_full_scan(table, condition)
    ):
        ids, total, is_exact = await table_scan.scan(
            ctx, table, condition, descending=descending, offset=offset, limit=per_page, most=MAX_COUNTED_ROWS
        )
        return RowSlice(await find_by_ids(ctx, table, ids), total, is_exact, page, per_page)
    total, is_exact = await count_rows(ctx, table, condition)
    items: list[StoredRow] = []
    if offset < total or not is_exact:
        items = await list_rows(ctx, table, condition, sort=sort, limit=per_page, offset=offset)
    return RowSlice(items, total, is_exact, page, per_page)


async def list_rows(
    ctx: Context, table: DataTable, condition: Condition, *, sort: str | None, limit: int, offset: int = 0
) -> list[StoredRow]:
    """Return rows in order. Rows without a value in the sorted column come last in both directions."""
    field, descending = order_of(Layout(table), sort)
    given = {"row_key": table.row_key, **condition.parameters}
    heavy = is_heavy(table, condition) and not (condition.matches_all and field[0] != "json")
    if field[0] != "slot":
        statement = page_statement(ctx.db.dialect, condition.shape, field, descending, None, heavy)
        return await ctx.db.rows(statement, row_limit=limit, row_offset=offset, **given)
    # The index covers only rows with a value, so the others take a separate query.
    filled = ("filled", field)
    statement = page_statement(
        ctx.db.dialect, ("and", condition.shape or ("and",), filled), field, descending, True, heavy
    )
    page = await ctx.db.rows(statement, row_limit=limit, row_offset=offset, **given)
    if len(page) < limit:
        before = 0
        if not page and offset:
            with_value = Condition(("and", condition.shape or ("and",), filled), condition.parameters)
            before = await _count_up_to(ctx, table, with_value, offset)
        elif page:
            before = offset + len(page)
        statement = page_statement(
            ctx.db.dialect,
            ("and", condition.shape or ("and",), ("null", field)),
            field,
            descending,
            False,
            heavy,
        )
        skipped = max(0, offset + len(page) - before)
        page += await ctx.db.rows(statement, row_limit=limit - len(page), row_offset=skipped, **given)
    return page


def order_of(layout: Layout, sort: str | None) -> tuple[Field, bool]:
    """Return sort field and direction. Ids grow with time, so `created_at` sorts by the primary key."""
    name = (sort or "-created_at").removeprefix("-")
    descending = (sort or "-created_at").startswith("-")
    if name in {"created_at", "id"}:
        return system_field("id"), descending
    if name == "updated_at":
        return system_field(name), descending
    column = layout.by_name.get(name)
    if column is None or column.type in {ColumnType.json, ColumnType.multi_select}:
        sortable = [other.name for other in layout.columns if field_of(other)[2] not in {"json", "list"}]
        raise Invalid({"sort": f"must be one of {', '.join((*SYSTEM_COLUMNS, *sortable))}"})
    return field_of(column), descending


@functools.lru_cache(maxsize=1024)
def page_statement(
    dialect: str, shape: Shape, field: Field, descending: bool, by_slot: bool | None, heavy: bool
) -> Statement[StoredRow]:
    """`by_slot`: True for rows with a value, sorted by it; False for rows without one, sorted by id."""
    column = field_expression(dialect, field)
    order: list[Any] = []
    if by_slot or (by_slot is None and field[1] != "id"):
        order.append(column.desc() if descending else column.asc())
        if field[0] == "json":
            order[0] = order[0].nulls_last()
    order.append(rows.c.id.desc() if descending else rows.c.id.asc())
    source = (
        sa.select(*ROW_COLUMNS)
        .where(_in_table(), to_sql(dialect, shape or ("and",)))
        .order_by(*order)
        .limit(sa.bindparam("row_limit", type_=sa.BigInteger()))
        .offset(sa.bindparam("row_offset", type_=sa.BigInteger()))
    )
    return Statement(source, read_row, heavy=heavy)


async def count_rows(
    ctx: Context, table: DataTable, condition: Condition, *, count_budget_seconds: float | None = None
) -> tuple[int, bool]:
    """Return the number of matching rows, and whether it is exact."""
    if condition.matches_all:
        return table.row_count, True
    if table_scan.needs_full_scan(table, condition):
        _, total, is_exact = await table_scan.scan(
            ctx, table, condition, most=MAX_COUNTED_ROWS, count_budget_seconds=count_budget_seconds
        )
        return total, is_exact
    total = await _count_up_to(ctx, table, condition, MAX_COUNTED_ROWS + 1)
    return total, total <= MAX_COUNTED_ROWS


async def _count_up_to(ctx: Context, table: DataTable, condition: Condition, most: int) -> int:
    statement = _count_statement(ctx.db.dialect, condition.shape, is_heavy(table, condition))
    return int(await ctx.db.scalar(statement, row_key=table.row_key, most=most, **condition.parameters))


@functools.lru_cache(maxsize=1024)
def _count_statement(dialect: str, shape: Shape, heavy: bool) -> Statement[Any]:
    capped = (
        sa.select(rows.c.id)
        .where(_in_table(), to_sql(dialect, shape))
        .limit(sa.bindparam("most", type_=sa.BigInteger()))
        .subquery()
    )
    return Statement(sa.select(sa.func.count()).select_from(capped), heavy=heavy)


async def iterate_rows(
    ctx: Context, table: DataTable, condition: Condition, most: int | None = None
) -> AsyncIterator[list[StoredRow]]:
    """Yield all matching rows in batches, oldest first. Each batch is a separate query."""
    statement = _next_batch_statement(
        ctx.db.dialect, condition.shape, is_heavy(table, condition) and not condition.matches_all
    )
    last = ""
    while True:
        limit = _EXPORT_BATCH_SIZE if most is None else min(most, _EXPORT_BATCH_SIZE)
        batch = await ctx.db.rows(
            statement, row_key=table.row_key, last=last, row_limit=limit, **condition.parameters
        )
        if batch:
            yield batch
            last = batch[-1].id
        if most is not None:
            most -= len(batch)
        if len(batch) < limit or most == 0:
            return


@functools.lru_cache(maxsize=1024)
def _next_batch_statement(dialect: str, shape: Shape, heavy: bool) -> Statement[StoredRow]:
    source = (
        sa.select(*ROW_COLUMNS)
        .where(
            _in_table(),
            rows.c.id > sa.bindparam("last", type_=rows.c.id.type),
            to_sql(dialect, shape or ("and",)),
        )
        .order_by(rows.c.id)
        .limit(sa.bindparam("row_limit", type_=sa.BigInteger()))
    )
    return Statement(source, read_row, heavy=heavy)


async def find_by_id(
    ctx: Context, table: DataTable, row_id: str, *, locked: bool = False
) -> StoredRow | None:
    if locked:
        await ctx.unit_of_work.begin()
    return await ctx.db.first(_ROW_LOCKED if locked else _ROW, row_key=table.row_key, row_id=row_id)


_ROW_BY_ID = sa.select(*ROW_COLUMNS).where(
    _in_table(), rows.c.id == sa.bindparam("row_id", type_=rows.c.id.type)
)
_ROW = Statement(_ROW_BY_ID, read_row)
_ROW_LOCKED = Statement(_ROW_BY_ID.with_for_update(), read_row)


async def find_by_ids(ctx: Context, table: DataTable, ids: list[str]) -> list[StoredRow]:
    """Return those of the rows that exist, in the order of the ids."""
    found = await ctx.db.rows(_BY_IDS, row_key=table.row_key, ids=list_parameter(ids))
    by_id = {row.id: row for row in found}
    return [by_id[id] for id in ids if id in by_id]


async def lock_by_ids(ctx: Context, table: DataTable, ids: list[str]) -> list[StoredRow]:
    """Return those of the rows that exist, locked, in the order of their ids."""
    await ctx.unit_of_work.begin()
    return await ctx.db.rows(_LOCKED_BY_IDS, row_key=table.row_key, ids=list_parameter(ids))


async def existing_ids(ctx: Context, row_key: int, ids: list[str]) -> set[str]:
    """Return those of the ids that are rows of the table."""
    return {id for (id,) in await ctx.db.rows(_EXISTING, row_key=row_key, ids=list_parameter(ids))}


_THOSE = sa.select(*ROW_COLUMNS).where(_in_table(), in_list(rows.c.id, "ids"))
_BY_IDS = Statement(_THOSE, read_row)
_LOCKED_BY_IDS = Statement(_THOSE.order_by(rows.c.id).with_for_update(), read_row)
_EXISTING = Statement(sa.select(rows.c.id).where(_in_table(), in_list(rows.c.id, "ids")))


async def still_matching(
    ctx: Context, table: DataTable, condition: Condition, ids: list[str]
) -> list[StoredRow]:
    """Return those of the rows that match now, locked in this transaction."""
    await ctx.unit_of_work.begin()
    statement = _still_matching_statement(ctx.db.dialect, condition.shape)
    return await ctx.db.rows(
        statement, row_key=table.row_key, ids=list_parameter(ids), **condition.parameters
    )


@functools.lru_cache(maxsize=256)
def _still_matching_statement(dialect: str, shape: Shape) -> Statement[StoredRow]:
    source = sa.select(*ROW_COLUMNS).where(_in_table(), in_list(rows.c.id, "ids"), to_sql(dialect, shape))
    return Statement(source.order_by(rows.c.id).with_for_update(), read_row)


async def find_by_values(
    ctx: Context, row_key: int, slot: str, values: list[Any], *, locked: bool = False
) -> list[tuple[Any, StoredRow]]:
    """Return rows with one of these values in a slot, each with that value."""
    found: list[tuple[Any, StoredRow]] = []
    statement = _by_slot_statement(slot, locked)
    for start in range(0, len(values), 200):
        chunk = values[start : start + 200]
        padded = chunk + [chunk[-1]] * (200 - len(chunk))
        given = {f"v{at}": value for at, value in enumerate(padded)}
        found += [(row[4], read_row(row)) for row in await ctx.db.rows(statement, row_key=row_key, **given)]
    return found


@functools.cache
def _by_slot_statement(slot: str, locked: bool) -> Statement[Any]:
    wanted = [sa.bindparam(f"v{at}", type_=rows.c[slot].type) for at in range(200)]
    source = (
        sa.select(*ROW_COLUMNS, rows.c[slot]).where(_in_table(), rows.c[slot].in_(wanted)).order_by(rows.c.id)
    )
    return Statement(source.with_for_update() if locked else source)
