"""The stored form of rows: values by column key, and copies in indexed slots (ADR 14)."""

import functools
import secrets
import threading
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Clock, Instant, instant_from_timestamp, parse_instant
from retinue.kit.context import Context
from retinue.kit.db.bulk import insert_rows
from retinue.kit.db.statements import Statement
from retinue.kit.db.types import json_text
from retinue.kit.json_types import JsonObject
from retinue.tables.models import Column, ColumnType, DataTable, rows
from retinue.tables.values import MAX_SAFE_INTEGER, slot_value, unique_text

SYSTEM_COLUMNS = ("id", "created_at", "updated_at")
_STORED = ("table_key", "id", "created_at", "updated_at", "data")

# In byte order, so that ids sort like the numbers they encode.
_LETTERS = "234567abcdefghijklmnopqrstuvwxyz"
_PAIRS = [first + second for first in _LETTERS for second in _LETTERS]
_RANDOM = bytes(_LETTERS.encode()[byte & 31] for byte in range(256))
_TIME_BITS, _COUNT_BITS, _RANDOM_LETTERS = 45, 20, 13

_decode = msgspec.json.Decoder(JsonObject).decode


class StoredRow(msgspec.Struct):
    """A row with its values by column key."""

    id: str
    created_at: Instant
    updated_at: Instant
    values: JsonObject


def read_row(record: Any) -> StoredRow:
    """Build a row from `id, created_at, updated_at, data`."""
    return StoredRow(record[0], record[1], record[2], _decode(record[3]))


ROW_COLUMNS = (rows.c.id, rows.c.created_at, rows.c.updated_at, rows.c.data)


class _RowIdGenerator:
    """Generates growing ids: milliseconds, a counter, and 65 random bits (ADR 17)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def generate(self, clock: Clock, count: int) -> list[str]:
        with self._lock:
            first = max(int(clock.time() * 1000) << _COUNT_BITS, self._last + 1)
            self._last = first + count - 1
        width = _RANDOM_LETTERS
        random = secrets.token_bytes(width * count).translate(_RANDOM).decode()
        return [
            f"row_{_encode(first + number)}{random[width * number : width * (number + 1)]}"
            for number in range(count)
        ]


def _encode(number: int) -> str:
    """Encode 65 bits as 13 letters."""
    return (
        _LETTERS[number >> 60 & 31]
        + _PAIRS[number >> 50 & 1023]
        + _PAIRS[number >> 40 & 1023]
        + _PAIRS[number >> 30 & 1023]
        + _PAIRS[number >> 20 & 1023]
        + _PAIRS[number >> 10 & 1023]
        + _PAIRS[number & 1023]
    )


_ids = _RowIdGenerator()


def new_row_key() -> int:
    """Return a random key; the unique constraint rejects a collision."""
    return secrets.randbits(62)


def new_rows(ctx: Context, many: list[JsonObject]) -> list[StoredRow]:
    now = ctx.now
    ids = _ids.generate(ctx.clock, len(many))
    return [StoredRow(id, now, now, values) for id, values in zip(ids, many, strict=True)]


class Layout:
    """Converts rows of one table between their stored and public form; create it once for many rows."""

    def __init__(self, table: DataTable) -> None:
        self.columns = table.columns
        self.by_name = {column.name: column for column in table.columns}
        self._slots = [column for column in table.columns if column.slot]
        self._uniques = [column for column in table.columns if column.unique_slot]
        self.slot_names = tuple(
            [str(column.slot) for column in self._slots]
            + [str(column.unique_slot) for column in self._uniques]
        )
        self._number_columns = [column.name for column in table.columns if column.type is ColumnType.number]

    def slot_values(self, values: JsonObject) -> list[Any]:
        """Return the values for the slots, in the order of `slot_names`."""
        slots: list[Any] = []
        for column in self._slots:
            value = values.get(column.key)
            slots.append(None if value is None else slot_value(column, value))
        for column in self._uniques:
            value = values.get(column.key)
            slots.append(None if value is None else unique_text(value))
        return slots

    def show(self, row: StoredRow) -> JsonObject:
        """Return the public, flat form of a row. Integers beyond the exact range become floats."""
        values = row.values
        shown: JsonObject = {"id": row.id}
        for column in self.columns:
            shown[column.name] = values.get(column.key)
        for name in self._number_columns:
            value = shown[name]
            if value.__class__ is int and abs(value) > MAX_SAFE_INTEGER:
                shown[name] = float(value)
        shown["created_at"] = row.created_at
        shown["updated_at"] = row.updated_at
        return shown

    def unique_column(self, constraint: str) -> Column | None:
        """Return the column whose unique index raised the violation."""
        return next(
            (column for column in self._uniques if constraint.endswith(f"_{column.unique_slot}")), None
        )


async def insert(
    ctx: Context,
    layout: Layout,
    row_key: int,
    many: Sequence[StoredRow],
    texts: Sequence[str] | None = None,
) -> None:
    """Insert rows; `texts` are their values as JSON, if already encoded."""
    names = (*_STORED, *layout.slot_names)
    await insert_rows(
        ctx.db,
        rows,
        names,
        [
            (row_key, row.id, row.created_at, row.updated_at, text, *layout.slot_values(row.values))
            for row, text in zip(many, texts or [json_text(row.values) for row in many], strict=True)
        ],
    )


async def update(
    ctx: Context, layout: Layout, row_key: int, many: Iterable[StoredRow], cleared_slots: tuple[str, ...] = ()
) -> None:
    """Rewrite rows; `cleared_slots` are slots that no column uses any more."""
    cleared = {f"new_{name}": None for name in cleared_slots}
    given = [
        {
            "row_key": row_key,
            "row_id": row.id,
            "new_updated_at": row.updated_at,
            "new_data": row.values,
            **dict(
                zip(
                    (f"new_{name}" for name in layout.slot_names), layout.slot_values(row.values), strict=True
                )
            ),
            **cleared,
        }
        for row in many
    ]
    if given:
        await ctx.db.execute_many(
            _update_statement(("updated_at", "data", *layout.slot_names, *cleared_slots)), given
        )


@functools.lru_cache(maxsize=256)
def _update_statement(names: tuple[str, ...]) -> Statement[Any]:
    values = {name: sa.bindparam(f"new_{name}", type_=rows.c[name].type) for name in names}
    return Statement(
        sa.update(rows)
        .where(
            rows.c.table_key == sa.bindparam("row_key", type_=sa.BigInteger()),
            rows.c.id == sa.bindparam("row_id", type_=rows.c.id.type),
        )
        .values(values)
    )


def next_updated_at(row: StoredRow, now: Instant) -> Instant:
    """Return an instant after the row's last change, even if the clock has not advanced."""
    if now > row.updated_at:
        return now
    return instant_from_timestamp(parse_instant(row.updated_at).timestamp() + 1e-6)
