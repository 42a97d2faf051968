"""Dispatches events from the outbox: enqueues the listeners' jobs and marks the events in one transaction."""

from collections import defaultdict
from collections.abc import Iterable

import sqlalchemy as sa
import structlog

from retinue.kit.context.instance import Instance
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.events.declare import EventOccurred, Listener
from retinue.kit.events.models import EventEntry
from retinue.kit.events.outbox import OutboxReader
from retinue.kit.events.routing import DispatchedEvent, Router, WorkerTransaction
from retinue.kit.jobs.enqueue import enqueue

log = structlog.get_logger("retinue.events")

MAX_HOPS = 8

_events = EventEntry.__table__
_MARK_DISPATCHED = Statement(
    sa.update(_events)
    .where(_events.c.tenant_id == sa.bindparam("event_tenant"), _events.c.id == sa.bindparam("event_id"))
    .values(is_dispatched=sa.true())
)


class EventDispatcher:
    """Dispatches pending events to the listeners and routers of the manifests."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._outbox = OutboxReader()
        self._listeners = _by_event(instance.registry.all(Listener))
        self._routers = instance.registry.all(Router)

    async def run(self, unit: UnitOfWork) -> int:
        """Dispatch one batch in the given transaction and return the number of events."""
        system = SystemDb(unit, self._instance.clock, self._instance.ring)
        events = await self._outbox.take(system)
        if not events:
            return 0
        routing = WorkerTransaction(self._instance, system)
        dispatchable = [event for event in events if not self._exceeds_hop_limit(event)]
        for event in dispatchable:
            for listener in (*self._listeners.get(event.type, ()), *self._listeners.get("*", ())):
                if all(event.data.get(name) == value for name, value in listener.only):
                    payload = EventOccurred(event_id=event.id, type=event.type)
                    key = f"{event.id}:{listener.job.name}"
                    routing.defer(event, listener.job, payload, dedupe_key=key)
        for router in self._routers:
            await router.route(routing, dispatchable)
        await enqueue(unit, self._instance.clock, routing.jobs)
        mark_dispatched = _MARK_DISPATCHED.compiled(unit.database.dialect, narrow=False)
        arguments = [
            mark_dispatched.arguments({"event_tenant": event.tenant_id, "event_id": event.id})
            for event in events
        ]
        await unit.change_many(mark_dispatched, arguments)
        return len(events)

    def _exceeds_hop_limit(self, event: DispatchedEvent) -> bool:
        """Return whether the event's causal chain is too long; such a chain is probably a loop."""
        if event.hops < MAX_HOPS:
            return False
        log.warning(
            "event_chain_cut",
            event_id=event.id,
            type=event.type,
            tenant_id=event.tenant_id,
            correlation_id=event.correlation_id,
        )
        return True


def _by_event(listeners: Iterable[Listener]) -> dict[str, list[Listener]]:
    by_event: defaultdict[str, list[Listener]] = defaultdict(list)
    for listener in listeners:
        by_event[listener.event].append(listener)
    return dict(by_event)
