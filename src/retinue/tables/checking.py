"""What a caller sends for a row, checked against its columns: every fault is said, and where it is."""

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from retinue.files.models import File
from retinue.kit.context import Context
from retinue.kit.db.one_of import listed, one_of
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid
from retinue.tables.errors import ValueTaken
from retinue.tables.models import Column, ColumnType, DataTable
from retinue.tables.queries import existing_ids, find_by_values
from retinue.tables.storage import Layout, StoredRow
from retinue.tables.values import BadValue, reader, unique_text

TAKEN = "another row has this value"
_files = File.__table__
_KNOWN_FILES: Statement[Any] = Statement(sa.select(_files.c.id).where(one_of(_files.c.id, "ids")))

Faults = dict[str, str]


class Checker:
    """Reads values for the columns of one table; made once for many rows."""

    def __init__(self, layout: Layout, *, make: Callable[[Column], Callable[[Any], Any]] = reader) -> None:
        self.layout = layout
        self._readers = [(column, make(column)) for column in layout.columns]
        self._by_name = {column.name: (column, read) for column, read in self._readers}

    def whole(self, given: dict[str, Any]) -> tuple[dict[str, Any], Faults]:
        """A new row: what is missing gets its default."""
        values: dict[str, Any] = {}
        faults: Faults = {}
        for column, read in self._readers:
            value = given.get(column.name)
            if value is not None:
                try:
                    value = read(value)
                except BadValue as error:
                    faults[column.name] = str(error)
                    continue
            if value is None and column.name not in given:
                value = column.default
            if value is not None:
                values[column.key] = value
            elif column.required:
                faults[column.name] = "is required"
        return values, faults

    def part(self, given: dict[str, Any], before: dict[str, Any]) -> tuple[dict[str, Any], Faults]:
        """A row that is there already: what is not named stays."""
        values = dict(before)
        faults: Faults = {}
        for name, value in given.items():
            known = self._by_name.get(name)
            if known is None:
                continue
            column, read = known
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


def refuse(faults: Faults) -> None:
    if faults:
        raise Invalid(faults)


async def missing_links(
    ctx: Context, layout: Layout, many: Sequence[dict[str, Any]]
) -> list[tuple[int, str, str]]:
    """Which rows point at files or rows that are not there: their place, the column and what to say."""
    faults: list[tuple[int, str, str]] = []
    for column in layout.columns:
        if column.type not in {ColumnType.file, ColumnType.reference}:
            continue
        wanted = {values[column.key] for values in many if column.key in values}
        if not wanted:
            continue
        known = await _known(ctx, column, sorted(wanted))
        message = "there is no such file" if column.type is ColumnType.file else "there is no such row"
        faults += [
            (at, column.name, message)
            for at, values in enumerate(many)
            if column.key in values and values[column.key] not in known
        ]
    return faults


async def _known(ctx: Context, column: Column, ids: list[str]) -> set[str]:
    if column.type is ColumnType.reference:
        target = await ctx.db.get(DataTable, column.table_id or "")
        return await existing_ids(ctx, target.row_key, ids) if target is not None else set()
    return {id for (id,) in await ctx.db.rows(_KNOWN_FILES, ids=listed(ids))}


async def taken_values(
    ctx: Context, layout: Layout, row_key: int, many: Sequence[StoredRow]
) -> list[tuple[int, str]]:
    """Which rows would have a unique value that another has: their place among these, and the column."""
    taken: list[tuple[int, str]] = []
    for column in layout.columns:
        if column.unique_slot is None:
            continue
        texts = [unique_text(row.values[column.key]) if column.key in row.values else None for row in many]
        wanted = [text for text in texts if text is not None]
        if not wanted:
            continue
        held = {text: row.id for text, row in await find_by_values(ctx, row_key, column.unique_slot, wanted)}
        # A row of these that gives a value up frees it only for later calls: the index is checked row by row.
        for at, (row, text) in enumerate(zip(many, texts, strict=True)):
            if text is None:
                continue
            if held.setdefault(text, row.id) != row.id:
                taken.append((at, column.name))
    return taken


def refuse_taken(taken: list[tuple[int, str]], places: Sequence[str]) -> None:
    if taken:
        at, column = taken[0]
        place = f"{places[at]}.{column}" if places[at] else column
        raise ValueTaken(place, f"{place}: {TAKEN}.")
