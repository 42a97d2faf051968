"""Rows of an hour become one for each combination of what they are about."""

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.kit.context import Context
from retinue.kit.db.one_of import listed, one_of
from retinue.kit.db.statements import Statement, reading
from retinue.usage.models import COUNTERS, DIMENSIONS, UsageEntry

_BATCH = 2000

_entries = UsageEntry.__table__
_NEW: Statement[Any] = Statement(
    sa.select(_entries.c.id)
    .where(_entries.c.is_new.is_(sa.true()))
    .order_by(_entries.c.tenant_id, _entries.c.id)
    .limit(_BATCH)
)
# What is taken is what is added up: two who compact at once share the rows, and count none twice.
_TAKE = reading(
    UsageEntry,
    sa.delete(_entries)
    .where(one_of(_entries.c.id, "ids"), _entries.c.is_new.is_(sa.true()))
    .returning(*_entries.c),
)


def _upsert() -> Statement[Any]:
    insert = postgresql.insert(_entries)
    changed: dict[str, Any] = {name: _entries.c[name] + insert.excluded[name] for name in COUNTERS}
    changed["updated_at"] = insert.excluded.updated_at
    return Statement(insert.on_conflict_do_update(index_elements=["tenant_id", "id"], set_=changed))


_JOIN = _upsert()


async def compact(ctx: Context) -> int:
    """Merge one batch of new rows, of whichever tenants; how many there were."""
    async with ctx.unit() as unit:
        system = unit.system("usage of every tenant is compacted")
        found = [row[0] for row in await system.rows(_NEW)]
        taken = await system.rows(_TAKE, ids=listed(found))
        merged = _merged(taken)
        # In one order everywhere, so that two who compact at once never wait for each other.
        await system.execute_many(
            _JOIN, [msgspec.structs.asdict(merged[key]) for key in sorted(merged, key=str)]
        )
    return len(found)


def is_more(compacted: int) -> bool:
    return compacted == _BATCH


def _merged(rows: Iterable[UsageEntry]) -> dict[tuple[str, str], UsageEntry]:
    merged: dict[tuple[str, str], UsageEntry] = {}
    for row in rows:
        about = (row.hour, *(getattr(row, name) for name in DIMENSIONS), row.provider_key_id)
        id = f"use_{hashlib.sha256(msgspec.json.encode(about)).hexdigest()[:32]}"
        known = merged.get((row.tenant_id, id))
        if known is None:
            row.id, row.is_new = id, False
            merged[row.tenant_id, id] = row
            continue
        for name in COUNTERS:
            setattr(known, name, getattr(known, name) + getattr(row, name))
    return merged
