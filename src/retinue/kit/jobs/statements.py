"""The statements of the job table, for both databases and either clock.

Conditions on `state` are literal text, because the planner must see them to use a partial index.
"""

import functools
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.db.statements import Statement
from retinue.kit.events.outbox import first_undispatched_tenant
from retinue.kit.jobs.database_clock import DATABASE_NOW
from retinue.kit.jobs.models import Job

_jobs = Job.__table__
_ready_by_time = sa.and_(
    _jobs.c.state == sa.literal_column("'ready'"), _jobs.c.attempt >= sa.literal_column("0")
)
_running = _jobs.c.state == sa.literal_column("'running'")
_key = sa.tuple_(_jobs.c.tenant_id, _jobs.c.id)


class ClaimedJob(msgspec.Struct, gc=False):
    """A job as its worker reads it; the fields are the selected columns, in this order."""

    tenant_id: str
    id: str
    kind: str
    queue: str
    payload: str
    priority: int
    lane: str
    run_at: float
    attempt: int
    interrupted: int
    correlation_id: str
    hops: int
    lineage: str
    trace_parent: str
    actor: str


_columns = [_jobs.c[name] for name in ClaimedJob.__struct_fields__]


def _claimed(row: Any) -> ClaimedJob:
    return ClaimedJob(*row)


def _parameter(name: str, like: sa.Column[Any]) -> Any:
    return sa.bindparam(name, type_=like.type)


_own_attempt = (
    _jobs.c.tenant_id == _parameter("job_tenant", _jobs.c.tenant_id),
    _jobs.c.id == _parameter("job_id", _jobs.c.id),
    _jobs.c.worker == _parameter("by", _jobs.c.worker),
    _jobs.c.attempt == _parameter("in_attempt", _jobs.c.attempt),
)

# Fenced: a worker that lost the lease changes nothing.
DONE = Statement(sa.delete(_jobs).where(*_own_attempt))


class Statements:
    """The statements that use the current time, by the clock that decides."""

    def __init__(self, dialect: str, queues: tuple[str, ...], *, by_database: bool) -> None:
        now: Any = (
            sa.select(sa.literal_column(DATABASE_NOW, sa.Double())).scalar_subquery()
            if by_database
            else sa.bindparam("now", type_=sa.Double())
        )
        self.look = _look(queues, now)
        self.due = _due(now)
        self.take = _take(now)
        self.beat = _beat(now)
        self.reclaim = _reclaim(now)
        self.workers: Statement[Any] = Statement(sa.select(_jobs.c.worker).where(_running).distinct())
        self.end_leases: Statement[Any] = Statement(
            sa.update(_jobs)
            .where(_running, _jobs.c.worker == _parameter("by", _jobs.c.worker))
            .values(lease_until=0.0)
        )
        self.again = _again(now)
        now_text = f"(SELECT {DATABASE_NOW})" if by_database else ":now"
        self.lanes = _lanes(dialect, now_text)
        self.lane_heads = _lane_heads(dialect, now_text)


@functools.cache
def statements(dialect: str, queues: tuple[str, ...], *, by_database: bool) -> Statements:
    """Return the statements from the cache: compiling them takes longer than most jobs."""
    return Statements(dialect, queues, by_database=by_database)


def _look(queues: tuple[str, ...], now: Any) -> Statement[Any]:
    """Select the time, whether events await dispatch, the first lease to end and each queue's first job."""
    leases = _first(_jobs.c.lease_until, _running)
    heads = [_first(_jobs.c.run_at, _ready_by_time, _jobs.c.queue == sa.literal(queue)) for queue in queues]
    return Statement(sa.select(now, first_undispatched_tenant(), leases, *heads))


def _first(moment: sa.Column[Any], *conditions: Any) -> Any:
    """Select the earliest time. For `min`, PostgreSQL may scan all waiting jobs if it expects only one."""
    return (
        sa.select(moment).where(*conditions).order_by(moment).limit(sa.literal_column("1")).scalar_subquery()
    )


def _due(now: object) -> Statement[ClaimedJob]:
    source = (
        sa.select(*_columns)
        .where(_ready_by_time, _jobs.c.queue == _parameter("queue", _jobs.c.queue), _jobs.c.run_at <= now)
        .order_by(_jobs.c.run_at)
        .limit(sa.bindparam("limit", type_=sa.BigInteger()))
        .with_for_update(skip_locked=True)
    )
    return Statement(source, _claimed)


def _take(now: object) -> Statement[Any]:
    return Statement(
        sa.update(_jobs)
        .where(
            _jobs.c.tenant_id == _parameter("job_tenant", _jobs.c.tenant_id),
            _jobs.c.id == _parameter("job_id", _jobs.c.id),
        )
        .values(
            state="running",
            worker=_parameter("by", _jobs.c.worker),
            attempt=_jobs.c.attempt + 1,
            lease_until=now + sa.bindparam("ttl", type_=sa.Double()),
        )
    )


def _beat(now: object) -> Statement[Any]:
    return Statement(
        sa.update(_jobs).where(*_own_attempt).values(lease_until=now + sa.bindparam("ttl", type_=sa.Double()))
    )


