"""Rows: create, change, delete. Every change emits an event and updates the table's row count."""

from collections.abc import Collection, Sequence
from typing import TypeVar

import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement
from retinue.kit.db.types import json_text
from retinue.kit.errors import Invalid, VersionConflict
from retinue.kit.json_types import JsonObject
from retinue.tables import storage, table_scan
from retinue.tables.errors import RowNotFound, ValueTaken
from retinue.tables.events import RowCreated, RowDeleted, RowEvent, RowUpdated
from retinue.tables.filters import Condition
from retinue.tables.models import DataTable
from retinue.tables.models import rows as _rows
from retinue.tables.queries import count_rows, find_by_id, iterate_rows, still_matching
from retinue.tables.row_validation import (
    Faults,
    RowValidator,
    find_missing_references,
    find_taken_values,
    raise_if_invalid,
    raise_if_taken,
)
from retinue.tables.storage import Layout, StoredRow

MAX_ROWS_PER_REQUEST = 1000
MAX_DELETED_ROWS = 5000
MAX_ROW_BYTES = 256 * 1024

_tables = DataTable.__table__
_COUNT = Statement(
    sa.update(_tables)
    .where(_tables.c.id == sa.bindparam("table_id", type_=_tables.c.id.type))
    .values(row_count=_tables.c.row_count + sa.bindparam("more", type_=sa.BigInteger()))
)
_DELETE = Statement(
    sa.delete(_rows).where(
        _rows.c.table_key == sa.bindparam("row_key", type_=sa.BigInteger()),
        _rows.c.id == sa.bindparam("row_id", type_=_rows.c.id.type),
    )
)
_DELETE_BATCH = Statement(
    sa.delete(_rows).where(
        _rows.c.table_key == sa.bindparam("row_key", type_=sa.BigInteger()),
        in_list(_rows.c.id, "ids"),
    )
)

E = TypeVar("E", bound=RowEvent)


async def create(
    ctx: Context, table: DataTable, records: Sequence[JsonObject], places: Sequence[str] = ("",)
) -> list[StoredRow]:
    """Create all rows or none; `places` are the prefixes of their errors."""
    layout = Layout(table)
    checker = RowValidator(layout)
    many: list[JsonObject] = []
    faults: Faults = {}
    for place, row_given in zip(places, records, strict=True):
        values, row_faults = checker.validate_new(row_given)
        faults |= _prefix_faults(place, row_faults)
        many.append(values)
    raise_if_invalid(faults)
    await require_references(ctx, layout, many, places)
    created = storage.new_rows(ctx, many)
    raise_if_taken(await find_taken_values(ctx, layout, table.row_key, created), places)
    await insert_rows(ctx, table, layout, created)
    for row in created:
        _emit(ctx, RowCreated, table, layout, row)
    return created


async def insert_rows(ctx: Context, table: DataTable, layout: Layout, created: list[StoredRow]) -> None:
    """Store validated rows and count them."""
    for row in created:
        require_size(row)
    try:
        await storage.insert(ctx, layout, table.row_key, created)
    except UniqueViolation as error:
        raise _value_taken(layout, error) from error
    change_count(ctx, table, len(created))


async def require_references(
    ctx: Context, layout: Layout, many: Sequence[JsonObject], places: Sequence[str]
) -> None:
    missing = await find_missing_references(ctx, layout, many)
    raise_if_invalid({_field_path(places[at], name): message for at, name, message in missing})


def require_size(row: StoredRow) -> None:
    if is_too_large(row):
        raise Invalid({"row": f"must be at most {MAX_ROW_BYTES // 1024} KiB"})


def is_too_large(row: StoredRow) -> bool:
    return len(json_text(row.values)) > MAX_ROW_BYTES


def change_count(ctx: Context, table: DataTable, more: int) -> None:
    """Update the row count at the commit, to keep the table's row locked only briefly (ADR 10)."""
    if more:
        ctx.db.execute_at_commit(_COUNT, table_id=table.id, more=more)


async def fetch(ctx: Context, table: DataTable, row_id: str) -> StoredRow:
    row = await find_by_id(ctx, table, row_id)
    if row is None:
        raise RowNotFound
    return row


async def lock_row(
    ctx: Context, table: DataTable, row_id: str, expected: Collection[Instant] | None
) -> StoredRow:
    """Return the locked row; raise `VersionConflict` unless its `updated_at` is in `expected`.

    No two changes of a row have the same `updated_at`, so it serves as the version.
    """
    row = await find_by_id(ctx, table, row_id, locked=True)
    if row is None:
        raise RowNotFound
    if expected is not None and row.updated_at not in expected:
        raise VersionConflict(etag_of(row), updated_at=row.updated_at)
    return row


