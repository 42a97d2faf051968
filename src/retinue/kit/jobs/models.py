"""The job table: work to be done after the transaction that enqueued it (ADR 5)."""

from typing import Annotated, Any

import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.db.models import Record, ServerDefault, TenantRecord, table


def _indexes(made: sa.Table) -> None:
    ready = made.c.state == "ready"
    running = made.c.state == "running"
    # Always true. It keeps the planner from using this index for statements that do not repeat the condition.
    by_time = sa.and_(ready, made.c.attempt >= 0)
    keyed = made.c.dedupe_key.is_not(None)
    sa.Index(
        "ix_jobs_lanes",
        made.c.queue,
        made.c.tenant_id,
        made.c.priority,
        made.c.lane,
        made.c.run_at,
        sqlite_where=ready,
        postgresql_where=ready,
    )
    sa.Index("ix_jobs_due", made.c.queue, made.c.run_at, sqlite_where=by_time, postgresql_where=by_time)
    sa.Index("ix_jobs_leases", made.c.lease_until, sqlite_where=running, postgresql_where=running)
    sa.Index(
        "uq_jobs_tenant_id_dedupe_key",
        made.c.tenant_id,
        made.c.dedupe_key,
        unique=True,
        sqlite_where=keyed,
        postgresql_where=keyed,
    )


@table("jobs", prefix="job", time_ordered_ids=True, extra=_indexes)
class Job(TenantRecord, kw_only=True):
    """`ready` → `running` → deleted when done, `ready` for a retry, or `dead` after the last attempt.

    `attempt` counts how often it was claimed, `interrupted` how many of those ended with their worker.
    While a job with a `dedupe_key` waits or runs, its tenant cannot enqueue another with the same key.
    Jobs of one `lane` do not block the other lanes.
    """

    kind: str
    queue: str
    payload: dict[str, Any]
    state: str = "ready"
    priority: int = 0
    lane: Annotated[str, ServerDefault("''")] = ""
    run_at: float
    attempt: int = 0
    interrupted: int = 0
    dedupe_key: str | None = None
    worker: str | None = None
    lease_until: float | None = None
    last_error: str | None = None
    correlation_id: str = ""
    hops: int = 0
    lineage: Annotated[str, ServerDefault("''")] = ""
    trace_parent: Annotated[str, ServerDefault("''")] = ""
    actor: dict[str, str]


@table("schedules", prefix="sch")
class Schedule(Record, kw_only=True):
    """The next run of a periodic job; `id` is the job's kind. Compare-and-set on `next_at` fires it once."""

    next_at: float
    last_at: Instant | None = None
