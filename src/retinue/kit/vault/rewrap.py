"""Counts the key versions of all sealed values and rewraps outdated values under the active version."""

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import sqlalchemy as sa
import structlog

from retinue.kit.context.instance import Instance
from retinue.kit.crypto import DecryptFailed, SealLocation, version_header
from retinue.kit.db.models import RECORDS, Record
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.failpoints import failpoint
from retinue.kit.json_types import JsonObject

log = structlog.get_logger("retinue.vault")

REWRAP_BATCH_ROWS = 200

_HEADER_BYTES = len(version_header(1))


class SealedField(msgspec.Struct, frozen=True):
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
    def is_outdated(self) -> Any:
        """Return the condition that a value's version is older than the one bound as `header`."""
        return self.header < sa.bindparam("header", type_=sa.LargeBinary())

    def location(self, row: JsonObject) -> SealLocation:
        return SealLocation(row.get("tenant_id", ""), self.table.name, row["id"], self.field)


class RewrapResult(msgspec.Struct):
    """The number of rewrapped values; `unreadable` values stay under their old key version."""

    count: int = 0
    unreadable: list[SealLocation] = []


def sealed_columns() -> Iterator[SealedField]:
    for name, record in sorted(RECORDS.items()):
        if not name.startswith("test_"):
            yield from (SealedField(record, field) for field in record.__shape__.sealed)


async def count_versions(instance: Instance) -> Counter[bytes]:
    """Count the sealed values by version header."""
    system = SystemDb(
        UnitOfWork(instance.database, reads_outside_transaction=True), instance.clock, instance.ring
    )
    counts: Counter[bytes] = Counter()
    for column in sealed_columns():
        rows: list[Any] = await system.rows(_versions(column))
        for header, count in rows:
            counts[bytes(header)] += count
    return counts


async def count_outdated(instance: Instance, version: int) -> int:
    """Count the values sealed under versions older than this one."""
    newest = version_header(version)
    return sum(count for header, count in (await count_versions(instance)).items() if header < newest)


async def rewrap_to_active(instance: Instance, result: RewrapResult, on_batch: Callable[[], None]) -> None:
    """Rewrap every value of an older version; rows locked by others are left for the next pass."""
    result.unreadable.clear()
    for column in sealed_columns():
        after: list[str] | None = [""] * len(column.key)
        while after is not None:
            after = await _rewrap_batch(instance, column, after, result)
            on_batch()


async def _rewrap_batch(
    instance: Instance, column: SealedField, after: list[str], result: RewrapResult
) -> list[str] | None:
    """Rewrap one batch in its own transaction; return the key of its last row, or None if it was empty."""
    unit = UnitOfWork(instance.database, reads_outside_transaction=False)
    try:
        rows = await _next_batch(instance, unit, column, after)
        changes = _rewrapped(instance, column, rows, result)
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
    result.count += len(changes)
    return [rows[-1][part.name] for part in column.key] if rows else None


async def _next_batch(
    instance: Instance, unit: UnitOfWork, column: SealedField, after: list[str]
) -> list[JsonObject]:
    system = SystemDb(unit, instance.clock, instance.ring)
    names = [*(part.name for part in column.key), "ciphertext"]
    cursor = {f"after_{part.name}": value for part, value in zip(column.key, after, strict=True)}
    header = version_header(instance.ring.active)
    rows: list[Any] = await system.rows(_batch(column), header=header, size=REWRAP_BATCH_ROWS, **cursor)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _rewrapped(
    instance: Instance, column: SealedField, rows: list[JsonObject], result: RewrapResult
) -> list[JsonObject]:
    changes = []
    for row in rows:
        location, old = column.location(row), bytes(row["ciphertext"])
        try:
            new = instance.ring.rewrap(old, location)
        except DecryptFailed:
            result.unreadable.append(location)
            log.warning("sealed_value_unreadable", **msgspec.structs.asdict(location))
            continue
        key = {f"key_{part.name}": row[part.name] for part in column.key}
        changes.append({**key, "old": old, "new": new})
    return changes


@functools.cache
def _versions(column: SealedField) -> Statement[Any]:
    header = column.header.label("header")
    counted = sa.select(header, sa.func.count()).where(column.ciphertext.is_not(None))
    return Statement(counted.group_by(header), heavy=True)


@functools.cache
def _batch(column: SealedField) -> Statement[Any]:
    """Select the next outdated rows; skip locked ones, because waiting while holding locks could deadlock."""
    key = column.key
    after = [sa.bindparam(f"after_{part.name}", type_=part.type) for part in key]
    return Statement(
        sa.select(*key, column.ciphertext)
        .where(column.is_outdated, sa.tuple_(*key) > sa.tuple_(*after))
        .order_by(*key)
        .limit(sa.bindparam("size", type_=sa.Integer()))
        .with_for_update(skip_locked=True)
    )


@functools.cache
def _replace(column: SealedField) -> Statement[Any]:
    """Replace a value only if it is still the one that was read, so that a concurrent change survives."""
    same = [part == sa.bindparam(f"key_{part.name}", type_=part.type) for part in column.key]
    unchanged = column.ciphertext == sa.bindparam("old", type_=sa.LargeBinary())
    values = {column.field: sa.bindparam("new", type_=sa.LargeBinary())}
    return Statement(sa.update(column.table).where(*same, unchanged).values(values))
