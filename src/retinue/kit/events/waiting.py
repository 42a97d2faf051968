"""The events that wait to be handed on: of each tenant the oldest, tenants by turns."""

import functools
from typing import Any

import sqlalchemy as sa

from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.events.models import EventEntry
from retinue.kit.events.routing import Happened, as_happened

BATCH = 500
_LEAST_EACH = 100

_events = EventEntry.__table__

# In the whole order of the index of what waits: for `min(tenant_id)` PostgreSQL may take an index of all the
# events there ever were, as long as nobody has told it how few of them wait.
_FIRST = "SELECT tenant_id FROM event_log WHERE {where} ORDER BY tenant_id, created_at, position LIMIT 1"
# Hopping along the index costs the same whether a tenant has one event waiting or a million.
_SOURCE = """WITH RECURSIVE tenants(tenant_id) AS (
    SELECT ({first})
    UNION ALL
    SELECT ({following}) FROM tenants WHERE tenants.tenant_id IS NOT NULL
)
SELECT {columns} FROM tenants {heads} LIMIT {batch}"""
_HEADS = """SELECT {what} FROM event_log
    WHERE {waits} AND tenant_id = tenants.tenant_id ORDER BY created_at, position LIMIT :each"""


@functools.cache
def _waiting(dialect: str) -> Statement[Happened]:
    names = Happened.__struct_fields__
    if dialect == "postgresql":
        waits = "NOT is_dispatched"
        found = _HEADS.format(what=", ".join(names), waits=waits)
        heads = f"CROSS JOIN LATERAL ({found} FOR UPDATE SKIP LOCKED) AS head"
    else:
        waits = "is_dispatched = 0"
        heads = f"CROSS JOIN event_log AS head ON head.rowid IN ({_HEADS.format(what='rowid', waits=waits)})"
    columns = ", ".join(f"head.{name}" for name in names)
    first = _FIRST.format(where=f"{waits} AND tenant_id > :after")
    following = _FIRST.format(where=f"{waits} AND tenant_id > tenants.tenant_id")
    source = _SOURCE.format(first=first, following=following, columns=columns, heads=heads, batch=BATCH)
    binds = sa.bindparam("after", type_=sa.Text()), sa.bindparam("each", type_=sa.BigInteger())
    return Statement(sa.text(source).bindparams(*binds), as_happened)


class Waiting:
    """Where one process is in its round through the tenants."""

    def __init__(self) -> None:
        self._after = ""
        self._each = BATCH

    async def take(self, system: SystemDb) -> list[Happened]:
        """The next batch; a tenant that has much waiting gets its share of it."""
        found = await system.rows(_waiting(system.dialect), after=self._after, each=self._each)
        if not found and self._after:
            self._after = ""
            return await self.take(system)
        tenants = {event.tenant_id for event in found}
        self._each = max(_LEAST_EACH, BATCH // max(1, len(tenants)))
        # Whoever filled the batch alone has had its turn as well: the others come first next time.
        self._after = found[-1].tenant_id if len(found) == BATCH else ""
        return found


def first_waiting() -> Any:
    """A tenant with waiting events, as a subquery."""
    first = (
        sa.select(_events.c.tenant_id)
        .where(_events.c.is_dispatched == sa.false())
        .order_by(_events.c.tenant_id, _events.c.created_at, _events.c.position)
        .limit(sa.literal_column("1"))
    )
    return first.scalar_subquery()
