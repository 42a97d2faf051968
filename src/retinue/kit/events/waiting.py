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

# Hopping along the index costs the same whether a tenant has one event waiting or a million.
_SOURCE = """WITH RECURSIVE tenants(tenant_id) AS (
    SELECT (SELECT min(tenant_id) FROM event_log WHERE {waits} AND tenant_id > :after)
    UNION ALL
    SELECT (SELECT min(tenant_id) FROM event_log WHERE {waits} AND tenant_id > tenants.tenant_id)
    FROM tenants WHERE tenants.tenant_id IS NOT NULL
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
    source = _SOURCE.format(waits=waits, columns=columns, heads=heads, batch=BATCH)
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
        self._after = found[-1].tenant_id if len(found) == BATCH and len(tenants) > 1 else ""
        return found


def first_waiting() -> Any:
    """A tenant with waiting events, as a subquery; asking for the first leaves PostgreSQL only the index."""
    first = sa.select(sa.func.min(_events.c.tenant_id)).where(_events.c.is_dispatched == sa.false())
    return first.scalar_subquery()
