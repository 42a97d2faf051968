"""Rows: create and change. Every change emits an event and updates the table's row count."""

from collections.abc import Collection, Sequence
from typing import TypeVar

import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.db.statements import Statement
from retinue.kit.db.types import json_text
from retinue.kit.errors import Invalid, VersionConflict
from retinue.kit.json_types import JsonObject
from retinue.tables import storage
from retinue.tables.errors import RowNotFound, ValueTaken
from retinue.tables.events import RowCreated, RowEvent, RowUpdated
from retinue.tables.models import Column, DataTable
from retinue.tables.queries import find_by_id, lock_by_ids
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
MAX_ROW_BYTES = 256 * 1024

_tables = DataTable.__table__
_COUNT = Statement(
    sa.update(_tables)
    .where(_tables.c.id == sa.bindparam("table_id", type_=_tables.c.id.type))
    .values(row_count=_tables.c.row_count + sa.bindparam("more", type_=sa.BigInteger()))
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
        emit_row(ctx, RowCreated, table, layout, row)
    return created


async def insert_rows(ctx: Context, table: DataTable, layout: Layout, created: list[StoredRow]) -> None:
    """Store validated rows and count them."""
    for row in created:
        require_size(row)
    try:
        await storage.insert(ctx, layout, table.row_key, created)
    except UniqueViolation as error:
        raise value_taken(layout, error) from error
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
    (updated,) = await _write_values(ctx, table, layout, [(row, values)], [""])
    return updated


async def update_many(ctx: Context, table: DataTable, given: Sequence[JsonObject]) -> list[StoredRow]:
    """Change the given columns of several rows, which each entry names by its `id`: all of them or none."""
    places = [f"rows.{at}" for at in range(len(given))]
    ids = _require_ids(given, places)
    locked = {row.id: row for row in await lock_by_ids(ctx, table, ids)}
    missing = [id for id in ids if id not in locked]
    if missing:
        raise RowNotFound(missing)
    layout = Layout(table)
    validator = RowValidator(layout)
    faults: Faults = {}
    changes: list[tuple[StoredRow, JsonObject]] = []
    for place, id, entry in zip(places, ids, given, strict=True):
        values, row_faults = validator.validate_changes(entry, locked[id].values)
        faults |= _prefix_faults(place, row_faults)
        changes.append((locked[id], values))
    raise_if_invalid(faults)
    return await _write_values(ctx, table, layout, changes, places)


def _require_ids(given: Sequence[JsonObject], places: Sequence[str]) -> list[str]:
    ids: list[str] = []
    faults: Faults = {}
    for place, entry in zip(places, given, strict=True):
        id = entry.get("id")
        if not isinstance(id, str):
            faults[f"{place}.id"] = "is required"
        elif id in ids:
            faults[f"{place}.id"] = "is given twice"
        else:
            ids.append(id)
    raise_if_invalid(faults)
    return ids


async def _write_values(
    ctx: Context,
    table: DataTable,
    layout: Layout,
    changes: Sequence[tuple[StoredRow, JsonObject]],
    places: Sequence[str],
) -> list[StoredRow]:
    """Write new values to locked rows and return all rows; those without a difference stay as they are."""
    results = [row for row, _ in changes]
    changed: list[tuple[int, list[Column]]] = []
    for at, (row, values) in enumerate(changes):
        columns = [one for one in layout.columns if row.values.get(one.key) != values.get(one.key)]
        if columns:
            changed.append((at, columns))
            results[at] = StoredRow(row.id, row.created_at, storage.next_updated_at(row, ctx.now), values)
            require_size(results[at])
    written, its_places = [results[at] for at, _ in changed], [places[at] for at, _ in changed]
    new = [
        {column.key: results[at].values[column.key] for column in columns if column.key in results[at].values}
        for at, columns in changed
    ]
    await require_references(ctx, layout, new, its_places)
    raise_if_taken(await find_taken_values(ctx, layout, table.row_key, written), its_places)
    try:
        await storage.update(ctx, layout, table.row_key, written)
    except UniqueViolation as error:
        raise value_taken(layout, error) from error
    for at, columns in changed:
        emit_updated(ctx, table, layout, results[at], [column.name for column in columns])
    return results


def emit_created(ctx: Context, table: DataTable, layout: Layout, row: StoredRow) -> None:
    emit_row(ctx, RowCreated, table, layout, row)


def emit_updated(ctx: Context, table: DataTable, layout: Layout, row: StoredRow, changes: list[str]) -> None:
    emit_row(ctx, RowUpdated, table, layout, row, changes)


def emit_row(
    ctx: Context, kind: type[E], table: DataTable, layout: Layout, row: StoredRow, changes: Sequence[str] = ()
) -> None:
    ctx.emit(kind(table_id=table.id, row_id=row.id, row=layout.show(row), changes=list(changes)))


def value_taken(layout: Layout, error: UniqueViolation) -> Exception:
    column = layout.unique_column(error.constraint)
    return ValueTaken(column.name if column else "")


def _prefix_faults(place: str, faults: Faults) -> Faults:
    return {_field_path(place, name): message for name, message in faults.items()}


def _field_path(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
