"""Validation of row values against the columns; every error is reported with its column."""

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from retinue.files.models import File
from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.tables.errors import ValueTaken
from retinue.tables.models import Column, ColumnType, DataTable
from retinue.tables.queries import existing_ids, find_by_values
from retinue.tables.storage import SYSTEM_COLUMNS, Layout, StoredRow
from retinue.tables.values import BadValue, unique_text, value_reader

VALUE_TAKEN_MESSAGE = "another row already has this value"
UNKNOWN_COLUMN_MESSAGE = "the table has no such column"
SYSTEM_COLUMN_NAMES = frozenset(SYSTEM_COLUMNS)
_files = File.__table__
_KNOWN_FILES = Statement(sa.select(_files.c.id).where(in_list(_files.c.id, "ids")))

Faults = dict[str, str]


class RowValidator:
    """Validates values for the columns of one table; create it once for many rows."""

    def __init__(
        self, layout: Layout, *, make_reader: Callable[[Column], Callable[[Any], Any]] = value_reader
    ) -> None:
        self.layout = layout
        self._readers = [(column, make_reader(column)) for column in layout.columns]
        self._by_name = {column.name: (column, read) for column, read in self._readers}

    def validate_new(self, row: JsonObject) -> tuple[JsonObject, Faults]:
        """Validate a new row; missing columns get their default."""
        values: JsonObject = {}
        faults = self._unknown_columns(row)
        for column, read in self._readers:
            value = row.get(column.name)
            if value is not None:
                try:
                    value = read(value)
                except BadValue as error:
                    faults[column.name] = str(error)
                    continue
            if value is None and column.name not in row:
                value = column.default
            if value is not None:
                values[column.key] = value
            elif column.required:
                faults[column.name] = "is required"
        return values, faults

    def validate_changes(self, changes: JsonObject, before: JsonObject) -> tuple[JsonObject, Faults]:
        """Validate changes of an existing row; columns that are not given stay unchanged."""
        values = dict(before)
        faults = self._unknown_columns(changes)
        for name, value in changes.items():
            entry = self._by_name.get(name)
            if entry is None:
                continue
            column, read = entry
            try:
                stored = None if value is None else read(value)
            except BadValue as error:
                faults[name] = str(error)
                continue
            if stored is not None:
                values[column.key] = stored
            elif column.required:
                faults[name] = "is required"
            else:
                values.pop(column.key, None)
        return values, faults

    def _unknown_columns(self, row: JsonObject) -> Faults:
        """Return errors for unknown columns.

        System columns are ignored, so that a row can be sent back as read.
        """
        unknown = row.keys() - self._by_name.keys() - SYSTEM_COLUMN_NAMES
        return {name: UNKNOWN_COLUMN_MESSAGE for name in row if name in unknown} if unknown else {}


def raise_if_invalid(faults: Faults) -> None:
    if faults:
        raise Invalid(faults)


async def find_missing_references(
    ctx: Context, layout: Layout, many: Sequence[JsonObject]
) -> list[tuple[int, str, str]]:
    """Return missing files and rows that are referred to: position of the row, column and message."""
    faults: list[tuple[int, str, str]] = []
    for column in layout.columns:
        if column.type not in {ColumnType.file, ColumnType.reference}:
            continue
        ids = {values[column.key] for values in many if column.key in values}
        if not ids:
            continue
        existing = await _known(ctx, column, sorted(ids))
        message = "there is no such file" if column.type is ColumnType.file else "there is no such row"
        faults += [
            (at, column.name, message)
            for at, values in enumerate(many)
            if column.key in values and values[column.key] not in existing
        ]
    return faults


async def _known(ctx: Context, column: Column, ids: list[str]) -> set[str]:
    if column.type is ColumnType.reference:
        target = await ctx.db.get(DataTable, column.table_id or "")
        return await existing_ids(ctx, target.row_key, ids) if target is not None else set()
    return {id for (id,) in await ctx.db.rows(_KNOWN_FILES, ids=list_parameter(ids))}


async def find_taken_values(
    ctx: Context, layout: Layout, row_key: int, many: Sequence[StoredRow]
) -> list[tuple[int, str]]:
    """Return rows with a unique value that another row has: their position, and the column."""
    taken: list[tuple[int, str]] = []
    for column in layout.columns:
        if column.unique_slot is None:
            continue
        texts = [unique_text(row.values[column.key]) if column.key in row.values else None for row in many]
        wanted = [text for text in texts if text is not None]
        if not wanted:
            continue
        owner_ids = {
            text: row.id for text, row in await find_by_values(ctx, row_key, column.unique_slot, wanted)
        }
        # A value released by one of these rows is not free yet: the index is checked row by row.
        for at, (row, text) in enumerate(zip(many, texts, strict=True)):
            if text is None:
                continue
            if owner_ids.setdefault(text, row.id) != row.id:
                taken.append((at, column.name))
    return taken


def raise_if_taken(taken: list[tuple[int, str]], places: Sequence[str]) -> None:
    if taken:
        at, column = taken[0]
        place = f"{places[at]}.{column}" if places[at] else column
        raise ValueTaken(place, f"{place}: {VALUE_TAKEN_MESSAGE}.")
