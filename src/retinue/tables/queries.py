"""Reading rows: pages by an index where there is one, counts that end somewhere, and aggregates."""

import functools
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.one_of import listed, one_of
from retinue.kit.db.statements import Statement, reading
from retinue.kit.errors import Invalid
from retinue.kit.lists import Listing
from retinue.tables import scanning
from retinue.tables.filters import Condition, Field, Shape, expression, field_of, own_field, sql
from retinue.tables.models import ColumnType, DataTable, TableImport, rows
from retinue.tables.storage import OWN, SHOWN, Layout, StoredRow, read_row

MOST_PER_PAGE = 1000
MOST_COUNTED = 100_000
"""Where the count of filtered rows ends: beyond, `total` is one more, and `total_is_exact` is false."""
MOST_GROUPS = 1000
# Below this a read takes less time than a thread takes to start.
_FEW_ROWS = 5_000
_EXPORTED_AT_ONCE = 1_000

TABLES = Listing(
    DataTable,
    searches=("name", "slug", "description"),
    sorts=("created_at", "updated_at", "name", "slug", "row_count"),
)
IMPORTS = Listing(TableImport)

_tables = DataTable.__table__
_HELD = reading(
    DataTable,
    sa.select(_tables)
    .where(_tables.c.id == sa.bindparam("id", type_=_tables.c.id.type))
    .with_for_update(read=True, key_share=True),
)


async def find_for_writing(ctx: Context, table_id: str) -> DataTable | None:
    """The table, and nobody changes its columns before this transaction ends; others may write rows."""
    await ctx.unit_of_work.begin()
    return await ctx.db.first(_HELD, id=table_id)


class RowSlice(msgspec.Struct):
    items: list[StoredRow]
    total: int
    is_exact: bool
    page: int
    per_page: int


def _key() -> Any:
    return rows.c.table_key == sa.bindparam("row_key", type_=sa.BigInteger())


def _is_heavy(table: DataTable, condition: Condition | None = None) -> bool:
    return table.row_count > _FEW_ROWS and not (condition is not None and condition.is_indexed)


async def page(
    ctx: Context, table: DataTable, condition: Condition, *, sort: str | None, page: int, per_page: int
) -> RowSlice:
    per_page = min(per_page, MOST_PER_PAGE)
    offset = (page - 1) * per_page
    field, is_down = _order(Layout(table), sort)
    if field == own_field("id") and not condition.holds_for_all and scanning.takes_all(table, condition):
        ids, total, is_exact = await scanning.find(
            ctx, table, condition, is_down=is_down, offset=offset, limit=per_page, most=MOST_COUNTED
        )
        by_id = {row.id: row for row in await ctx.db.rows(_BY_IDS, row_key=table.row_key, ids=listed(ids))}
        return RowSlice([by_id[id] for id in ids if id in by_id], total, is_exact, page, per_page)
    total, is_exact = await count(ctx, table, condition)
    found: list[StoredRow] = []
    if offset < total or not is_exact:
        found = await some(ctx, table, condition, sort=sort, limit=per_page, offset=offset)
    return RowSlice(found, total, is_exact, page, per_page)


async def some(
    ctx: Context, table: DataTable, condition: Condition, *, sort: str | None, limit: int, offset: int = 0
) -> list[StoredRow]:
    """Rows in their order; those without a value in the sorted column come last either way."""
    field, is_down = _order(Layout(table), sort)
    given = {"row_key": table.row_key, **condition.parameters}
    heavy = _is_heavy(table, condition) and not (condition.holds_for_all and field[0] != "json")
    if field[0] != "slot":
        statement = _page(ctx.db.dialect, condition.shape, field, is_down, None, heavy)
        return await ctx.db.rows(statement, row_limit=limit, row_offset=offset, **given)
    # The index has only rows with a value, so those without one are asked for apart.
    filled = ("filled", field)
    statement = _page(
        ctx.db.dialect, ("and", condition.shape or ("and",), filled), field, is_down, True, heavy
    )
    found = await ctx.db.rows(statement, row_limit=limit, row_offset=offset, **given)
    if len(found) < limit:
        before = 0
        if not found and offset:
            with_value = Condition(("and", condition.shape or ("and",), filled), condition.parameters)
            before = await _counted(ctx, table, with_value, offset)
        elif found:
            before = offset + len(found)
        statement = _page(
            ctx.db.dialect,
            ("and", condition.shape or ("and",), ("null", field)),
            field,
            is_down,
            False,
            heavy,
        )
        left = max(0, offset + len(found) - before)
        found += await ctx.db.rows(statement, row_limit=limit - len(found), row_offset=left, **given)
    return found


