"""Routing of events to listeners that tenants configure, such as webhooks and subscriptions."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar

import msgspec

from retinue.kit.context import Context
from retinue.kit.context.instance import Instance
from retinue.kit.db.session import SystemDb
from retinue.kit.events.models import EventEntry
from retinue.kit.events.public_data import public_data
from retinue.kit.jobs.declare import JobKind
from retinue.kit.jobs.enqueue import new_job
from retinue.kit.jobs.models import Job
from retinue.kit.json_types import JsonObject

P = TypeVar("P", bound=msgspec.Struct)


class DispatchedEvent(msgspec.Struct, gc=False):
    """An event on its way to its listeners; the fields are columns of the event log."""

    tenant_id: str
    id: str
    type: str
    category: str
    correlation_id: str
    subject_id: str
    data: JsonObject
    actor: dict[str, str]
    hops: int
    lineage: str
    trace_parent: str
    is_test: bool
    created_at: str

    def as_input(self) -> JsonObject:
        """Return the event as templates and workflows see it."""
        return {
            "id": self.id,
            "type": self.type,
            "category": self.category,
            "correlation_id": self.correlation_id,
            "created_at": self.created_at,
            "test": self.is_test,
            "data": self.data,
        }


def dispatched_event(entry: EventEntry) -> DispatchedEvent:
    """An entry of the log as routers and actions see it."""
    return DispatchedEvent(
        tenant_id=entry.tenant_id,
        id=entry.id,
        type=entry.type,
        category=entry.category,
        correlation_id=entry.correlation_id,
        subject_id=entry.subject_id,
        data=public_data(entry.data, entry.tenant_id, entry.actor),
        actor=entry.actor,
        hops=entry.hops,
        lineage=entry.lineage,
        trace_parent=entry.trace_parent,
        is_test=entry.is_test,
        created_at=entry.created_at,
    )


def dispatched_event_from_row(row: Any) -> DispatchedEvent:
    """Build the event from a row whose columns are in the order of the fields."""
    tenant_id, id, type, category, correlation_id, subject_id, data, actor, *rest = row
    hops, lineage, trace_parent, is_test, created_at = rest
    decoded_actor = msgspec.json.decode(actor)
    return DispatchedEvent(
        tenant_id,
        id,
        type,
        category,
        correlation_id,
        subject_id,
        public_data(msgspec.json.decode(data), tenant_id, decoded_actor),
        decoded_actor,
        hops,
        lineage,
        trace_parent,
        bool(is_test),
        created_at,
    )


class Cause(Protocol):
    """An event or a job that causes further work."""

    tenant_id: str
    correlation_id: str
    hops: int
    lineage: str
    trace_parent: str
    actor: dict[str, str]


class WorkerTransaction:
    """The worker's transaction that dispatches a batch of events or records the results of jobs."""

    def __init__(self, instance: Instance, system: SystemDb) -> None:
        self.instance = instance
        self.system = system
        self.jobs: list[Job] = []

    def defer(
        self,
        cause: Cause,
        kind: JobKind[P],
        payload: P,
        *,
        dedupe_key: str | None = None,
        lane: str = "",
        priority: int = 0,
    ) -> None:
        """Enqueue a job in the tenant of its cause, one hop further along the causal chain."""
        self.jobs.append(
            new_job(
                kind,
                payload,
                now=self.instance.clock.time(),
                tenant_id=cause.tenant_id,
                correlation_id=cause.correlation_id,
                hops=cause.hops + 1,
                actor=cause.actor,
                lineage=cause.lineage,
                trace_parent=cause.trace_parent,
                dedupe_key=dedupe_key,
                lane=lane,
                priority=priority,
            )
        )


class Router(msgspec.Struct, frozen=True):
    """`route` dispatches a batch; `count` returns how many of the tenant's listeners an event would reach."""

    name: str
    route: Callable[[WorkerTransaction, Sequence[DispatchedEvent]], Awaitable[None]]
    count: Callable[[Context, DispatchedEvent], Awaitable[int]]
