"""One worker's access to the job table: it claims due jobs, renews leases and records outcomes."""

from collections.abc import Iterable
from math import ceil
from typing import Any, Literal

import msgspec
import structlog

from retinue.kit.context.instance import Instance
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.types import json_text
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.jobs.database_clock import uses_database_clock
from retinue.kit.jobs.fairness import QueueLimit, QueueSlots, choose_fairly
from retinue.kit.jobs.statements import DONE, ClaimedJob, statements
from retinue.kit.jobs.worker_ids import is_known_dead, new_worker_id

log = structlog.get_logger("retinue.jobs")

LEASE_SECONDS = 30.0
MAX_INTERRUPTIONS = 20
# One turn claims no more jobs of a queue: these run while the next turn waits for the database.
MAX_CLAIMED_PER_TURN = 192

_LANES_PER_PAGE = 100
_MAX_LANE_PAGES = 5
_BEFORE_EVERY_LANE = ("", -(2**63), "")


class QueueSnapshot(msgspec.Struct):
    """The state of the queues at one poll of the database."""

    now: float
    has_events: bool
    lease_ends: float | None
    queues: dict[str, float | None]

    slack_s: float = 0.0
    """How long a lease counts after its end."""

    @property
    def is_lease_over(self) -> bool:
        return self.lease_ends is not None and self.lease_ends < self.now - self.slack_s

    def is_due(self, queue: str) -> bool:
        head = self.queues[queue]
        return head is not None and head <= self.now


class JobOutcome(msgspec.Struct):
    """The outcome of an attempt that did not end inside its own transaction."""

    job: ClaimedJob
    state: Literal["done", "ready", "dead"]
    delay_s: float = 0.0
    error: str | None = None
    counts: bool = True
    result: Any = None
    """The return value of the job, for its `conclude` hook."""
    trace_part: Any = None
    """The `FinishedPart` to store with the outcome."""
    is_fault: bool = False
    """Whether the attempt failed by a fault of this instance, and not by what the job deals with."""


