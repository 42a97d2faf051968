"""One batch of an import: parse the rows, store them and record the progress in one transaction."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from retinue.adapters.sheets import Cells
from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.db.types import json_text
from retinue.kit.errors import InternalError
from retinue.kit.jobs.declare import RetryLater
from retinue.kit.json_types import JsonObject
from retinue.tables import rows, storage
from retinue.tables.loaders import fetch_for_writing, fetch_table
from retinue.tables.models import Column, DataTable, ImportMode, ImportStatus, TableImport
from retinue.tables.row_validation import (
    VALUE_TAKEN_MESSAGE,
    Faults,
    RowValidator,
    find_missing_references,
    find_taken_values,
)
from retinue.tables.storage import Layout, StoredRow
from retinue.tables.transfers.import_mapping import CellMap
from retinue.tables.transfers.import_problems import describe_problems
from retinue.tables.upsert_plan import lock_table, matched_columns, plan_upsert
from retinue.tables.values import cell_reader

BATCH_SIZE = 2000
MAX_REPORTED_ERRORS = 100
_MAX_ATTEMPTS = 3
_MAX_UNMAPPED = 100
_MAX_NAME_LENGTH = 200


class ImportSuperseded(InternalError):
    """The import was cancelled, or another worker continues it."""


class ImportBatch(msgspec.Struct):
    header: list[str] | None
    rows: list[Cells]
    lines: list[int | None] = []


class _Outcome(msgspec.Struct):
    created: int = 0
    updated: int = 0
    faults: dict[int, Faults] = {}


class BatchWriter:
    """Writes an import batch by batch; `run` is the import after the last committed batch."""

    def __init__(self, ctx: Context, run: TableImport) -> None:
        self._ctx = ctx
        self.run = run
        self._table: DataTable | None = None
        self._layout: Layout | None = None
        self._cells: CellMap | None = None

    async def write(self, batch: ImportBatch) -> None:
        await self._load_layout(batch)
        if not batch.rows:
            return
        for attempt in range(_MAX_ATTEMPTS):
            try:
                await (self._upsert(batch) if self.run.mode is ImportMode.upsert else self._append(batch))
            except UniqueViolation:
                # Another transaction added the same value; the retry finds it.
                if attempt == _MAX_ATTEMPTS - 1:
                    raise
            else:
                return

    async def _load_layout(self, batch: ImportBatch) -> None:
        if self._layout is None:
            self._table = await fetch_table(self._ctx, self.run.table_id)
            self._layout = Layout(self._table)
        if self._cells is None and (batch.header is not None or batch.rows):
            is_whole = self.run.mode is not ImportMode.upsert
            self._cells = CellMap(self._layout, batch.header, self.run.mapping, is_whole=is_whole)

    def _reader(self, column: Column) -> Callable[[Any], Any]:
        return cell_reader(column, of_sheet=self.run.format != "json")

    def _require_same_columns(self, table: DataTable) -> Layout:
        assert self._layout is not None
        if table.columns != self._layout.columns:
            raise RetryLater(1, "The columns of the table have changed.")
        return self._layout

    async def _append(self, batch: ImportBatch) -> None:
        """Parse the values, which is the costly part, before the transaction opens."""
        assert self._cells is not None
        read = self._cells.values
        faults: dict[int, Faults] = {}
        places: list[int] = []
        many: list[JsonObject] = []
        for at, cells in enumerate(batch.rows):
            values, row_faults = read(cells)
            if row_faults is not None:
                faults[at] = row_faults
            else:
                places.append(at)
                many.append(values)
        texts = [json_text(values) for values in many]
        for at, text in zip(places, texts, strict=True):
            if len(text) > rows.MAX_ROW_BYTES:
                faults[at] = {"row": f"must be at most {rows.MAX_ROW_BYTES // 1024} KiB"}
        async with self._ctx.unit() as unit:
            locked = await self._lock_import(unit)
            table = await fetch_for_writing(unit, locked.table_id)
            layout = self._require_same_columns(table)
            made = storage.new_rows(unit, many)
            for at, wrong in await self._find_conflicts(unit, layout, locked.row_key, made):
                faults.setdefault(places[at], {}).update(wrong)
            valid = [
                (row, text) for at, row, text in zip(places, made, texts, strict=True) if at not in faults
            ]
            added = [row for row, _ in valid]
            await self._store(unit, layout, locked.row_key, added, (), [text for _, text in valid])
            if locked.mode is ImportMode.append:
                self._count(unit, table, len(added))
            await self._record_progress(unit, locked, batch, _Outcome(created=len(added), faults=faults))

    async def _upsert(self, batch: ImportBatch) -> None:
        assert self._cells is not None
        given = [self._cells.given(cells) for cells in batch.rows]
        async with self._ctx.unit() as unit:
            locked = await self._lock_import(unit)
            table = await lock_table(unit, locked.table_id)
            layout = self._require_same_columns(table)
            columns = matched_columns(layout, table, locked.match)
            plan = await plan_upsert(
                unit, table, columns, given, RowValidator(layout, make_reader=self._reader)
            )
            faults = dict(plan.faults)
            places = {
                planned_row.row.id: at
                for at, planned_row in enumerate(plan.planned)
                if planned_row is not None
            }
            created, updated = plan.created(), plan.updated()
            touched = [*updated, *created]
            for at, wrong in await self._find_conflicts(unit, layout, table.row_key, touched):
                faults.setdefault(places[touched[at].id], {}).update(wrong)
            for row in touched:
                if rows.is_too_large(row):
                    faults.setdefault(places[row.id], {}).update({"row": "is too large"})
            created = [row for row in created if places[row.id] not in faults]
            updated = [row for row in updated if places[row.id] not in faults]
            await self._store(unit, layout, table.row_key, created, updated)
            self._count(unit, table, len(created))
            done = len(batch.rows) - len(faults)
            new = self._count_new(created, columns)
            outcome = _Outcome(created=new, updated=done - new, faults=faults)
            await self._record_progress(unit, locked, batch, outcome)

    async def _store(
        self,
        unit: Context,
        layout: Layout,
        row_key: int,
        created: list[StoredRow],
        updated: Sequence[StoredRow],
        texts: list[str] | None = None,
    ) -> None:
        await storage.update(unit, layout, row_key, updated)
        await storage.insert(unit, layout, row_key, created, texts)

    def _count(self, unit: Context, table: DataTable, more: int) -> None:
        rows.change_count(unit, table, more)

    def _count_new(self, created: list[StoredRow], columns: list[Column]) -> int:  # noqa: ARG002  for dry runs
        return len(created)

    async def _lock_import(self, unit: Context) -> TableImport:
        locked = await unit.db.lock(TableImport, self.run.id)
        if (
            locked is None
            or locked.status is not ImportStatus.running
            or locked.rows_read != self.run.rows_read
        ):
            raise ImportSuperseded
        return locked

    async def _find_conflicts(
        self, unit: Context, layout: Layout, row_key: int, made: list[StoredRow]
    ) -> list[tuple[int, Faults]]:
        """Return errors that only the database knows: taken values and missing references."""
        conflicts = [
            (at, {name: message})
            for at, name, message in await find_missing_references(unit, layout, [row.values for row in made])
        ]
        conflicts += [
            (at, {name: VALUE_TAKEN_MESSAGE})
            for at, name in await find_taken_values(unit, layout, row_key, made)
        ]
        return conflicts

    def _unmapped(self, locked: TableImport, batch: ImportBatch) -> list[str]:
        assert self._cells is not None
        names = (storable_text(name, _MAX_NAME_LENGTH) for name in self._cells.unmapped(batch.rows))
        return list(dict.fromkeys((*locked.unmapped_columns, *names)))[:_MAX_UNMAPPED]

    async def _record_progress(
        self, unit: Context, locked: TableImport, batch: ImportBatch, outcome: _Outcome
    ) -> None:
        changes: JsonObject = {
            "rows_read": locked.rows_read + len(batch.rows),
            "rows_created": locked.rows_created + outcome.created,
            "rows_updated": locked.rows_updated + outcome.updated,
            "rows_failed": locked.rows_failed + len(outcome.faults),
        }
        remaining = MAX_REPORTED_ERRORS - len(locked.errors)
        if outcome.faults and remaining > 0:
            first = locked.rows_read + 1
            reported = [{"row": first + at, "errors": outcome.faults[at]} for at in sorted(outcome.faults)]
            changes["errors"] = [*locked.errors, *reported[:remaining]]
        if outcome.faults:
            changes |= describe_problems(locked, batch.lines, outcome.faults)
        unmapped = self._unmapped(locked, batch)
        if unmapped != locked.unmapped_columns:
            changes["unmapped_columns"] = unmapped
        await unit.db.update(locked, **changes)

        async def moved() -> None:
            self.run = locked

        unit.after_commit(moved)


def storable_text(text: str, max_length: int) -> str:
    """Return the beginning of a text without NULs, which PostgreSQL takes in no JSON."""
    return text[:max_length].replace("\0", "\ufffd")
