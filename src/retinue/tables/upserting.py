"""Rows that are added or changed, by whether one with the same values in the matched columns is there."""

from collections.abc import Sequence
from typing import Any

import msgspec

from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.tables import storage
from retinue.tables.checking import Checker, Faults
from retinue.tables.errors import TableNotFound
from retinue.tables.filters import Condition
from retinue.tables.models import Column, ColumnType, DataTable
from retinue.tables.queries import find_by_values, walk
from retinue.tables.storage import Layout, StoredRow
from retinue.tables.values import slot_value, unique_text

MOST_WITHOUT_INDEX = 10_000
"""Up to so many rows a match without an index is looked for among all of them."""


class Planned(msgspec.Struct):
    """What becomes of one row that was sent; `changes` names the columns with another value."""

    row: StoredRow
    is_new: bool
    changes: list[str]


class Plan(msgspec.Struct):
    """What an upsert would do; `faults` are by the place of the row, and such a row is left out."""

    planned: list[Planned | None]
    faults: dict[int, Faults]

    def created(self) -> list[StoredRow]:
        return [one.row for one in self.planned if one is not None and one.is_new]

    def updated(self) -> list[StoredRow]:
        """Each row once, as it is in the end, without those that are new."""
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
    """The columns that say which row is meant; one must be indexed where there are many rows."""
    columns = [layout.by_name[name] for name in dict.fromkeys(names) if name in layout.by_name]
    if not columns or len(columns) < len(set(names)):
        raise Invalid({field: "must name columns of the table"})
    if any(column.type in {ColumnType.json, ColumnType.multi_select} for column in columns):
        raise Invalid({field: "must name columns with one value"})
    if table.row_count > MOST_WITHOUT_INDEX and _anchor(columns) is None:
        raise Invalid(
            {field: "must name a column that is unique or indexed, because the table has many rows"}
        )
    return columns


def _anchor(columns: list[Column]) -> Column | None:
    unique = (column for column in columns if column.unique_slot)
    indexed = (column for column in columns if column.slot)
    return next(unique, None) or next(indexed, None)


async def plan(
    ctx: Context,
    table: DataTable,
    columns: list[Column],
    given: Sequence[dict[str, Any]],
    checker: Checker,
    *,
    held: bool = True,
) -> Plan:
    """Find who is meant by each row, and what it would be like; nothing is written."""
    layout = checker.layout
    faults: dict[int, Faults] = {}
    keys: list[tuple[Any, ...] | None] = []
    for at, one in enumerate(given):
        wanted, wrong = checker.part({column.name: one.get(column.name) for column in columns}, {})
        wrong |= {
            column.name: "is required to find the row"
            for column in columns
            if column.key not in wanted and column.name not in wrong
        }
        if wrong:
            faults[at] = wrong
        keys.append(None if wrong else tuple(wanted[column.key] for column in columns))
    known = await _existing(ctx, table, columns, [key for key in keys if key is not None], held=held)
    planned: list[Planned | None] = []
    for at, (one, key) in enumerate(zip(given, keys, strict=True)):
        planned.append(None if key is None else _plan_one(ctx, checker, layout, known, key, one, faults, at))
    return Plan(planned, faults)


def _plan_one(
    ctx: Context,
    checker: Checker,
    layout: Layout,
    known: dict[tuple[Any, ...], list[StoredRow]],
    key: tuple[Any, ...],
    one: dict[str, Any],
    faults: dict[int, Faults],
    at: int,
) -> Planned | None:
    found = known.get(key, [])
    if len(found) > 1:
        faults[at] = {"match": "more than one row is meant"}
        return None
    values, wrong = checker.part(one, found[0].values) if found else checker.whole(one)
    if wrong:
        faults[at] = wrong
        return None
    if not found:
        (row,) = storage.new_rows(ctx, [values])
        known[key] = [row]
        return Planned(row, is_new=True, changes=[])
    row = found[0]
    changes = [c.name for c in layout.columns if row.values.get(c.key) != values.get(c.key)]
    if changes:
        row.values = values
        row.updated_at = storage.later(row, ctx.now)
    return Planned(row, is_new=False, changes=changes)


async def _existing(
    ctx: Context, table: DataTable, columns: list[Column], keys: list[tuple[Any, ...]], *, held: bool
) -> dict[tuple[Any, ...], list[StoredRow]]:
    known: dict[tuple[Any, ...], list[StoredRow]] = {}
    if not keys:
        return known
    wanted = set(keys)
    anchor = _anchor(columns)
    if anchor is None:
        found = [row async for some in walk(ctx, table, Condition()) for row in some]
    else:
        place = columns.index(anchor)
        values = list(dict.fromkeys(key[place] for key in keys))
        slot = anchor.unique_slot or str(anchor.slot)
        texts = [unique_text(v) if anchor.unique_slot else slot_value(anchor, v) for v in values]
        found = [row for _, row in await find_by_values(ctx, table.row_key, slot, texts, held=held)]
    for row in found:
        key = tuple(row.values.get(column.key) for column in columns)
        if key in wanted:
            known.setdefault(key, []).append(row)
    return known


async def hold_table(ctx: Context, table_id: str) -> DataTable:
    """Nobody else adds or changes rows meanwhile, so that two never add the same one."""
    held = await ctx.db.lock(DataTable, table_id)
    if held is None:
        raise TableNotFound
    return held
