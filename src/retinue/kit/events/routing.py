"""Events whose listeners a tenant chose itself: a router is asked about each that somebody may hear of."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from retinue.kit.db.session import SystemDb
from retinue.kit.events.outward import outward
from retinue.kit.jobs.declare import JobKind
from retinue.kit.jobs.enqueue import new_job
from retinue.kit.jobs.models import Job

if TYPE_CHECKING:
    from retinue.kit.context import Context
    from retinue.kit.instance import Instance

P = TypeVar("P", bound=msgspec.Struct)


class Happened(msgspec.Struct, gc=False):
    """An event on its way to those who chose to hear of it; the fields are columns of the event log."""

    tenant_id: str
    id: str
    type: str
    category: str
    correlation_id: str
    subject_id: str
    data: dict[str, Any]
    actor: dict[str, str]
    hops: int
    is_test: bool
    created_at: str


def as_happened(row: Any) -> Happened:
    """From a row with the columns that the fields are named after."""
    tenant_id, id, type, category, correlation_id, subject_id, data, actor, hops, is_test, created_at = row
    done_by = msgspec.json.decode(actor)
    return Happened(
        tenant_id,
        id,
        type,
        category,
        correlation_id,
        subject_id,
        outward(msgspec.json.decode(data), tenant_id, done_by),
        done_by,
        hops,
        bool(is_test),
        created_at,
    )


class Cause(Protocol):
    """An event or a job that something follows from."""

    tenant_id: str
    correlation_id: str
    hops: int
    actor: dict[str, str]


class Routing:
    """The transaction of the worker that hands a batch of events on, or writes down how jobs ended."""

    def __init__(self, instance: "Instance", system: SystemDb) -> None:
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
        """Work that follows: in the tenant of its cause, one hop further along the chain."""
        self.jobs.append(
            new_job(
                kind,
                payload,
                now=self.instance.clock.time(),
                tenant_id=cause.tenant_id,
                correlation_id=cause.correlation_id,
                hops=cause.hops + 1,
                actor=cause.actor,
                dedupe_key=dedupe_key,
                lane=lane,
                priority=priority,
            )
        )


class Router(msgspec.Struct, frozen=True):
    """`route` hands a batch on; `count` says how many of the tenant's own would hear of one event."""

    name: str
    route: Callable[[Routing, Sequence[Happened]], Awaitable[None]]
    count: Callable[["Context", Happened], Awaitable[int]]
