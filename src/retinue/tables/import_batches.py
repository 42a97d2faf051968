"""Some rows of a file: read against the columns, stored, and counted in the import, in one transaction."""

from collections.abc import Callable
from typing import Any

import msgspec

from retinue.adapters.sheets import Cells
from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.db.types import json_text
from retinue.kit.errors import RetinueError
from retinue.kit.jobs.declare import RetryLater
from retinue.tables import rows, storage
from retinue.tables.checking import TAKEN, Checker, Faults, missing_links, taken_values
from retinue.tables.import_mapping import CellMap
from retinue.tables.loaders import fetch_for_writing, fetch_table
from retinue.tables.models import Column, DataTable, ImportMode, ImportStatus, TableImport
from retinue.tables.storage import Layout, StoredRow
from retinue.tables.upserting import hold_table, matched_columns, plan
from retinue.tables.values import cell_reader

BATCH = 2000
MOST_ERRORS = 100
_MOST_ATTEMPTS = 3


class Superseded(RetinueError):
    """The import was cancelled, or another worker goes on with it."""

    code = "superseded"


class Batch(msgspec.Struct):
    header: list[str] | None
    rows: list[Cells]


class _Outcome(msgspec.Struct):
    created: int = 0
    updated: int = 0
    faults: dict[int, Faults] = {}


class BatchWriter:
    """Writes the rows of one import, batch after batch; `run` moves on with each."""

    def __init__(self, ctx: Context, run: TableImport) -> None:
        self._ctx = ctx
        self.run = run
        self._table: DataTable | None = None
        self._layout: Layout | None = None
        self._cells: CellMap | None = None

    async def write(self, batch: Batch) -> None:
        await self._look_at_columns(batch)
        if not batch.rows:
            return
        for attempt in range(_MOST_ATTEMPTS):
            try:
                await (self._upsert(batch) if self.run.mode is ImportMode.upsert else self._append(batch))
            except UniqueViolation:
                # Someone added the same value just now; the next look finds it.
                if attempt == _MOST_ATTEMPTS - 1:
                    raise
            else:
                return

    async def _look_at_columns(self, batch: Batch) -> None:
        if self._layout is None:
            self._table = await fetch_table(self._ctx, self.run.table_id)
            self._layout = Layout(self._table)
        if self._cells is None and (batch.header is not None or batch.rows):
            is_whole = self.run.mode is not ImportMode.upsert
            self._cells = CellMap(self._layout, batch.header, self.run.mapping, is_whole=is_whole)

    def _reader(self, column: Column) -> Callable[[Any], Any]:
        return cell_reader(column, of_sheet=self.run.format != "json")

    def _check_columns(self, table: DataTable) -> Layout:
        assert self._layout is not None
        if table.columns != self._layout.columns:
            raise RetryLater(1, "The columns of the table have changed.")
        return self._layout

    async def _append(self, batch: Batch) -> None:
        """The costly part, reading the values, comes before the transaction."""
        assert self._cells is not None
        read = self._cells.values
        faults: dict[int, Faults] = {}
        places: list[int] = []
        many: list[dict[str, Any]] = []
        for at, cells in enumerate(batch.rows):
            values, wrong = read(cells)
            if wrong is not None:
                faults[at] = wrong
            else:
                places.append(at)
                many.append(values)
        texts = [json_text(values) for values in many]
        for at, text in zip(places, texts, strict=True):
            if len(text) > rows.LARGEST_ROW:
                faults[at] = {"row": f"must have at most {rows.LARGEST_ROW // 1024} KiB"}
        async with self._ctx.unit() as unit:
            held = await self._hold(unit)
            table = await fetch_for_writing(unit, held.table_id)
            layout = self._check_columns(table)
            made = storage.new_rows(unit, many)
            for at, wrong in await self._refused(unit, layout, held.row_key, made):
                faults.setdefault(places[at], {}).update(wrong)
            kept = [
                (row, text) for at, row, text in zip(places, made, texts, strict=True) if at not in faults
            ]
            added = [row for row, _ in kept]
            await storage.insert(unit, layout, held.row_key, added, [text for _, text in kept])
            if held.mode is ImportMode.append:
                rows.change_count(unit, table, len(added))
            await self._move_on(unit, held, batch, _Outcome(created=len(added), faults=faults))

    async def _upsert(self, batch: Batch) -> None:
        assert self._cells is not None
        given = [self._cells.given(cells) for cells in batch.rows]
        async with self._ctx.unit() as unit:
            held = await self._hold(unit)
            table = await hold_table(unit, held.table_id)
            layout = self._check_columns(table)
            columns = matched_columns(layout, table, held.match)
            planned = await plan(unit, table, columns, given, Checker(layout, make=self._reader))
            faults = dict(planned.faults)
            places = {one.row.id: at for at, one in enumerate(planned.planned) if one is not None}
            created, updated = planned.created(), planned.updated()
            touched = [*updated, *created]
            for at, wrong in await self._refused(unit, layout, table.row_key, touched):
                faults.setdefault(places[touched[at].id], {}).update(wrong)
            for row in touched:
                if rows.is_too_large(row):
                    faults.setdefault(places[row.id], {}).update({"row": "is too large"})
            created = [row for row in created if places[row.id] not in faults]
            updated = [row for row in updated if places[row.id] not in faults]
            await storage.update(unit, layout, table.row_key, updated)
            await storage.insert(unit, layout, table.row_key, created)
            rows.change_count(unit, table, len(created))
            done = len(batch.rows) - len(faults)
            outcome = _Outcome(created=len(created), updated=done - len(created), faults=faults)
            await self._move_on(unit, held, batch, outcome)

    async def _hold(self, unit: Context) -> TableImport:
        held = await unit.db.lock(TableImport, self.run.id)
        if held is None or held.status is not ImportStatus.running or held.rows_read != self.run.rows_read:
            raise Superseded
        return held

    async def _refused(
        self, unit: Context, layout: Layout, row_key: int, made: list[StoredRow]
    ) -> list[tuple[int, Faults]]:
        """What only the database knows: values that are taken, and ids that name nothing."""
        refused = [
            (at, {name: message})
            for at, name, message in await missing_links(unit, layout, [row.values for row in made])
        ]
        refused += [(at, {name: TAKEN}) for at, name in await taken_values(unit, layout, row_key, made)]
        return refused

    async def _move_on(self, unit: Context, held: TableImport, batch: Batch, outcome: _Outcome) -> None:
        changes: dict[str, Any] = {
            "rows_read": held.rows_read + len(batch.rows),
            "rows_created": held.rows_created + outcome.created,
            "rows_updated": held.rows_updated + outcome.updated,
            "rows_failed": held.rows_failed + len(outcome.faults),
        }
        room = MOST_ERRORS - len(held.errors)
        if outcome.faults and room > 0:
            first = held.rows_read + 1
            told = [{"row": first + at, "errors": outcome.faults[at]} for at in sorted(outcome.faults)]
            changes["errors"] = [*held.errors, *told[:room]]
        await unit.db.update(held, **changes)

        async def moved() -> None:
            self.run = held

        unit.after_commit(moved)