class JobQueue:
    def __init__(self, instance: Instance, limits: dict[str, QueueLimit]) -> None:
        self.worker = new_worker_id()
        self.limits = limits
        self._instance = instance
        self._clock = instance.clock
        database = instance.database
        self._dialect = database.dialect
        self._sql = statements(
            self._dialect, tuple(limits), by_database=uses_database_clock(self._dialect, self._clock)
        )
        self._cursors = dict.fromkeys(limits, _BEFORE_EVERY_LANE)
        self._crowded: set[str] = set()

    def _system(self, unit: UnitOfWork) -> SystemDb:
        return SystemDb(unit, self._clock, self._instance.ring)

    async def _each(self, unit: UnitOfWork, statement: Statement[Any], many: list[dict[str, Any]]) -> None:
        if many:
            compiled = statement.compiled(self._dialect, narrow=False)
            await unit.change_many(compiled, [compiled.arguments(one) for one in many])

    async def look(self, slack_s: float = 0.0) -> QueueSnapshot:
        """Read the state of the queues outside any transaction; cheap enough for every wake-up."""
        unit = UnitOfWork(self._instance.database, reads_outside_transaction=True)
        row: Any = await self._system(unit).first(self._sql.look, now=self._clock.time())
        now, first_event, lease_ends, *heads = row
        return QueueSnapshot(
            now, first_event is not None, lease_ends, dict(zip(self.limits, heads, strict=True)), slack_s
        )

    async def claim(self, unit: UnitOfWork, queue: str, slots: QueueSlots) -> list[ClaimedJob]:
        """Claim due jobs for the free slots; if there are too few, tenants and lanes take turns."""
        free = min(slots.free, MAX_CLAIMED_PER_TURN)
        if free <= 0:
            return []
        system = self._system(unit)
        candidates: list[ClaimedJob] = []
        if queue in self._crowded:
            candidates = await self._heads_by_turns(system, queue, slots, free)
        if len(candidates) < free:
            oldest = await system.rows(self._sql.due, queue=queue, limit=free, now=self._clock.time())
            if len(oldest) < free:
                # Everything that is due fits, so no turns are needed.
                self._crowded.discard(queue)
            elif queue not in self._crowded:
                self._crowded.add(queue)
                candidates = await self._heads_by_turns(system, queue, slots, free)
            candidates += oldest
        unique = {job.id: job for job in candidates}
        chosen = choose_fairly(unique.values(), slots, free)
        await self._take(unit, chosen)
        return chosen

    async def _heads_by_turns(
        self, system: SystemDb, queue: str, slots: QueueSlots, free: int
    ) -> list[ClaimedJob]:
        """Return the first jobs of the lanes whose turn it is; the next call continues after them."""
        now = self._clock.time()
        turn: list[tuple[str, int, str]] = []
        for _ in range(_MAX_LANE_PAGES):
            tenant_id, priority, lane = self._cursors[queue]
            lanes: list[Any] = await system.rows(
                self._sql.lanes,
                queue=queue,
                tenant_id=tenant_id,
                priority=priority,
                lane=lane,
                limit=_LANES_PER_PAGE,
                now=now,
            )
            turn += [
                (tenant, rank, lane)
                for tenant, rank, lane, is_due in lanes
                if is_due and slots.has_slot_for(tenant, lane)
            ]
            is_last_page = len(lanes) < _LANES_PER_PAGE
            self._cursors[queue] = _BEFORE_EVERY_LANE if is_last_page else tuple(lanes[-1][:3])
            if len(turn) > free:
                turn = turn[:free]
                self._cursors[queue] = turn[-1]
            if is_last_page or len(turn) == free:
                break
        if not turn:
            return []
        each = ceil(free / len(turn))
        return await system.rows(self._sql.lane_heads, queue=queue, lanes=json_text(turn), each=each, now=now)

    async def _take(self, unit: UnitOfWork, jobs: list[ClaimedJob]) -> None:
        now = self._clock.time()
        many = []
        for job in jobs:
            job.attempt += 1
            many.append(
                {
                    "job_tenant": job.tenant_id,
                    "job_id": job.id,
                    "by": self.worker,
                    "now": now,
                    "ttl": LEASE_SECONDS,
                }
            )
        await self._each(unit, self._sql.take, many)

    def fence(self, job: ClaimedJob) -> dict[str, Any]:
        """Return the parameters that make a statement do nothing once another worker has the job."""
        return {"job_tenant": job.tenant_id, "job_id": job.id, "by": self.worker, "in_attempt": job.attempt}

    async def record(self, unit: UnitOfWork, outcomes: list[JobOutcome]) -> None:
        """Record the outcomes of many attempts in one transaction."""
        done = [self.fence(one.job) for one in outcomes if one.state == "done"]
        await self._each(unit, DONE, done)
        now, changed_at = self._clock.time(), self._clock.now()
        again = [
            {
                **self.fence(one.job),
                "new_state": one.state,
                "delay": one.delay_s,
                "new_attempt": one.job.attempt if one.counts else one.job.attempt - 1,
                "error": one.error,
                "now": now,
                "changed_at": changed_at,
            }
            for one in outcomes
            if one.state != "done"
        ]
        await self._each(unit, self._sql.again, again)

    async def beat(self, unit: UnitOfWork, running: Iterable[ClaimedJob]) -> None:
        """Renew the leases of jobs that run here; a claim whose commit was not confirmed must expire."""
        now = self._clock.time()
        await self._each(
            unit, self._sql.beat, [{**self.fence(job), "ttl": LEASE_SECONDS, "now": now} for job in running]
        )

    async def end_leases_of_dead_workers(self, unit: UnitOfWork) -> None:
        """End the leases of dead workers, so that after a crash work continues before they expire."""
        system = self._system(unit)
        for (worker,) in await system.rows(self._sql.workers):
            if worker != self.worker and is_known_dead(worker):
                await system.execute(self._sql.end_leases, by=worker)

    async def reclaim(self, unit: UnitOfWork, slack_s: float) -> None:
        """Reclaim jobs whose lease has expired; a job that was interrupted too often is dead."""
        rows = await self._system(unit).execute(
            self._sql.reclaim, most_interruptions=MAX_INTERRUPTIONS, now=self._clock.time(), slack=slack_s
        )
        for tenant_id, id, kind, state in rows:
            log.warning("job_reclaimed", tenant_id=tenant_id, job_id=id, kind=kind, state=state)