def _order(layout: Layout, sort: str | None) -> tuple[Field, bool]:
    """Ids grow with time, so the order of creation is the order of ids, which the table is stored in."""
    name = (sort or "-created_at").removeprefix("-")
    is_down = (sort or "-created_at").startswith("-")
    if name in {"created_at", "id"}:
        return own_field("id"), is_down
    if name == "updated_at":
        return own_field(name), is_down
    column = layout.by_name.get(name)
    if column is None or column.type in {ColumnType.json, ColumnType.multi_select}:
        sortable = [one.name for one in layout.columns if field_of(one)[2] not in {"json", "list"}]
        raise Invalid({"sort": f"must be one of {', '.join((*OWN, *sortable))}"})
    return field_of(column), is_down


@functools.lru_cache(maxsize=1024)
def _page(
    dialect: str, shape: Shape, field: Field, is_down: bool, by_slot: bool | None, heavy: bool
) -> Statement[StoredRow]:
    """`by_slot`: the rows with a value there, by it; or those without one, by their ids."""
    found = expression(dialect, field)
    order: list[Any] = []
    if by_slot or (by_slot is None and field[1] != "id"):
        order.append(found.desc() if is_down else found.asc())
        if field[0] == "json":
            order[0] = order[0].nulls_last()
    order.append(rows.c.id.desc() if is_down else rows.c.id.asc())
    source = (
        sa.select(*SHOWN)
        .where(_key(), sql(dialect, shape or ("and",)))
        .order_by(*order)
        .limit(sa.bindparam("row_limit", type_=sa.BigInteger()))
        .offset(sa.bindparam("row_offset", type_=sa.BigInteger()))
    )
    return Statement(source, read_row, heavy=heavy)


async def count(
    ctx: Context, table: DataTable, condition: Condition, *, enough_s: float | None = None
) -> tuple[int, bool]:
    """How many rows hold it, and whether that is exact."""
    if condition.holds_for_all:
        return table.row_count, True
    if scanning.takes_all(table, condition):
        _, total, is_exact = await scanning.find(ctx, table, condition, most=MOST_COUNTED, enough_s=enough_s)
        return total, is_exact
    total = await _counted(ctx, table, condition, MOST_COUNTED + 1)
    return total, total <= MOST_COUNTED


async def _counted(ctx: Context, table: DataTable, condition: Condition, most: int) -> int:
    statement = _count(ctx.db.dialect, condition.shape, _is_heavy(table, condition))
    return int(await ctx.db.scalar(statement, row_key=table.row_key, most=most, **condition.parameters))


@functools.lru_cache(maxsize=1024)
def _count(dialect: str, shape: Shape, heavy: bool) -> Statement[Any]:
    some = (
        sa.select(rows.c.id)
        .where(_key(), sql(dialect, shape))
        .limit(sa.bindparam("most", type_=sa.BigInteger()))
        .subquery()
    )
    return Statement(sa.select(sa.func.count()).select_from(some), heavy=heavy)


