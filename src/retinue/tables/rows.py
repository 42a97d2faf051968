"""Rows are added, changed and deleted; every change is told as an event, and the table keeps the count."""

from collections.abc import Sequence
from typing import Any, TypeVar

import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.db.one_of import listed, one_of
from retinue.kit.db.statements import Statement
from retinue.kit.db.types import json_text
from retinue.kit.errors import Invalid
from retinue.tables import scanning, storage
from retinue.tables.checking import Checker, Faults, missing_links, refuse, refuse_taken, taken_values
from retinue.tables.errors import RowNotFound, ValueTaken, VersionConflict
from retinue.tables.events import RowCreated, RowDeleted, RowEvent, RowUpdated
from retinue.tables.filters import Condition
from retinue.tables.models import DataTable
from retinue.tables.models import rows as _rows
from retinue.tables.queries import count, find_by_id, still_matching, walk
from retinue.tables.storage import Layout, StoredRow

MOST_AT_ONCE = 1000
MOST_DELETED = 5000
LARGEST_ROW = 256 * 1024

_tables = DataTable.__table__
_COUNT: Statement[Any] = Statement(
    sa.update(_tables)
    .where(_tables.c.id == sa.bindparam("table_id", type_=_tables.c.id.type))
    .values(row_count=_tables.c.row_count + sa.bindparam("more", type_=sa.BigInteger()))
)
_DELETE: Statement[Any] = Statement(
    sa.delete(_rows).where(
        _rows.c.table_key == sa.bindparam("row_key", type_=sa.BigInteger()),
        _rows.c.id == sa.bindparam("row_id", type_=_rows.c.id.type),
    )
)
_DELETE_SOME: Statement[Any] = Statement(
    sa.delete(_rows).where(
        _rows.c.table_key == sa.bindparam("row_key", type_=sa.BigInteger()),
        one_of(_rows.c.id, "ids"),
    )
)

E = TypeVar("E", bound=RowEvent)


async def create(
    ctx: Context, table: DataTable, given: Sequence[dict[str, Any]], places: Sequence[str] = ("",)
) -> list[StoredRow]:
    """Add these rows, all or none; `places` is what each is called in what is said of its faults."""
    layout = Layout(table)
    checker = Checker(layout)
    many: list[dict[str, Any]] = []
    faults: Faults = {}
    for place, one in zip(places, given, strict=True):
        values, wrong = checker.whole(one)
        faults |= _below(place, wrong)
        many.append(values)
    refuse(faults)
    await check_links(ctx, layout, many, places)
    made = storage.new_rows(ctx, many)
    refuse_taken(await taken_values(ctx, layout, table.row_key, made), places)
    await add(ctx, table, layout, made)
    for row in made:
        _tell(ctx, RowCreated, table, layout, row)
    return made


async def add(ctx: Context, table: DataTable, layout: Layout, made: list[StoredRow]) -> None:
    """Store rows that were checked, and count them."""
    for row in made:
        check_size(row)
    try:
        await storage.insert(ctx, layout, table.row_key, made)
    except UniqueViolation as error:
        raise _taken(layout, error) from error
    change_count(ctx, table, len(made))


async def check_links(
    ctx: Context, layout: Layout, many: Sequence[dict[str, Any]], places: Sequence[str]
) -> None:
    missing = await missing_links(ctx, layout, many)
    refuse({_named(places[at], name): message for at, name, message in missing})


def check_size(row: StoredRow) -> None:
    if is_too_large(row):
        raise Invalid({"row": f"must have at most {LARGEST_ROW // 1024} KiB"})


def is_too_large(row: StoredRow) -> bool:
    return len(json_text(row.values)) > LARGEST_ROW


def change_count(ctx: Context, table: DataTable, more: int) -> None:
    """Last in the transaction, so that writers of the same table wait for each other but a moment."""
    if more:
        ctx.db.execute_at_commit(_COUNT, table_id=table.id, more=more)


async def fetch(ctx: Context, table: DataTable, row_id: str) -> StoredRow:
    found = await find_by_id(ctx, table, row_id)
    if found is None:
        raise RowNotFound
    return found