def _reclaim(now: object) -> Statement[Any]:
    expired = sa.select(_jobs.c.tenant_id, _jobs.c.id).where(
        _running, _jobs.c.lease_until < now - sa.bindparam("slack", type_=sa.Double())
    )
    hopeless = _jobs.c.interrupted >= sa.bindparam("most_interruptions", type_=sa.BigInteger())
    return Statement(
        sa.update(_jobs)
        .where(_key.in_(expired.with_for_update(skip_locked=True)))
        .values(
            state=sa.case((hopeless, "dead"), else_="ready"),
            dedupe_key=sa.case((hopeless, sa.null()), else_=_jobs.c.dedupe_key),
            interrupted=_jobs.c.interrupted + 1,
            worker=None,
            lease_until=None,
            last_error="its worker went away",
        )
        .returning(_jobs.c.tenant_id, _jobs.c.id, _jobs.c.kind, _jobs.c.state)
    )


def _again(now: object) -> Statement[Any]:
    """Make a job `ready` again, or `dead`; a dead job releases its dedupe key."""
    state = _parameter("new_state", _jobs.c.state)
    return Statement(
        sa.update(_jobs)
        .where(*_own_attempt)
        .values(
            state=state,
            run_at=now + sa.bindparam("delay", type_=sa.Double()),
            attempt=_parameter("new_attempt", _jobs.c.attempt),
            last_error=_parameter("error", _jobs.c.last_error),
            dedupe_key=sa.case((state == "dead", sa.null()), else_=_jobs.c.dedupe_key),
            worker=None,
            lease_until=None,
            updated_at=_parameter("changed_at", _jobs.c.updated_at),
        )
    )


_NEXT_LANE = """SELECT {what} FROM jobs WHERE state = 'ready' AND queue = :queue AND {after}
    ORDER BY tenant_id, priority, lane LIMIT 1"""

_LANES = """WITH RECURSIVE lanes(tenant_id, priority, lane) AS (
    SELECT tenant_id, priority, lane FROM ({first}) AS first_lane
    UNION ALL
    {following}
)
SELECT tenant_id, priority, lane, {now} >= (
    SELECT min(run_at) FROM jobs WHERE state = 'ready' AND queue = :queue
    AND tenant_id = lanes.tenant_id AND priority = lanes.priority AND lane = lanes.lane
) FROM lanes LIMIT :limit"""


def _lanes(dialect: str, now: str) -> Statement[Any]:
    """Select the lanes after a given one and whether a job in them is due, with a skip scan of the index.

    A lane is the set of waiting jobs with the same queue, tenant, priority and lane name. The scan costs the
    same whether a lane holds one job or a million.
    """
    lane = "tenant_id, priority, lane"
    first = _NEXT_LANE.format(what=lane, after=f"({lane}) > (:tenant_id, :priority, :lane)")
    if dialect == "postgresql":
        hop = _NEXT_LANE.format(what=lane, after=f"({lane}) > (lanes.tenant_id, lanes.priority, lanes.lane)")
        following = f"SELECT hop.* FROM lanes CROSS JOIN LATERAL ({hop}) AS hop"  # noqa: S608  our own text
    else:
        # SQLite has no LATERAL, and would scan the whole lane for a row comparison with an outer query.
        tenant, priority = "tenant_id = lanes.tenant_id", "priority = lanes.priority"
        later = (
            f"{tenant} AND {priority} AND lane > lanes.lane",
            f"{tenant} AND priority > lanes.priority",
            "tenant_id > lanes.tenant_id",
        )
        hops = ", ".join(f"({_NEXT_LANE.format(what='rowid', after=after)})" for after in later)
        following = (
            "SELECT hop.tenant_id, hop.priority, hop.lane FROM lanes"  # noqa: S608  our own text
            f" JOIN jobs AS hop ON hop.rowid = coalesce({hops})"
        )
    source = _LANES.format(first=first, following=following, now=now)
    types: dict[str, Any] = {"tenant_id": sa.Text(), "priority": sa.BigInteger(), "lane": sa.Text()}
    return Statement(_text(source, **types, limit=sa.BigInteger()))


def _text(source: str, **types: sa.types.TypeEngine[Any]) -> sa.TextClause:
    """Return the text with the types of its parameters, which PostgreSQL needs."""
    types["queue"] = _jobs.c.queue.type
    if ":now" in source:
        types["now"] = sa.Double()
    return sa.text(source).bindparams(*(sa.bindparam(name, type_=type) for name, type in types.items()))


_HEADS = """SELECT {what} FROM jobs
    WHERE state = 'ready' AND queue = :queue AND run_at <= {now}
    AND tenant_id = {lane} ->> 0 AND priority = CAST({lane} ->> 1 AS bigint) AND lane = {lane} ->> 2
    ORDER BY run_at LIMIT :each"""


def _lane_heads(dialect: str, now: str) -> Statement[ClaimedJob]:
    """Select the first `each` due jobs of the `lanes`, which are JSON: `[[tenant_id, priority, lane], …]`."""
    names = ClaimedJob.__struct_fields__
    if dialect == "postgresql":
        heads = _HEADS.format(what=", ".join(names), now=now, lane="lane.value")
        source = (
            f"SELECT head.* FROM jsonb_array_elements(CAST(:lanes AS jsonb)) AS lane(value)"  # noqa: S608  our own text
            f" CROSS JOIN LATERAL ({heads} FOR UPDATE SKIP LOCKED) AS head"
        )
    else:
        heads = _HEADS.format(what="rowid", now=now, lane="lane.value")
        columns = ", ".join(f"head.{name}" for name in names)
        source = (
            f"SELECT {columns} FROM json_each(:lanes) AS lane"  # noqa: S608  our own text
            f" CROSS JOIN jobs AS head ON head.rowid IN ({heads})"
        )
    return Statement(_text(source, lanes=sa.Text(), each=sa.BigInteger()), _claimed)
