"""The parts that an exporter has not sent yet: the next batch, and the removal of what it is done with."""

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.chat.models import ChatLog
from retinue.chat.traced_turns import SPANS_OF_PLAIN_TURN
from retinue.kit.clock import Instant
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.tracing.models import QueuedTracePart, TracePart
from retinue.traces.queries import parts_by_id

MAX_BATCH_SPANS = 512
_MAX_BATCH_PARTS = 256

_queue, _parts, _logs = QueuedTracePart.__table__, TracePart.__table__, ChatLog.__table__
_exporter = _queue.c.exporter_id == sa.bindparam("exporter_id", type_=sa.Text())
_is_same_part = sa.and_(_parts.c.id == _queue.c.part_id, _parts.c.tenant_id == _queue.c.tenant_id)
_is_same_turn = sa.and_(
    _logs.c.id == _queue.c.part_id, _logs.c.tenant_id == _queue.c.tenant_id, _logs.c.trace_ns.is_not(None)
)


def _waiting(*columns: sa.Column[Any]) -> list[sa.Select[Any]]:
    """Return the queries of the waiting parts and of the waiting plain turns, with their numbers of spans."""
    count = sa.literal(SPANS_OF_PLAIN_TURN, sa.BigInteger())
    return [
        sa.select(*columns, _parts.c.span_count.label("spans"))
        .select_from(_queue)
        .join(_parts, _is_same_part)
        .where(_exporter),
        sa.select(*columns, count.label("spans"))
        .select_from(_queue)
        .join(_logs, _is_same_turn)
        .where(_exporter),
    ]


def _oldest() -> Statement[Any]:
    branches = [
        query.order_by(_queue.c.id).limit(_MAX_BATCH_PARTS).subquery()
        for query in _waiting(_queue.c.id, _queue.c.part_id)
    ]
    found = sa.union_all(*map(sa.select, branches)).subquery()
    return Statement(sa.select(found).order_by(found.c.id).limit(_MAX_BATCH_PARTS))


_OLDEST = _oldest()
_REMOVE = Statement(sa.delete(_queue).where(in_list(_queue.c.id, "ids")))
_is_old = sa.and_(_exporter, _queue.c.created_at < sa.bindparam("before", type_=sa.Text()))
_old_spans = sa.union_all(*(query.where(_is_old) for query in _waiting())).subquery()
_OLD_SPANS = Statement(sa.select(sa.func.coalesce(sa.func.sum(_old_spans.c.spans), 0)), heavy=True)
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
    return ExportBatch(queue_ids, await parts_by_id(db, part_ids))


async def remove(db: SystemDb, queue_ids: Sequence[str]) -> None:
    await db.execute(_REMOVE, ids=list_parameter(queue_ids))


async def remove_older(db: SystemDb, exporter_id: str, before: Instant) -> int:
    """Give up what has waited longer; return the number of spans."""
    count = int(await db.scalar(_OLD_SPANS, exporter_id=exporter_id, before=before))
    await db.execute(_REMOVE_OLD, exporter_id=exporter_id, before=before)
    return count
