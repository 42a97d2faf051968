"""Columns: add, change, delete. Existing rows are rewritten where needed."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.errors import Invalid
from retinue.kit.ids import new_id
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import sent_fields
from retinue.tables import storage
from retinue.tables.conversion import build_converter
from retinue.tables.errors import CannotConvert, ColumnNameTaken, ColumnNotFound, TableBusy, ValueTaken
from retinue.tables.events import TableUpdated
from retinue.tables.filters import Condition
from retinue.tables.models import (
    NUMBER_SLOTS,
    TEXT_SLOTS,
    UNIQUE_SLOTS,
    Column,
    ColumnType,
    DataTable,
    ImportStatus,
    TableImport,
)
from retinue.tables.queries import iterate_rows
from retinue.tables.schemas import MAX_COLUMNS, RESERVED_COLUMN_NAMES, ColumnCreate, ColumnUpdate
from retinue.tables.storage import Layout, StoredRow
from retinue.tables.upsert_plan import lock_table
from retinue.tables.values import NUMERIC_TYPES, TEXT_TYPES, BadValue, value_reader

_MAX_EXAMPLES = 20

Change = Callable[[JsonObject], None]
"""Changes the values of a row in place, or raises `BadValue`."""


def build_column(body: ColumnCreate, others: Iterable[Column], key: int, place: str = "") -> Column:
    """Return the validated column with its index slots."""
    column = Column(
        id=new_id("col"),
        name=body.name,
        type=body.type,
        required=body.required,
        unique=body.unique,
        indexed=body.indexed,
        default=body.default,
        options=tuple(body.options or ()),
        table_id=body.table_id,
        key=str(key),
    )
    return assign_slots(validate_column(column, list(others), place), list(others), place)


def validate_column(column: Column, others: list[Column], place: str = "") -> Column:
    """Return the column with a normalized default; raise if its settings contradict each other."""
    prefix = f"{place}." if place else ""
    if column.name in RESERVED_COLUMN_NAMES:
        raise Invalid({f"{prefix}name": f"must not be one of {', '.join(sorted(RESERVED_COLUMN_NAMES))}"})
    if any(other.name == column.name for other in others):
        raise ColumnNameTaken
    has_options = column.type in {ColumnType.select, ColumnType.multi_select}
    if has_options and not column.options:
        raise Invalid({f"{prefix}options": "is required"})
    if column.type is ColumnType.reference and not column.table_id:
        raise Invalid({f"{prefix}table_id": "is required"})
    if column.unique and column.type in {ColumnType.json, ColumnType.multi_select, ColumnType.boolean}:
        raise Invalid({f"{prefix}unique": f"a {column.type} column cannot be unique"})
    if column.indexed and column.type not in NUMERIC_TYPES | TEXT_TYPES:
        raise Invalid({f"{prefix}indexed": f"a {column.type} column cannot be indexed"})
    default = column.default
    if default is not None:
        if column.unique or column.type in {ColumnType.file, ColumnType.reference}:
            raise Invalid({f"{prefix}default": "this column cannot have a default"})
        try:
            default = value_reader(column)(default)
        except BadValue as error:
            raise Invalid({f"{prefix}default": str(error)}) from None
    return msgspec.structs.replace(
        column,
        default=default,
        options=tuple(dict.fromkeys(column.options)) if has_options else (),
        table_id=column.table_id if column.type is ColumnType.reference else None,
    )


def assign_slots(column: Column, others: list[Column], place: str = "") -> Column:
    """Assign the index slots a column needs and release the others."""
    prefix = f"{place}." if place else ""
    slot, unique_slot = column.slot, column.unique_slot
    fitting = NUMBER_SLOTS if column.type in NUMERIC_TYPES else TEXT_SLOTS
    if not column.indexed:
        slot = None
    elif slot not in fitting:
        slot = _free_slot(fitting, {other.slot for other in others})
        if slot is None:
            raise Invalid({f"{prefix}indexed": f"a table has at most {len(fitting)} indexes of this kind"})
    if not column.unique:
        unique_slot = None
    elif unique_slot is None:
        unique_slot = _free_slot(UNIQUE_SLOTS, {other.unique_slot for other in others})
        if unique_slot is None:
            raise Invalid({f"{prefix}unique": f"a table has at most {len(UNIQUE_SLOTS)} unique columns"})
    return msgspec.structs.replace(column, slot=slot, unique_slot=unique_slot)


def _free_slot(slots: tuple[str, ...], taken: set[str | None]) -> str | None:
    return next((slot for slot in slots if slot not in taken), None)


async def require_target_table(ctx: Context, column: Column, place: str = "") -> None:
    """Require that a reference names a table of the same tenant."""
    if column.table_id is not None and await ctx.db.get(DataTable, column.table_id) is None:
        raise Invalid({f"{place}.table_id" if place else "table_id": "there is no such table"})


async def lock_for_schema_change(ctx: Context, table_id: str) -> DataTable:
    """Lock the table against all writers. Raises while an import runs, which relies on the columns."""
    locked = await lock_table(ctx, table_id)
    for status in (ImportStatus.pending, ImportStatus.running):
        if await ctx.db.find(TableImport, table_id=table_id, status=status) is not None:
            raise TableBusy
    return locked


async def add(ctx: Context, table_id: str, body: ColumnCreate) -> tuple[DataTable, Column]:
    locked = await lock_for_schema_change(ctx, table_id)
    if len(locked.columns) >= MAX_COLUMNS:
        raise Invalid({"name": f"a table has at most {MAX_COLUMNS} columns"})
    column = build_column(body, locked.columns, locked.next_key)
    await require_target_table(ctx, column)
    if column.required and column.default is None and locked.row_count:
        raise Invalid({"default": "is required because the table has rows"})
    after = _insert_at(locked.columns, column, body.position)
    if locked.row_count and column.default is not None:
        await _rewrite(ctx, locked, after, column, _fill_default(column))
    return await _store(ctx, locked, after, column, next_key=locked.next_key + 1)


async def change(ctx: Context, table_id: str, column_id: str, body: ColumnUpdate) -> tuple[DataTable, Column]:
    locked = await lock_for_schema_change(ctx, table_id)
    before = _require_column(locked, column_id)
    others = [column for column in locked.columns if column.id != column_id]
    sent = sent_fields(body)
    position = sent.pop("position", locked.columns.index(before))
    if "options" in sent:
        sent["options"] = tuple(sent["options"] or ())
    after = assign_slots(validate_column(msgspec.structs.replace(before, **sent), others), others)
    await require_target_table(ctx, after)
    columns = _insert_at(others, after, position)
    if locked.row_count and _must_rewrite(before, after):
        freed = {before.slot, before.unique_slot} - {after.slot, after.unique_slot, None}
        await _rewrite(ctx, locked, columns, after, _conversion(before, after), tuple(filter(None, freed)))
    return await _store(ctx, locked, columns, after)


async def rehearse_change(
    ctx: Context, table_id: str, column_id: str, body: ColumnUpdate
) -> tuple[DataTable, Column]:
    """Return what a change would return, or raise what it would raise; nothing is stored."""
    async with ctx.unit(is_side_effect=False) as unit:
        changed = await change(unit, table_id, column_id, body)
        await unit.rehearse()
    return changed


async def delete(ctx: Context, table_id: str, column_id: str) -> DataTable:
    locked = await lock_for_schema_change(ctx, table_id)
    column = _require_column(locked, column_id)
    columns = [other for other in locked.columns if other.id != column_id]
    if locked.row_count:
        freed = tuple(slot for slot in (column.slot, column.unique_slot) if slot)
        await _rewrite(ctx, locked, columns, column, lambda values: _remove_value(values, column.key), freed)
    locked, _ = await _store(ctx, locked, columns, column)
    return locked


def _require_column(table: DataTable, column_id: str) -> Column:
    for column in table.columns:
        if column.id == column_id:
            return column
    raise ColumnNotFound


def _insert_at(others: list[Column], column: Column, position: int | None) -> list[Column]:
    at = len(others) if position is None else min(position, len(others))
    rest = [other for other in others if other.id != column.id]
    return [*rest[:at], column, *rest[at:]]


async def _store(
    ctx: Context, table: DataTable, columns: list[Column], column: Column, **more: Any
) -> tuple[DataTable, Column]:
    await ctx.db.update(table, columns=columns, **more)
    ctx.emit(
        TableUpdated(table_id=table.id, name=table.name, slug=table.slug, changes=[f"columns.{column.name}"])
    )
    return table, column


def _must_rewrite(before: Column, after: Column) -> bool:
    return (
        before.type is not after.type
        or (before.slot, before.unique_slot) != (after.slot, after.unique_slot)
        or not set(before.options) <= set(after.options)
        or before.table_id != after.table_id
        or (after.required and not before.required)
    )


def _fill_default(column: Column) -> Change:
    def fill(values: JsonObject) -> None:
        values.setdefault(column.key, column.default)

    return fill


def _remove_value(values: JsonObject, key: str) -> None:
    values.pop(key, None)


def _conversion(before: Column, after: Column) -> Change:
    convert = build_converter(before, after)

    def change(values: JsonObject) -> None:
        value = values.pop(after.key, None)
        value = None if value is None else convert(value)
        if value is None and after.required:
            value = after.default
            if value is None:
                raise BadValue("is required")
        if value is not None:
            values[after.key] = value

    return change


async def _rewrite(
    ctx: Context,
    table: DataTable,
    columns: list[Column],
    column: Column,
    change: Change,
    cleared_slots: tuple[str, ...] = (),
) -> None:
    """Rewrite every row in batches within this transaction; one failing row undoes all."""
    layout = Layout(msgspec.structs.replace(table, columns=columns))
    count = 0
    examples: list[JsonObject] = []
    async for batch in iterate_rows(ctx, table, Condition()):
        written: list[StoredRow] = []
        for row in batch:
            previous = row.values.get(column.key)
            try:
                change(row.values)
            except BadValue as error:
                count += 1
                if len(examples) < _MAX_EXAMPLES:
                    examples.append({"row_id": row.id, "value": previous, "message": str(error)})
                continue
            written.append(row)
        if not count:
            try:
                await storage.update(ctx, layout, table.row_key, written, cleared_slots)
            except UniqueViolation as error:
                raise ValueTaken(
                    column.name, f"Several rows have the same value in {column.name}."
                ) from error
        # On SQLite, statements run in this thread; let other tasks have a turn.
        await asyncio.sleep(0)
    if count:
        raise CannotConvert(column.name, count, examples)
