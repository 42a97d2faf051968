"""The parts that an exporter has not sent yet: the next batch, and the removal of what it is done with."""

from collections.abc import Sequence

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.tracing.models import QueuedTracePart, TracePart

MAX_BATCH_SPANS = 512
_MAX_BATCH_PARTS = 256

_queue, _parts = QueuedTracePart.__table__, TracePart.__table__
_exporter = _queue.c.exporter_id == sa.bindparam("exporter_id", type_=sa.Text())
_is_same_part = sa.and_(_parts.c.id == _queue.c.part_id, _parts.c.tenant_id == _queue.c.tenant_id)
_OLDEST = Statement(
    sa.select(_queue.c.id, _queue.c.part_id, _parts.c.span_count)
    .join(_parts, _is_same_part)
    .where(_exporter)
    .order_by(_queue.c.id)
    .limit(_MAX_BATCH_PARTS)
)
_PARTS = record_statement(TracePart, sa.select(_parts).where(in_list(_parts.c.id, "ids")))
_REMOVE = Statement(sa.delete(_queue).where(in_list(_queue.c.id, "ids")))
_is_old = sa.and_(_exporter, _queue.c.created_at < sa.bindparam("before", type_=sa.Text()))
_OLD_SPANS = Statement(
    sa.select(sa.func.coalesce(sa.func.sum(_parts.c.span_count), 0))
    .join(_queue, _is_same_part)
    .where(_is_old),
    heavy=True,
)
_REMOVE_OLD = Statement(sa.delete(_queue).where(_is_old))


class ExportBatch(msgspec.Struct, frozen=True):
    queue_ids: list[str]
    parts: list[TracePart]


async def read_batch(db: SystemDb, exporter_id: str) -> ExportBatch:
    """Return the oldest parts, about `MAX_BATCH_SPANS` spans and at least one part; empty if none waits."""
    queue_ids: list[str] = []
    part_ids: list[str] = []
    span_count = 0
    for queue_id, part_id, spans in await db.rows(_OLDEST, exporter_id=exporter_id):
        if part_ids and span_count + spans > MAX_BATCH_SPANS:
            break
        queue_ids.append(queue_id)
        part_ids.append(part_id)
        span_count += spans
    parts = await db.rows(_PARTS, ids=list_parameter(part_ids)) if part_ids else []
    return ExportBatch(queue_ids, sorted(parts, key=lambda part: (part.created_at, part.id)))


async def remove(db: SystemDb, queue_ids: Sequence[str]) -> None:
    await db.execute(_REMOVE, ids=list_parameter(queue_ids))


async def remove_older(db: SystemDb, exporter_id: str, before: Instant) -> int:
    """Give up what has waited longer; return the number of spans."""
    count = int(await db.scalar(_OLD_SPANS, exporter_id=exporter_id, before=before))
    await db.execute(_REMOVE_OLD, exporter_id=exporter_id, before=before)
    return count