def etag_of(row: StoredRow) -> str:
    return f'"{row.updated_at}"'


async def replace(
    ctx: Context,
    table: DataTable,
    row_id: str,
    row_data: JsonObject,
    expected: Collection[Instant] | None = None,
) -> StoredRow:
    row = await lock_row(ctx, table, row_id, expected)
    layout = Layout(table)
    values, faults = RowValidator(layout).validate_new(row_data)
    raise_if_invalid(faults)
    return await update_values(ctx, table, layout, row, values)


async def update(
    ctx: Context,
    table: DataTable,
    row_id: str,
    changes: JsonObject,
    expected: Collection[Instant] | None = None,
) -> StoredRow:
    row = await lock_row(ctx, table, row_id, expected)
    layout = Layout(table)
    values, faults = RowValidator(layout).validate_changes(changes, row.values)
    raise_if_invalid(faults)
    return await update_values(ctx, table, layout, row, values)


async def update_values(
    ctx: Context, table: DataTable, layout: Layout, row: StoredRow, values: JsonObject
) -> StoredRow:
    """Write new values to a locked row; without a difference, nothing happens."""
    changed = [column for column in layout.columns if row.values.get(column.key) != values.get(column.key)]
    if not changed:
        return row
    new = {column.key: values[column.key] for column in changed if column.key in values}
    await require_references(ctx, layout, [new], [""])
    updated = StoredRow(row.id, row.created_at, storage.next_updated_at(row, ctx.now), values)
    require_size(updated)
    raise_if_taken(await find_taken_values(ctx, layout, table.row_key, [updated]), [""])
    try:
        await storage.update(ctx, layout, table.row_key, [updated])
    except UniqueViolation as error:
        raise _value_taken(layout, error) from error
    emit_updated(ctx, table, layout, updated, [column.name for column in changed])
    return updated


def emit_created(ctx: Context, table: DataTable, layout: Layout, row: StoredRow) -> None:
    _emit(ctx, RowCreated, table, layout, row)


def emit_updated(ctx: Context, table: DataTable, layout: Layout, row: StoredRow, changes: list[str]) -> None:
    _emit(ctx, RowUpdated, table, layout, row, changes)


async def delete(
    ctx: Context, table: DataTable, row_id: str, expected: Collection[Instant] | None = None
) -> None:
    row = await lock_row(ctx, table, row_id, expected)
    await ctx.db.execute(_DELETE, row_key=table.row_key, row_id=row.id)
    change_count(ctx, table, -1)
    _emit(ctx, RowDeleted, table, Layout(table), row)


async def delete_matching(
    ctx: Context, table: DataTable, condition: Condition, *, is_dry: bool
) -> tuple[int, int]:
    """Return how many rows match and how many were deleted, at most `MAX_DELETED_ROWS` at once."""
    # A full scan runs outside the transaction, so that it blocks no writers.
    detached = ctx.detached() if table_scan.needs_full_scan(table, condition) else ctx
    matched, _ = await count_rows(
        detached, table, condition, count_budget_seconds=table_scan.MAX_SCAN_SECONDS
    )
    if is_dry or not matched:
        return matched, 0
    layout = Layout(table)
    matching = [
        row async for batch in iterate_rows(detached, table, condition, MAX_DELETED_ROWS) for row in batch
    ]
    if detached is not ctx:
        matching = await still_matching(ctx, table, condition, [row.id for row in matching])
    ids = list_parameter(row.id for row in matching)
    deleted = await ctx.db.execute(_DELETE_BATCH, row_key=table.row_key, ids=ids)
    for row in matching:
        _emit(ctx, RowDeleted, table, layout, row)
    change_count(ctx, table, -deleted)
    return matched, deleted


def _emit(
    ctx: Context, kind: type[E], table: DataTable, layout: Layout, row: StoredRow, changes: Sequence[str] = ()
) -> None:
    ctx.emit(kind(table_id=table.id, row_id=row.id, row=layout.show(row), changes=list(changes)))


def _value_taken(layout: Layout, error: UniqueViolation) -> Exception:
    column = layout.unique_column(error.constraint)
    return ValueTaken(column.name if column else "")


def _prefix_faults(place: str, faults: Faults) -> Faults:
    return {_field_path(place, name): message for name, message in faults.items()}


def _field_path(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
