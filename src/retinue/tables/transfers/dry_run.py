"""Imports that are only tried: they read and check every row as an import does, and store none."""

from collections.abc import Sequence

from retinue.adapters.sheets import Cells
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.tables.models import Column, DataTable, ImportMode
from retinue.tables.row_validation import VALUE_TAKEN_MESSAGE, Faults
from retinue.tables.storage import Layout, StoredRow
from retinue.tables.transfers.import_batches import BatchWriter, ImportBatch, storable_text
from retinue.tables.values import unique_text

MAX_SEEN_VALUES = 1_000_000
"""Up to so many unique values, a value that the file has twice is found wherever it stands."""
_SAMPLE_ROWS = 5
_SAMPLE_COLUMNS = 200
_SAMPLE_LENGTH = 200


class DryRunWriter(BatchWriter):
    """Checks batches against the table, and against the batches before, of which nothing is stored.

    If another worker goes on with the file, it does not know the values of the batches before.
    """

    _seen: set[int]
    _created: set[tuple[str, ...]]

    async def write(self, batch: ImportBatch) -> None:
        if not hasattr(self, "_seen"):
            self._seen, self._created = set(), set()
        if self.run.sample is None and (batch.header is not None or batch.rows):
            await self._keep_sample(batch)
        await super().write(batch)

    async def _keep_sample(self, batch: ImportBatch) -> None:
        async with self._ctx.unit() as unit:
            locked = await self._lock_import(unit)
            await unit.db.update(locked, sample=_sample(batch))
            self.run = locked

    async def _find_conflicts(
        self, unit: Context, layout: Layout, row_key: int, made: list[StoredRow]
    ) -> list[tuple[int, Faults]]:
        conflicts = await super()._find_conflicts(unit, layout, row_key, made)
        # An upsert changes the row that an earlier batch would have added.
        if self.run.mode is not ImportMode.upsert:
            conflicts += [(at, {name: VALUE_TAKEN_MESSAGE}) for at, name in self._repeated(layout, made)]
        return conflicts

    def _repeated(self, layout: Layout, made: list[StoredRow]) -> list[tuple[int, str]]:
        """Return rows with a unique value that an earlier batch had; remember those of this one."""
        repeated: list[tuple[int, str]] = []
        new: set[int] = set()
        for column in layout.columns:
            if column.unique_slot is None:
                continue
            for at, row in enumerate(made):
                value = row.values.get(column.key)
                if value is None:
                    continue
                mark = hash((column.key, unique_text(value)))
                if mark in self._seen:
                    repeated.append((at, column.name))
                new.add(mark)
        if len(self._seen) < MAX_SEEN_VALUES:
            self._seen |= new
        return repeated

    async def _store(
        self,
        unit: Context,
        layout: Layout,
        row_key: int,
        created: list[StoredRow],
        updated: Sequence[StoredRow],
        texts: list[str] | None = None,
    ) -> None:
        """Store nothing."""

    def _count(self, unit: Context, table: DataTable, more: int) -> None:
        """Leave the count as it is."""

    def _count_new(self, created: list[StoredRow], columns: list[Column]) -> int:
        """Return how many of these rows no earlier batch would have added."""
        keys = {tuple(repr(row.values.get(column.key)) for column in columns) for row in created}
        new = keys - self._created
        if len(self._created) < MAX_SEEN_VALUES:
            self._created |= new
        return len(new)


def _sample(batch: ImportBatch) -> JsonObject:
    """Return the names of the file's columns and its first rows, cut to what a preview shows."""
    first = batch.rows[:_SAMPLE_ROWS]
    if batch.header is not None:
        names = batch.header
    else:
        names = list(dict.fromkeys(name for cells in first if isinstance(cells, dict) for name in cells))
    names = names[:_SAMPLE_COLUMNS]
    return {
        "columns": [storable_text(name, _SAMPLE_LENGTH) for name in names],
        "rows": [[_shown(cells, at, name) for at, name in enumerate(names)] for cells in first],
    }


def _shown(cells: Cells, at: int, name: str) -> str:
    value = cells.get(name) if isinstance(cells, dict) else next(iter(cells[at : at + 1]), None)
    return "" if value is None else storable_text(str(value), _SAMPLE_LENGTH)
