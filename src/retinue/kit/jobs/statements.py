"""The statements of the job table, for either database and whosever clock counts.

Conditions on `state` are literal text, because a partial index serves only a condition the planner can see.
"""

import functools
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.db.statements import Statement
from retinue.kit.events.waiting import first_waiting
from retinue.kit.jobs.models import Job
from retinue.kit.jobs.moment import DATABASE_NOW

_jobs = Job.__table__
_ready_by_time = sa.and_(
    _jobs.c.state == sa.literal_column("'ready'"), _jobs.c.attempt >= sa.literal_column("0")
)
_running = _jobs.c.state == sa.literal_column("'running'")
_key = sa.tuple_(_jobs.c.tenant_id, _jobs.c.id)


class Claimed(msgspec.Struct, gc=False):
    """A job as its worker sees it; the fields are the columns that are read, in this order."""

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
    actor: str


_columns = [_jobs.c[name] for name in Claimed.__struct_fields__]


def _claimed(row: Any) -> Claimed:
    return Claimed(*row)


def _given(name: str, like: sa.Column[Any]) -> Any:
    return sa.bindparam(name, type_=like.type)


_mine = (
    _jobs.c.tenant_id == _given("job_tenant", _jobs.c.tenant_id),
    _jobs.c.id == _given("job_id", _jobs.c.id),
    _jobs.c.worker == _given("by", _jobs.c.worker),
    _jobs.c.attempt == _given("in_attempt", _jobs.c.attempt),
)

# Fenced: whoever lost the lease changes nothing.
DONE: Statement[Any] = Statement(sa.delete(_jobs).where(*_mine))


class Statements:
    """Everything that looks at the time, with the clock that counts."""

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
            .where(_running, _jobs.c.worker == _given("by", _jobs.c.worker))
            .values(lease_until=0.0)
        )
        self.again = _again(now)
        now_text = f"(SELECT {DATABASE_NOW})" if by_database else ":now"
        self.lanes = _lanes(dialect, now_text)
        self.lane_heads = _lane_heads(dialect, now_text)


@functools.cache
def statements(dialect: str, queues: tuple[str, ...], *, by_database: bool) -> Statements:
    """Compiling them takes longer than most work they are for."""
    return Statements(dialect, queues, by_database=by_database)


def _look(queues: tuple[str, ...], now: Any) -> Statement[Any]:
    """The time, whether events wait, the earliest lease to end, and each queue's earliest job."""
    leases = _first(_jobs.c.lease_until, _running)
    heads = [_first(_jobs.c.run_at, _ready_by_time, _jobs.c.queue == sa.literal(queue)) for queue in queues]
    return Statement(sa.select(now, first_waiting(), leases, *heads))


def _first(moment: sa.Column[Any], *conditions: Any) -> Any:
    """Not `min`: for that PostgreSQL may read everything that waits, if it thinks there is but one."""
    return (
        sa.select(moment).where(*conditions).order_by(moment).limit(sa.literal_column("1")).scalar_subquery()
    )


def _due(now: Any) -> Statement[Claimed]:
    source = (
        sa.select(*_columns)
        .where(_ready_by_time, _jobs.c.queue == _given("queue", _jobs.c.queue), _jobs.c.run_at <= now)
        .order_by(_jobs.c.run_at)
        .limit(sa.bindparam("limit", type_=sa.BigInteger()))
        .with_for_update(skip_locked=True)
    )
    return Statement(source, _claimed)


def _take(now: Any) -> Statement[Any]:
    return Statement(
        sa.update(_jobs)
        .where(
            _jobs.c.tenant_id == _given("job_tenant", _jobs.c.tenant_id),
            _jobs.c.id == _given("job_id", _jobs.c.id),
        )
        .values(
            state="running",
            worker=_given("by", _jobs.c.worker),
            attempt=_jobs.c.attempt + 1,
            lease_until=now + sa.bindparam("ttl", type_=sa.Double()),
        )
    )


def _beat(now: Any) -> Statement[Any]:
    return Statement(
        sa.update(_jobs).where(*_mine).values(lease_until=now + sa.bindparam("ttl", type_=sa.Double()))
    )


def _reclaim(now: Any) -> Statement[Any]:
    expired = sa.select(_jobs.c.tenant_id, _jobs.c.id).where(_running, _jobs.c.lease_until < now)
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


def _again(now: Any) -> Statement[Any]:
    """Back to `ready`, or `dead`; a dead job no longer holds its key."""
    state = _given("new_state", _jobs.c.state)
    return Statement(
        sa.update(_jobs)
        .where(*_mine)
        .values(
            state=state,
            run_at=now + sa.bindparam("delay", type_=sa.Double()),
            attempt=_given("new_attempt", _jobs.c.attempt),
            last_error=_given("error", _jobs.c.last_error),
            dedupe_key=sa.case((state == "dead", sa.null()), else_=_jobs.c.dedupe_key),
            worker=None,
            lease_until=None,
            updated_at=_given("changed_at", _jobs.c.updated_at),
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
    """The lanes after a given one, and whether something in them is due, found by hopping along the index.

    A lane is what one tenant has waiting in a queue with one priority and one name of a lane. Hopping costs
    the same whether a lane holds one job or a million.
    """
    lane = "tenant_id, priority, lane"
    first = _NEXT_LANE.format(what=lane, after=f"({lane}) > (:tenant_id, :priority, :lane)")
    if dialect == "postgresql":
        hop = _NEXT_LANE.format(what=lane, after=f"({lane}) > (lanes.tenant_id, lanes.priority, lanes.lane)")
        following = f"SELECT hop.* FROM lanes CROSS JOIN LATERAL ({hop}) AS hop"  # noqa: S608  our own text
    else:
        # SQLite has no LATERAL, and would walk through the lane to compare rows with those of an outer one.
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
    """Text of ours, with the types PostgreSQL wants to be told."""
    types["queue"] = _jobs.c.queue.type
    if ":now" in source:
        types["now"] = sa.Double()
    return sa.text(source).bindparams(*(sa.bindparam(name, type_=type) for name, type in types.items()))


_HEADS = """SELECT {what} FROM jobs
    WHERE state = 'ready' AND queue = :queue AND run_at <= {now}
    AND tenant_id = {lane} ->> 0 AND priority = CAST({lane} ->> 1 AS bigint) AND lane = {lane} ->> 2
    ORDER BY run_at LIMIT :each"""


def _lane_heads(dialect: str, now: str) -> Statement[Claimed]:
    """The first `each` due jobs of every given lane; `lanes` is JSON, `[[tenant_id, priority, lane], …]`."""
    names = Claimed.__struct_fields__
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
