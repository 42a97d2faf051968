"""From the outbox to the listeners: jobs for each, in the transaction that marks the event as handed on."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
import structlog

from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.unit import Unit
from retinue.kit.events.declare import EventOccurred
from retinue.kit.events.models import EventEntry
from retinue.kit.events.routing import Happened, Routing
from retinue.kit.events.waiting import Waiting
from retinue.kit.instance import Instance
from retinue.kit.jobs.enqueue import enqueue
from retinue.kit.manifest import Listener

log = structlog.get_logger("retinue.events")

MOST_HOPS = 8

_events = EventEntry.__table__
_HANDED_ON: Statement[Any] = Statement(
    sa.update(_events)
    .where(_events.c.tenant_id == sa.bindparam("event_tenant"), _events.c.id == sa.bindparam("event_id"))
    .values(is_dispatched=sa.true())
)


class Relay:
    """Hands waiting events to the listeners of the manifests and to the routers."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._waiting = Waiting()
        self._listeners = _by_event(
            listener for manifest in instance.manifests for listener in manifest.listeners
        )
        self._routers = [router for manifest in instance.manifests for router in manifest.routers]

    async def run(self, unit: Unit) -> int:
        """One batch, in the given transaction; how many events it was."""
        system = SystemDb(unit, self._instance.clock, self._instance.ring)
        events = await self._waiting.take(system)
        if not events:
            return 0
        routing = Routing(self._instance, system)
        going_on = [event for event in events if not self._is_cut(event)]
        for event in going_on:
            for listener in (*self._listeners.get(event.type, ()), *self._listeners.get("*", ())):
                if all(event.data.get(name) == value for name, value in listener.only):
                    heard = EventOccurred(event_id=event.id, type=event.type)
                    key = f"{event.id}:{listener.job.name}"
                    routing.defer(event, listener.job, heard, dedupe_key=key)
        for router in self._routers:
            await router.route(routing, going_on)
        await enqueue(unit, self._instance.clock, routing.jobs)
        handed_on = _HANDED_ON.compiled(unit.database.dialect, narrow=False)
        many = [
            handed_on.arguments({"event_tenant": event.tenant_id, "event_id": event.id}) for event in events
        ]
        await unit.change_many(handed_on, many)
        return len(events)

    def _is_cut(self, event: Happened) -> bool:
        """A chain of causes that goes on for so long is one that feeds itself."""
        if event.hops < MOST_HOPS:
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
    found: defaultdict[str, list[Listener]] = defaultdict(list)
    for listener in listeners:
        found[listener.event].append(listener)
    return dict(found)
