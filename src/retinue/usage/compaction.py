"""Compaction of usage rows: one per hour and combination of dimensions."""

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.json_types import JsonObject
from retinue.usage.models import COUNTERS, DIMENSIONS, UsageEntry

_BATCH_SIZE = 2000

_entries = UsageEntry.__table__
_NEW_IDS = Statement(
    sa.select(_entries.c.id)
    .where(_entries.c.is_new == sa.true())
    .order_by(_entries.c.tenant_id, _entries.c.id)
    .limit(_BATCH_SIZE)
)
# Only the rows deleted here are summed, so concurrent compactions count none twice.
_DELETE_RETURNING = record_statement(
    UsageEntry,
    sa.delete(_entries)
    .where(in_list(_entries.c.id, "ids"), _entries.c.is_new == sa.true())
    .returning(*_entries.c),
)


def _upsert() -> Statement[Any]:
    insert = postgresql.insert(_entries)
    changed: JsonObject = {name: _entries.c[name] + insert.excluded[name] for name in COUNTERS}
    changed["updated_at"] = insert.excluded.updated_at
    return Statement(insert.on_conflict_do_update(index_elements=["tenant_id", "id"], set_=changed))


_MERGE = _upsert()


async def compact_batch(ctx: Context) -> int:
    """Merge one batch of new rows of any tenants; return its size."""
    async with ctx.unit() as unit:
        system = unit.system("usage of every tenant is compacted")
        new_ids = [row[0] for row in await system.rows(_NEW_IDS)]
        taken = await system.rows(_DELETE_RETURNING, ids=list_parameter(new_ids))
        merged = _merged(taken)
        # Always in the same order, to avoid deadlocks between concurrent compactions.
        await system.execute_many(
            _MERGE, [msgspec.structs.asdict(merged[key]) for key in sorted(merged, key=str)]
        )
    return len(new_ids)


def has_more(compacted: int) -> bool:
    return compacted == _BATCH_SIZE


def _merged(rows: Iterable[UsageEntry]) -> dict[tuple[str, str], UsageEntry]:
    merged: dict[tuple[str, str], UsageEntry] = {}
    for row in rows:
        dimensions = (row.hour, *(getattr(row, name) for name in DIMENSIONS), row.provider_key_id)
        id = f"use_{hashlib.sha256(msgspec.json.encode(dimensions)).hexdigest()[:32]}"
        existing = merged.get((row.tenant_id, id))
        if existing is None:
            row.id, row.is_new = id, False
            merged[row.tenant_id, id] = row
            continue
        for name in COUNTERS:
            setattr(existing, name, getattr(existing, name) + getattr(row, name))
    return merged
