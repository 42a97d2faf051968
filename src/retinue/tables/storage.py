"""A row as it is stored: its values under the keys of their columns, and copies where they are indexed."""

import functools
import secrets
import threading
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Clock, Instant, instant_at, moment
from retinue.kit.context import Context
from retinue.kit.db.bulk import insert_rows
from retinue.kit.db.statements import Statement
from retinue.kit.db.types import json_text
from retinue.tables.models import Column, ColumnType, DataTable, rows
from retinue.tables.values import LARGEST_INTEGER, slot_value, unique_text

OWN = ("id", "created_at", "updated_at")
_STORED = ("table_key", "id", "created_at", "updated_at", "data")

# In the order of their bytes, so that ids sort as the numbers in them do.
_LETTERS = "234567abcdefghijklmnopqrstuvwxyz"
_PAIRS = [first + second for first in _LETTERS for second in _LETTERS]
_RANDOM = bytes(_LETTERS.encode()[byte & 31] for byte in range(256))
_TIME_BITS, _COUNT_BITS, _RANDOM_LETTERS = 45, 20, 13

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class StoredRow(msgspec.Struct):
    """A row with its values by the keys of the columns."""

    id: str
    created_at: Instant
    updated_at: Instant
    values: dict[str, Any]


def read_row(found: Any) -> StoredRow:
    """From `id, created_at, updated_at, data` in this order."""
    return StoredRow(found[0], found[1], found[2], _decode(found[3]))


SHOWN = (rows.c.id, rows.c.created_at, rows.c.updated_at, rows.c.data)


class _Ids:
    """Ids that grow: milliseconds, a count within them, and 65 random bits that nobody can guess."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def take(self, clock: Clock, many: int) -> list[str]:
        with self._lock:
            first = max(int(clock.time() * 1000) << _COUNT_BITS, self._last + 1)
            self._last = first + many - 1
        width = _RANDOM_LETTERS
        random = secrets.token_bytes(width * many).translate(_RANDOM).decode()
        return [
            f"row_{_written(first + number)}{random[width * number : width * (number + 1)]}"
            for number in range(many)
        ]


def _written(number: int) -> str:
    """65 bits as 13 letters."""
    return (
        _LETTERS[number >> 60 & 31]
        + _PAIRS[number >> 50 & 1023]
        + _PAIRS[number >> 40 & 1023]
        + _PAIRS[number >> 30 & 1023]
        + _PAIRS[number >> 20 & 1023]
        + _PAIRS[number >> 10 & 1023]
        + _PAIRS[number & 1023]
    )


_ids = _Ids()


def new_row_key() -> int:
    """By chance, so that nobody has to count; a second table with the same one cannot be stored."""
    return secrets.randbits(62)


def new_rows(ctx: Context, many: list[dict[str, Any]]) -> list[StoredRow]:
    now = ctx.now
    ids = _ids.take(ctx.clock, len(many))
    return [StoredRow(id, now, now, values) for id, values in zip(ids, many, strict=True)]


class Layout:
    """How the rows of one table are stored and shown, worked out once for many rows."""

    def __init__(self, table: DataTable) -> None:
        self.columns = table.columns
        self.by_name = {column.name: column for column in table.columns}
        self._slots = [column for column in table.columns if column.slot]
        self._uniques = [column for column in table.columns if column.unique_slot]
        self.slot_names = tuple(
            [str(column.slot) for column in self._slots]
            + [str(column.unique_slot) for column in self._uniques]
        )
        self._large = [column.name for column in table.columns if column.type is ColumnType.number]

    def copies(self, values: dict[str, Any]) -> list[Any]:
        """What goes into the slots, in the order of `slot_names`."""
        found: list[Any] = []
        for column in self._slots:
            value = values.get(column.key)
            found.append(None if value is None else slot_value(column, value))
        for column in self._uniques:
            value = values.get(column.key)
            found.append(None if value is None else unique_text(value))
        return found

    def show(self, row: StoredRow) -> dict[str, Any]:
        """Flat, as the public row is; numbers too large to be whole exactly are no integers."""
        values = row.values
        shown: dict[str, Any] = {"id": row.id}
        for column in self.columns:
            shown[column.name] = values.get(column.key)
        for name in self._large:
            value = shown[name]
            if value.__class__ is int and abs(value) > LARGEST_INTEGER:
                shown[name] = float(value)
        shown["created_at"] = row.created_at
        shown["updated_at"] = row.updated_at
        return shown

    def unique_column(self, constraint: str) -> Column | None:
        """Whose index it is that a value was refused by."""
        return next((one for one in self._uniques if constraint.endswith(f"_{one.unique_slot}")), None)


async def insert(
    ctx: Context,
    layout: Layout,
    row_key: int,
    many: Sequence[StoredRow],
    texts: Sequence[str] | None = None,
) -> None:
    """Add these rows; `texts` are their values as JSON, where someone has them already."""
    names = (*_STORED, *layout.slot_names)
    await insert_rows(
        ctx.db,
        rows,
        names,
        [
            (row_key, row.id, row.created_at, row.updated_at, text, *layout.copies(row.values))
            for row, text in zip(many, texts or [json_text(row.values) for row in many], strict=True)
        ],
    )


async def update(
    ctx: Context, layout: Layout, row_key: int, many: Iterable[StoredRow], emptied: tuple[str, ...] = ()
) -> None:
    """Write these rows anew; `emptied` are slots that no column has any more."""
    nothing = {f"new_{name}": None for name in emptied}
    given = [
        {
            "row_key": row_key,
            "row_id": row.id,
            "new_updated_at": row.updated_at,
            "new_data": row.values,
            **dict(
                zip((f"new_{name}" for name in layout.slot_names), layout.copies(row.values), strict=True)
            ),
            **nothing,
        }
        for row in many
    ]
    if given:
        await ctx.db.execute_many(_update(("updated_at", "data", *layout.slot_names, *emptied)), given)


@functools.lru_cache(maxsize=256)
def _update(names: tuple[str, ...]) -> Statement[Any]:
    values = {name: sa.bindparam(f"new_{name}", type_=rows.c[name].type) for name in names}
    return Statement(
        sa.update(rows)
        .where(
            rows.c.table_key == sa.bindparam("row_key", type_=sa.BigInteger()),
            rows.c.id == sa.bindparam("row_id", type_=rows.c.id.type),
        )
        .values(values)
    )


def later(row: StoredRow, now: Instant) -> Instant:
    """A moment after the row's last change, even where two changes fall into one."""
    if now > row.updated_at:
        return now
    return instant_at(moment(row.updated_at).timestamp() + 1e-6)
