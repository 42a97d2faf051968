"""Reads undispatched events: the oldest of each tenant, tenants in turn."""

import functools
from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.events.models import EventEntry
from retinue.kit.events.routing import DispatchedEvent, dispatched_event_from_row

# Nothing else is recorded on SQLite while a batch is dispatched, and its jobs start when all of it is.
OUTBOX_BATCH_SIZE = 100
_MIN_PER_TENANT = 20

_events = EventEntry.__table__
_COUNT = Statement(
    sa.select(sa.func.count()).select_from(_events).where(_events.c.is_dispatched == sa.false())
)

# Uses the full order of the partial index: for `min(tenant_id)` PostgreSQL may choose an index of all events
# while its statistics do not show how few are undispatched.
_FIRST = "SELECT tenant_id FROM event_log WHERE {where} ORDER BY tenant_id, created_at, position LIMIT 1"
# Skipping along the index costs the same whether a tenant has one undispatched event or a million.
_SOURCE = """WITH RECURSIVE tenants(tenant_id) AS (
    SELECT ({first})
    UNION ALL
    SELECT ({following}) FROM tenants WHERE tenants.tenant_id IS NOT NULL
)
SELECT {columns} FROM tenants {heads} LIMIT {batch}"""
_HEADS = """SELECT {columns} FROM event_log
    WHERE {undispatched} AND tenant_id = tenants.tenant_id ORDER BY created_at, position LIMIT :each"""


@functools.cache
def _undispatched_statement(dialect: str) -> Statement[DispatchedEvent]:
    names = DispatchedEvent.__struct_fields__
    if dialect == "postgresql":
        undispatched = "NOT is_dispatched"
        oldest = _HEADS.format(columns=", ".join(names), undispatched=undispatched)
        heads = f"CROSS JOIN LATERAL ({oldest} FOR UPDATE SKIP LOCKED) AS head"
    else:
        undispatched = "is_dispatched = 0"
        oldest = _HEADS.format(columns="rowid", undispatched=undispatched)
        heads = f"CROSS JOIN event_log AS head ON head.rowid IN ({oldest})"
    columns = ", ".join(f"head.{name}" for name in names)
    first = _FIRST.format(where=f"{undispatched} AND tenant_id > :after")
    following = _FIRST.format(where=f"{undispatched} AND tenant_id > tenants.tenant_id")
    source = _SOURCE.format(
        first=first, following=following, columns=columns, heads=heads, batch=OUTBOX_BATCH_SIZE
    )
    binds = sa.bindparam("after", type_=sa.Text()), sa.bindparam("each", type_=sa.BigInteger())
    return Statement(sa.text(source).bindparams(*binds), dispatched_event_from_row)


class OutboxReader:
    """The position of one process in its round through the tenants."""

    def __init__(self) -> None:
        self._after = ""
        self._per_tenant = OUTBOX_BATCH_SIZE

    async def take(self, system: SystemDb) -> list[DispatchedEvent]:
        """Return the next batch, in which every tenant gets a fair share."""
        events = await system.rows(
            _undispatched_statement(system.dialect), after=self._after, each=self._per_tenant
        )
        if not events and self._after:
            self._after = ""
            return await self.take(system)
        tenants = {event.tenant_id for event in events}
        self._per_tenant = max(_MIN_PER_TENANT, OUTBOX_BATCH_SIZE // max(1, len(tenants)))
        # Continue after the last tenant of a full batch, even if it filled the batch alone.
        self._after = events[-1].tenant_id if len(events) == OUTBOX_BATCH_SIZE else ""
        return events


async def count_undispatched(ctx: Context) -> dict[tuple[str, ...], tuple[float, ...]]:
    """Return how many events of all tenants await dispatch, for the metrics."""
    return {(): (float(await ctx.system("a metric over all tenants").scalar(_COUNT)),)}


def first_undispatched_tenant() -> Any:
    """Return a subquery for a tenant with undispatched events."""
    first = (
        sa.select(_events.c.tenant_id)
        .where(_events.c.is_dispatched == sa.false())
        .order_by(_events.c.tenant_id, _events.c.created_at, _events.c.position)
        .limit(sa.literal_column("1"))
    )
    return first.scalar_subquery()
