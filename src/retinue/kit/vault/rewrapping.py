"""Every sealed column of every record: the key versions of its values, and moving them to the active one."""

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import sqlalchemy as sa
import structlog

from retinue.kit.crypto import DecryptFailed, Place, version_header
from retinue.kit.db.models import RECORDS, Record
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.unit import Unit
from retinue.kit.failpoints import failpoint
from retinue.kit.instance import Instance

log = structlog.get_logger("retinue.vault")

BATCH = 200

_HEADER_BYTES = len(version_header(1))


class Column(msgspec.Struct, frozen=True):
    """A sealed field of a record."""

    record: type[Record]
    field: str

    @property
    def table(self) -> sa.Table:
        return self.record.__table__

    @property
    def ciphertext(self) -> sa.Column[Any]:
        return self.table.c[self.field]

    @property
    def key(self) -> list[sa.Column[Any]]:
        return list(self.table.primary_key.columns)

    @property
    def header(self) -> Any:
        return sa.func.substr(self.ciphertext, 1, _HEADER_BYTES, type_=sa.LargeBinary())

    @property
    def is_behind(self) -> Any:
        """Sealed under a version before the one whose header is bound as `header`."""
        return self.header < sa.bindparam("header", type_=sa.LargeBinary())

    def place(self, row: dict[str, Any]) -> Place:
        return Place(row.get("tenant_id", ""), self.table.name, row["id"], self.field)


class Moved(msgspec.Struct):
    """What was done; `unreadable` values stay as they are, under the keys they name."""

    count: int = 0
    unreadable: list[Place] = []


def sealed_columns() -> Iterator[Column]:
    for name, record in sorted(RECORDS.items()):
        if not name.startswith("test_"):
            yield from (Column(record, field) for field in record.__shape__.sealed)


async def count_versions(instance: Instance) -> Counter[bytes]:
    """How many sealed values begin with which version's header."""
    system = SystemDb(Unit(instance.database, reads_freely=True), instance.clock, instance.ring)
    found: Counter[bytes] = Counter()
    for column in sealed_columns():
        rows: list[Any] = await system.rows(_versions(column))
        for header, count in rows:
            found[bytes(header)] += count
    return found


async def count_behind(instance: Instance, version: int) -> int:
    """How many values are sealed under versions before this one."""
    newest = version_header(version)
    return sum(count for header, count in (await count_versions(instance)).items() if header < newest)


async def move_to_active(instance: Instance, moved: Moved, on_batch: Callable[[], None]) -> None:
    """Wrap every value of an older version anew; what others hold at the moment is left for another time."""
    moved.unreadable.clear()
    for column in sealed_columns():
        after: list[str] | None = [""] * len(column.key)
        while after is not None:
            after = await _move_batch(instance, column, after, moved)
            on_batch()


async def _move_batch(instance: Instance, column: Column, after: list[str], moved: Moved) -> list[str] | None:
    """One transaction; the key of its last row, or None when there was none."""
    unit = Unit(instance.database, reads_freely=False)
    try:
        rows = await _next_batch(instance, unit, column, after)
        changes = _rewrapped(instance, column, rows, moved)
        if changes:
            replace = _replace(column).compiled(instance.database.dialect, narrow=False)
            await unit.change_many(replace, [replace.arguments(change) for change in changes])
            failpoint("rotate_before_commit")
        await unit.commit()
    except BaseException:
        await unit.rollback()
        raise
    if changes:
        failpoint("rotate_after_commit")
    moved.count += len(changes)
    return [rows[-1][part.name] for part in column.key] if rows else None


async def _next_batch(
    instance: Instance, unit: Unit, column: Column, after: list[str]
) -> list[dict[str, Any]]:
    system = SystemDb(unit, instance.clock, instance.ring)
    names = [*(part.name for part in column.key), "ciphertext"]
    given = {f"after_{part.name}": value for part, value in zip(column.key, after, strict=True)}
    header = version_header(instance.ring.active)
    rows: list[Any] = await system.rows(_batch(column), header=header, size=BATCH, **given)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _rewrapped(
    instance: Instance, column: Column, rows: list[dict[str, Any]], moved: Moved
) -> list[dict[str, Any]]:
    changes = []
    for row in rows:
        place, old = column.place(row), bytes(row["ciphertext"])
        try:
            new = instance.ring.rewrap(old, place)
        except DecryptFailed:
            moved.unreadable.append(place)
            log.warning("sealed_value_unreadable", **msgspec.structs.asdict(place))
            continue
        key = {f"key_{part.name}": row[part.name] for part in column.key}
        changes.append({**key, "old": old, "new": new})
    return changes


@functools.cache
def _versions(column: Column) -> Statement[Any]:
    header = column.header.label("header")
    counted = sa.select(header, sa.func.count()).where(column.ciphertext.is_not(None))
    return Statement(counted.group_by(header), heavy=True)


@functools.cache
def _batch(column: Column) -> Statement[Any]:
    """Rows that others hold are passed over: waiting for one while holding some could deadlock."""
    key = column.key
    after = [sa.bindparam(f"after_{part.name}", type_=part.type) for part in key]
    return Statement(
        sa.select(*key, column.ciphertext)
        .where(column.is_behind, sa.tuple_(*key) > sa.tuple_(*after))
        .order_by(*key)
        .limit(sa.bindparam("size", type_=sa.Integer()))
        .with_for_update(skip_locked=True)
    )


@functools.cache
def _replace(column: Column) -> Statement[Any]:
    """Only the very value that was read is replaced: a change made meanwhile stays."""
    same = [part == sa.bindparam(f"key_{part.name}", type_=part.type) for part in column.key]
    unchanged = column.ciphertext == sa.bindparam("old", type_=sa.LargeBinary())
    values = {column.field: sa.bindparam("new", type_=sa.LargeBinary())}
    return Statement(sa.update(column.table).where(*same, unchanged).values(values))