async def hold(ctx: Context, table: DataTable, row_id: str, expected: Instant | None) -> StoredRow:
    """The row as it is now, held against others; `expected` is when the caller saw it changed last."""
    found = await find_by_id(ctx, table, row_id, held=True)
    if found is None:
        raise RowNotFound
    if expected is not None and expected != found.updated_at:
        raise VersionConflict(found.updated_at)
    return found


async def replace(
    ctx: Context, table: DataTable, row_id: str, given: dict[str, Any], expected: Instant | None = None
) -> StoredRow:
    row = await hold(ctx, table, row_id, expected)
    layout = Layout(table)
    values, faults = Checker(layout).whole(given)
    refuse(faults)
    return await store(ctx, table, layout, row, values)


async def change(
    ctx: Context, table: DataTable, row_id: str, given: dict[str, Any], expected: Instant | None = None
) -> StoredRow:
    row = await hold(ctx, table, row_id, expected)
    layout = Layout(table)
    values, faults = Checker(layout).part(given, row.values)
    refuse(faults)
    return await store(ctx, table, layout, row, values)


async def store(
    ctx: Context, table: DataTable, layout: Layout, row: StoredRow, values: dict[str, Any]
) -> StoredRow:
    """Give a row that is held other values; where none differs, nothing happens."""
    changed = [column for column in layout.columns if row.values.get(column.key) != values.get(column.key)]
    if not changed:
        return row
    new = {column.key: values[column.key] for column in changed if column.key in values}
    await check_links(ctx, layout, [new], [""])
    made = StoredRow(row.id, row.created_at, storage.later(row, ctx.now), values)
    check_size(made)
    refuse_taken(await taken_values(ctx, layout, table.row_key, [made]), [""])
    try:
        await storage.update(ctx, layout, table.row_key, [made])
    except UniqueViolation as error:
        raise _taken(layout, error) from error
    tell_updated(ctx, table, layout, made, [column.name for column in changed])
    return made


def tell_created(ctx: Context, table: DataTable, layout: Layout, row: StoredRow) -> None:
    _tell(ctx, RowCreated, table, layout, row)


def tell_updated(ctx: Context, table: DataTable, layout: Layout, row: StoredRow, changes: list[str]) -> None:
    _tell(ctx, RowUpdated, table, layout, row, changes)


async def delete(ctx: Context, table: DataTable, row_id: str, expected: Instant | None = None) -> None:
    row = await hold(ctx, table, row_id, expected)
    await ctx.db.execute(_DELETE, row_key=table.row_key, row_id=row.id)
    change_count(ctx, table, -1)
    _tell(ctx, RowDeleted, table, Layout(table), row)


async def delete_matching(
    ctx: Context, table: DataTable, condition: Condition, *, is_dry: bool
) -> tuple[int, int]:
    """How many rows hold the condition, and how many of them are deleted now: at most so many at once."""
    # Looked for outside the transaction: others would wait for it while all rows are gone through.
    apart = ctx.apart() if scanning.takes_all(table, condition) else ctx
    matched, _ = await count(apart, table, condition, enough_s=scanning.PATIENCE_S)
    if is_dry or not matched:
        return matched, 0
    layout = Layout(table)
    found = [row async for some in walk(apart, table, condition, MOST_DELETED) for row in some]
    if apart is not ctx:
        found = await still_matching(ctx, table, condition, [row.id for row in found])
    ids = listed(row.id for row in found)
    deleted = await ctx.db.execute(_DELETE_SOME, row_key=table.row_key, ids=ids)
    for row in found:
        _tell(ctx, RowDeleted, table, layout, row)
    change_count(ctx, table, -deleted)
    return matched, deleted


def _tell(
    ctx: Context, kind: type[E], table: DataTable, layout: Layout, row: StoredRow, changes: Sequence[str] = ()
) -> None:
    ctx.emit(kind(table_id=table.id, row_id=row.id, row=layout.show(row), changes=list(changes)))


def _taken(layout: Layout, error: UniqueViolation) -> Exception:
    column = layout.unique_column(error.constraint)
    return ValueTaken(column.name if column else "")


def _below(place: str, faults: Faults) -> Faults:
    return {_named(place, name): message for name, message in faults.items()}


def _named(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
