"""Upserts: match the given rows with existing ones and plan what to create and update."""

from collections.abc import Sequence
from typing import Any

import msgspec

from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.tables import storage
from retinue.tables.errors import TableNotFound
from retinue.tables.filters import Condition
from retinue.tables.models import Column, ColumnType, DataTable
from retinue.tables.queries import find_by_values, iterate_rows
from retinue.tables.row_validation import Faults, RowValidator
from retinue.tables.storage import Layout, StoredRow
from retinue.tables.values import slot_value, unique_text

MAX_ROWS_WITHOUT_INDEX = 10_000
"""Up to this many rows, a match without an index scans the table."""


class PlannedRow(msgspec.Struct):
    """The planned result for one given row; `changes` names the columns with a new value."""

    row: StoredRow
    is_new: bool
    changes: list[str]


class UpsertPlan(msgspec.Struct):
    """The planned effect of an upsert; `faults` are by position, and such rows are left out."""

    planned: list[PlannedRow | None]
    faults: dict[int, Faults]

    def created(self) -> list[StoredRow]:
        return [planned.row for planned in self.planned if planned is not None and planned.is_new]

    def updated(self) -> list[StoredRow]:
        """Return each updated row once, in its final state, without new rows."""
        new = {row.id for row in self.created()}
        return list(
            {
                one.row.id: one.row
                for one in self.planned
                if one is not None and one.changes and one.row.id not in new
            }.values()
        )


def matched_columns(
    layout: Layout, table: DataTable, names: Sequence[str], field: str = "match"
) -> list[Column]:
    """Return the columns that identify a row; on large tables one of them must be indexed."""
    columns = [layout.by_name[name] for name in dict.fromkeys(names) if name in layout.by_name]
    if not columns or len(columns) < len(set(names)):
        raise Invalid({field: "must name columns of the table"})
    if any(column.type in {ColumnType.json, ColumnType.multi_select} for column in columns):
        raise Invalid({field: "must name columns with a single value"})
    if table.row_count > MAX_ROWS_WITHOUT_INDEX and _indexed_column(columns) is None:
        raise Invalid({field: "must name a unique or indexed column, because the table has many rows"})
    return columns


def _indexed_column(columns: list[Column]) -> Column | None:
    unique = (column for column in columns if column.unique_slot)
    indexed = (column for column in columns if column.slot)
    return next(unique, None) or next(indexed, None)


async def plan_upsert(
    ctx: Context,
    table: DataTable,
    columns: list[Column],
    records: Sequence[JsonObject],
    checker: RowValidator,
    *,
    locked: bool = True,
) -> UpsertPlan:
    """Match each given row and compute its new values; nothing is written."""
    layout = checker.layout
    faults: dict[int, Faults] = {}
    keys: list[tuple[Any, ...] | None] = []
    for at, row_given in enumerate(records):
        key_values, row_faults = checker.validate_changes(
            {column.name: row_given.get(column.name) for column in columns}, {}
        )
        row_faults |= {
            column.name: "is required to find the row"
            for column in columns
            if column.key not in key_values and column.name not in row_faults
        }
        if row_faults:
            faults[at] = row_faults
        keys.append(None if row_faults else tuple(key_values[column.key] for column in columns))
    existing = await _find_existing(
        ctx, table, columns, [key for key in keys if key is not None], locked=locked
    )
    planned: list[PlannedRow | None] = []
    for at, (row_given, key) in enumerate(zip(records, keys, strict=True)):
        planned.append(
            None if key is None else _plan_row(ctx, checker, layout, existing, key, row_given, faults, at)
        )
    return UpsertPlan(planned, faults)


def _plan_row(
    ctx: Context,
    checker: RowValidator,
    layout: Layout,
    existing: dict[tuple[Any, ...], list[StoredRow]],
    key: tuple[Any, ...],
    row_given: JsonObject,
    faults: dict[int, Faults],
    at: int,
) -> PlannedRow | None:
    matches = existing.get(key, [])
    if len(matches) > 1:
        faults[at] = {"match": "more than one row matches"}
        return None
    values, row_faults = (
        checker.validate_changes(row_given, matches[0].values) if matches else checker.validate_new(row_given)
    )
    if row_faults:
        faults[at] = row_faults
        return None
    if not matches:
        (row,) = storage.new_rows(ctx, [values])
        existing[key] = [row]
        return PlannedRow(row, is_new=True, changes=[])
    row = matches[0]
    changes = [c.name for c in layout.columns if row.values.get(c.key) != values.get(c.key)]
    if changes:
        row.values = values
        row.updated_at = storage.next_updated_at(row, ctx.now)
    return PlannedRow(row, is_new=False, changes=changes)


async def _find_existing(
    ctx: Context, table: DataTable, columns: list[Column], keys: list[tuple[Any, ...]], *, locked: bool
) -> dict[tuple[Any, ...], list[StoredRow]]:
    existing: dict[tuple[Any, ...], list[StoredRow]] = {}
    if not keys:
        return existing
    wanted = set(keys)
    anchor = _indexed_column(columns)
    if anchor is None:
        candidates = [row async for batch in iterate_rows(ctx, table, Condition()) for row in batch]
    else:
        place = columns.index(anchor)
        values = list(dict.fromkeys(key[place] for key in keys))
        slot = anchor.unique_slot or str(anchor.slot)
        texts = [unique_text(v) if anchor.unique_slot else slot_value(anchor, v) for v in values]
        candidates = [row for _, row in await find_by_values(ctx, table.row_key, slot, texts, locked=locked)]
    for row in candidates:
        key = tuple(row.values.get(column.key) for column in columns)
        if key in wanted:
            existing.setdefault(key, []).append(row)
    return existing


async def lock_table(ctx: Context, table_id: str) -> DataTable:
    """Lock the table against all other writers, so that concurrent upserts never add the same row."""
    locked = await ctx.db.lock(DataTable, table_id)
    if locked is None:
        raise TableNotFound
    return locked
