"""From the outbox to the listeners: a job for each, in the transaction that marks the event as handed on."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import msgspec
import sqlalchemy as sa
import structlog

from retinue.kit.db.session import SystemDb, Unit
from retinue.kit.db.statements import Statement
from retinue.kit.events.declare import EventOccurred
from retinue.kit.events.models import EventEntry
from retinue.kit.instance import Instance
from retinue.kit.jobs.declare import JobKind
from retinue.kit.jobs.enqueue import enqueue, new_job
from retinue.kit.jobs.models import Job
from retinue.kit.manifest import Listener

log = structlog.get_logger("retinue.events")

MOST_HOPS = 8

_BATCH = 100
_events = EventEntry.__table__


class _Waiting(msgspec.Struct):
    tenant_id: str
    id: str
    type: str
    correlation_id: str
    actor: str
    hops: int


_WAITING: Statement[_Waiting] = Statement(
    sa.select(*(_events.c[name] for name in _Waiting.__struct_fields__))
    .where(_events.c.is_dispatched == sa.false())
    .order_by(_events.c.created_at, _events.c.position)
    .limit(_BATCH)
    .with_for_update(skip_locked=True),
    lambda row: _Waiting(*row),
)
_HANDED_ON: Statement[Any] = Statement(
    sa.update(_events)
    .where(_events.c.tenant_id == sa.bindparam("event_tenant"), _events.c.id == sa.bindparam("event_id"))
    .values(is_dispatched=sa.true())
)


class Relay:
    """Hands waiting events to the listeners of the manifests, oldest first."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._listeners = _by_event(
            listener for manifest in instance.manifests for listener in manifest.listeners
        )

    async def run(self, unit: Unit) -> int:
        """One batch, in the given transaction; how many events it was."""
        system = SystemDb(unit, self._instance.clock, self._instance.ring)
        events: list[_Waiting] = await system.rows(_WAITING)
        if not events:
            return 0
        await enqueue(unit, self._instance.clock, [job for event in events for job in self._jobs_for(event)])
        handed_on = _HANDED_ON.compiled(unit.database.dialect, narrow=False)
        many = [
            handed_on.arguments({"event_tenant": event.tenant_id, "event_id": event.id}) for event in events
        ]
        await unit.change_many(handed_on, many)
        return len(events)

    def _jobs_for(self, event: _Waiting) -> list[Job]:
        kinds = [*self._listeners.get(event.type, ()), *self._listeners.get("*", ())]
        if kinds and event.hops >= MOST_HOPS:
            log.warning(
                "event_chain_cut",
                event_id=event.id,
                type=event.type,
                tenant_id=event.tenant_id,
                correlation_id=event.correlation_id,
            )
            return []
        return [
            new_job(
                kind,
                EventOccurred(event_id=event.id, type=event.type),
                now=self._instance.clock.time(),
                tenant_id=event.tenant_id,
                correlation_id=event.correlation_id,
                hops=event.hops + 1,
                actor=msgspec.json.decode(event.actor),
                dedupe_key=f"{event.id}:{kind.name}",
            )
            for kind in kinds
        ]


def _by_event(listeners: Iterable[Listener]) -> dict[str, list[JobKind[Any]]]:
    found: defaultdict[str, list[JobKind[Any]]] = defaultdict(list)
    for listener in listeners:
        found[listener.event].append(listener.job)
    return dict(found)