async def walk(
    ctx: Context, table: DataTable, condition: Condition, most: int | None = None
) -> AsyncIterator[list[StoredRow]]:
    """Every row that holds the condition, oldest first, some at a time; each some is read by itself."""
    statement = _next(
        ctx.db.dialect, condition.shape, _is_heavy(table, condition) and not condition.holds_for_all
    )
    last = ""
    while True:
        limit = _EXPORTED_AT_ONCE if most is None else min(most, _EXPORTED_AT_ONCE)
        found = await ctx.db.rows(
            statement, row_key=table.row_key, last=last, row_limit=limit, **condition.parameters
        )
        if found:
            yield found
            last = found[-1].id
        if most is not None:
            most -= len(found)
        if len(found) < limit or most == 0:
            return


@functools.lru_cache(maxsize=1024)
def _next(dialect: str, shape: Shape, heavy: bool) -> Statement[StoredRow]:
    source = (
        sa.select(*SHOWN)
        .where(
            _key(), rows.c.id > sa.bindparam("last", type_=rows.c.id.type), sql(dialect, shape or ("and",))
        )
        .order_by(rows.c.id)
        .limit(sa.bindparam("row_limit", type_=sa.BigInteger()))
    )
    return Statement(source, read_row, heavy=heavy)


async def find_by_id(ctx: Context, table: DataTable, row_id: str, *, held: bool = False) -> StoredRow | None:
    if held:
        await ctx.unit_of_work.begin()
    return await ctx.db.first(_HELD_ROW if held else _ROW, row_key=table.row_key, row_id=row_id)


_ONE = sa.select(*SHOWN).where(_key(), rows.c.id == sa.bindparam("row_id", type_=rows.c.id.type))
_ROW = Statement(_ONE, read_row)
_HELD_ROW = Statement(_ONE.with_for_update(), read_row)


async def existing_ids(ctx: Context, row_key: int, ids: list[str]) -> set[str]:
    """Which of these rows are there."""
    return {id for (id,) in await ctx.db.rows(_EXISTING, row_key=row_key, ids=listed(ids))}


_BY_IDS = Statement(sa.select(*SHOWN).where(_key(), one_of(rows.c.id, "ids")), read_row)
_EXISTING: Statement[Any] = Statement(sa.select(rows.c.id).where(_key(), one_of(rows.c.id, "ids")))


async def still_matching(
    ctx: Context, table: DataTable, condition: Condition, ids: list[str]
) -> list[StoredRow]:
    """Which of these rows hold the condition now, in this transaction."""
    await ctx.unit_of_work.begin()
    statement = _still(ctx.db.dialect, condition.shape)
    return await ctx.db.rows(statement, row_key=table.row_key, ids=listed(ids), **condition.parameters)


@functools.lru_cache(maxsize=256)
def _still(dialect: str, shape: Shape) -> Statement[StoredRow]:
    source = sa.select(*SHOWN).where(_key(), one_of(rows.c.id, "ids"), sql(dialect, shape))
    return Statement(source.order_by(rows.c.id).with_for_update(), read_row)


async def find_by_values(
    ctx: Context, row_key: int, slot: str, values: list[Any], *, held: bool = False
) -> list[tuple[Any, StoredRow]]:
    """Rows with one of these values in a slot, each with its value there."""
    found: list[tuple[Any, StoredRow]] = []
    statement = _by_slot(slot, held)
    for start in range(0, len(values), 200):
        some = values[start : start + 200]
        padded = some + [some[-1]] * (200 - len(some))
        given = {f"v{at}": value for at, value in enumerate(padded)}
        found += [(row[4], read_row(row)) for row in await ctx.db.rows(statement, row_key=row_key, **given)]
    return found


@functools.cache
def _by_slot(slot: str, held: bool) -> Statement[Any]:
    wanted = [sa.bindparam(f"v{at}", type_=rows.c[slot].type) for at in range(200)]
    source = sa.select(*SHOWN, rows.c[slot]).where(_key(), rows.c[slot].in_(wanted)).order_by(rows.c.id)
    return Statement(source.with_for_update() if held else source)
