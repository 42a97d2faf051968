"""Columns are added, changed and deleted; rows that are there are written anew where they must be."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.errors import Invalid
from retinue.kit.ids import new_id
from retinue.kit.schemas import given
from retinue.tables import storage
from retinue.tables.converting import converted
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
from retinue.tables.queries import walk
from retinue.tables.schemas import MOST_COLUMNS, RESERVED, ColumnCreate, ColumnUpdate
from retinue.tables.storage import Layout, StoredRow
from retinue.tables.upserting import hold_table
from retinue.tables.values import NUMBERS, TEXTS, BadValue, reader

_MOST_EXAMPLES = 20

Change = Callable[[dict[str, Any]], None]
"""Alters the values of a row in place, or raises `BadValue`."""


def declared(body: ColumnCreate, others: Iterable[Column], key: int, place: str = "") -> Column:
    """The column that was asked for, checked, with a place to index it in."""
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
    return with_slots(checked(column, list(others), place), list(others), place)


def checked(column: Column, others: list[Column], place: str = "") -> Column:
    """The same column with its default in the form values have; what does not fit together is refused."""
    prefix = f"{place}." if place else ""
    if column.name in RESERVED:
        raise Invalid({f"{prefix}name": f"must not be one of {', '.join(sorted(RESERVED))}"})
    if any(other.name == column.name for other in others):
        raise ColumnNameTaken
    has_options = column.type in {ColumnType.select, ColumnType.multi_select}
    if has_options and not column.options:
        raise Invalid({f"{prefix}options": "is required"})
    if column.type is ColumnType.reference and not column.table_id:
        raise Invalid({f"{prefix}table_id": "is required"})
    if column.unique and column.type in {ColumnType.json, ColumnType.multi_select, ColumnType.boolean}:
        raise Invalid({f"{prefix}unique": f"a {column.type} column cannot be unique"})
    if column.indexed and column.type not in NUMBERS | TEXTS:
        raise Invalid({f"{prefix}indexed": f"a {column.type} column cannot be indexed"})
    default = column.default
    if default is not None:
        if column.unique or column.type in {ColumnType.file, ColumnType.reference}:
            raise Invalid({f"{prefix}default": "this column cannot have one"})
        try:
            default = reader(column)(default)
        except BadValue as error:
            raise Invalid({f"{prefix}default": str(error)}) from None
    return msgspec.structs.replace(
        column,
        default=default,
        options=tuple(dict.fromkeys(column.options)) if has_options else (),
        table_id=column.table_id if column.type is ColumnType.reference else None,
    )


def with_slots(column: Column, others: list[Column], place: str = "") -> Column:
    """Give it the places it needs, and take from it those it does not."""
    prefix = f"{place}." if place else ""
    slot, unique_slot = column.slot, column.unique_slot
    fitting = NUMBER_SLOTS if column.type in NUMBERS else TEXT_SLOTS
    if not column.indexed:
        slot = None
    elif slot not in fitting:
        slot = _free(fitting, {other.slot for other in others})
        if slot is None:
            raise Invalid({f"{prefix}indexed": f"a table has at most {len(fitting)} indexes of this kind"})
    if not column.unique:
        unique_slot = None
    elif unique_slot is None:
        unique_slot = _free(UNIQUE_SLOTS, {other.unique_slot for other in others})
        if unique_slot is None:
            raise Invalid({f"{prefix}unique": f"a table has at most {len(UNIQUE_SLOTS)} unique columns"})
    return msgspec.structs.replace(column, slot=slot, unique_slot=unique_slot)


def _free(slots: tuple[str, ...], taken: set[str | None]) -> str | None:
    return next((slot for slot in slots if slot not in taken), None)


async def check_target(ctx: Context, column: Column, place: str = "") -> None:
    """A reference names a table of the same tenant."""
    if column.table_id is not None and await ctx.db.get(DataTable, column.table_id) is None:
        raise Invalid({f"{place}.table_id" if place else "table_id": "there is no such table"})


async def hold(ctx: Context, table_id: str) -> DataTable:
    """The table, held against everyone who writes into it; an import must not meet other columns."""
    held = await hold_table(ctx, table_id)
    for status in (ImportStatus.pending, ImportStatus.running):
        if await ctx.db.find(TableImport, table_id=table_id, status=status) is not None:
            raise TableBusy
    return held


async def add(ctx: Context, table_id: str, body: ColumnCreate) -> tuple[DataTable, Column]:
    held = await hold(ctx, table_id)
    if len(held.columns) >= MOST_COLUMNS:
        raise Invalid({"name": f"a table has at most {MOST_COLUMNS} columns"})
    column = declared(body, held.columns, held.next_key)
    await check_target(ctx, column)
    if column.required and column.default is None and held.row_count:
        raise Invalid({"default": "is required, because the table has rows"})
    after = _placed(held.columns, column, body.position)
    if held.row_count and column.default is not None:
        await _rewrite(ctx, held, after, column, _filling(column))
    return await _store(ctx, held, after, column, next_key=held.next_key + 1)


async def change(ctx: Context, table_id: str, column_id: str, body: ColumnUpdate) -> tuple[DataTable, Column]:
    held = await hold(ctx, table_id)
    before = _find(held, column_id)
    others = [column for column in held.columns if column.id != column_id]
    wanted = given(body)
    position = wanted.pop("position", held.columns.index(before))
    if "options" in wanted:
        wanted["options"] = tuple(wanted["options"] or ())
    after = with_slots(checked(msgspec.structs.replace(before, **wanted), others), others)
    await check_target(ctx, after)
    columns = _placed(others, after, position)
    if held.row_count and _must_rewrite(before, after):
        freed = {before.slot, before.unique_slot} - {after.slot, after.unique_slot, None}
        await _rewrite(ctx, held, columns, after, _conversion(before, after), tuple(filter(None, freed)))
    return await _store(ctx, held, columns, after)


async def delete(ctx: Context, table_id: str, column_id: str) -> DataTable:
    held = await hold(ctx, table_id)
    column = _find(held, column_id)
    columns = [other for other in held.columns if other.id != column_id]
    if held.row_count:
        freed = tuple(slot for slot in (column.slot, column.unique_slot) if slot)
        await _rewrite(ctx, held, columns, column, lambda values: _forget(values, column.key), freed)
    held, _ = await _store(ctx, held, columns, column)
    return held


def _find(table: DataTable, column_id: str) -> Column:
    for column in table.columns:
        if column.id == column_id:
            return column
    raise ColumnNotFound


def _placed(others: list[Column], column: Column, position: int | None) -> list[Column]:
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


def _filling(column: Column) -> Change:
    def fill(values: dict[str, Any]) -> None:
        values.setdefault(column.key, column.default)

    return fill


def _forget(values: dict[str, Any], key: str) -> None:
    values.pop(key, None)


def _conversion(before: Column, after: Column) -> Change:
    convert = converted(before, after)

    def change(values: dict[str, Any]) -> None:
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
    emptied: tuple[str, ...] = (),
) -> None:
    """Change every row, some at a time in this one transaction; one that cannot be changed undoes all."""
    layout = Layout(msgspec.structs.replace(table, columns=columns))
    count = 0
    examples: list[dict[str, Any]] = []
    async for some in walk(ctx, table, Condition()):
        written: list[StoredRow] = []
        for row in some:
            shown = row.values.get(column.key)
            try:
                change(row.values)
            except BadValue as error:
                count += 1
                if len(examples) < _MOST_EXAMPLES:
                    examples.append({"row_id": row.id, "value": shown, "message": str(error)})
                continue
            written.append(row)
        if not count:
            try:
                await storage.update(ctx, layout, table.row_key, written, emptied)
            except UniqueViolation as error:
                raise ValueTaken(column.name, f"Some rows have the same value in {column.name}.") from error
        # On SQLite the statements run here, and others are waiting for their turn.
        await asyncio.sleep(0)
    if count:
        raise CannotConvert(column.name, count, examples)
