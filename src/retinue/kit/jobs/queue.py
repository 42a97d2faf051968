"""One worker's view of the job table: what is due, what it holds, and how a job ends."""

from collections.abc import Iterable
from math import ceil
from typing import Any, Literal

import msgspec
import structlog

from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.types import json_text
from retinue.kit.db.unit import Unit
from retinue.kit.instance import Instance
from retinue.kit.jobs.fairness import Limit, Places, take_turns
from retinue.kit.jobs.moment import database_keeps_time
from retinue.kit.jobs.neighbours import is_surely_gone, new_worker_id
from retinue.kit.jobs.statements import DONE, Claimed, statements

log = structlog.get_logger("retinue.jobs")

LEASE_S = 30.0
MOST_INTERRUPTIONS = 20
# One turn fills no more places of a queue: those jobs run while the next turn waits for the database.
MOST_AT_A_TIME = 192

_LANES_AT_ONCE = 100
_MOST_PAGES_OF_LANES = 5
_BEFORE_EVERY_LANE = ("", -(2**63), "")


class Outlook(msgspec.Struct):
    """What one look at the database showed."""

    now: float
    has_events: bool
    lease_ends: float | None
    queues: dict[str, float | None]

    @property
    def is_lease_over(self) -> bool:
        return self.lease_ends is not None and self.lease_ends < self.now

    def is_due(self, queue: str) -> bool:
        head = self.queues[queue]
        return head is not None and head <= self.now


class Outcome(msgspec.Struct):
    """How an attempt ended, when it did not end inside its own transaction."""

    job: Claimed
    state: Literal["done", "ready", "dead"]
    delay_s: float = 0.0
    error: str | None = None
    counts: bool = True
    result: Any = None
    """What the job returned, where somebody concludes from it."""


class JobQueue:
    def __init__(self, instance: Instance, limits: dict[str, Limit]) -> None:
        self.worker = new_worker_id()
        self.limits = limits
        self._instance = instance
        self._clock = instance.clock
        database = instance.database
        self._dialect = database.dialect
        self._sql = statements(
            self._dialect, tuple(limits), by_database=database_keeps_time(self._dialect, self._clock)
        )
        self._cursors = dict.fromkeys(limits, _BEFORE_EVERY_LANE)
        self._crowded: set[str] = set()

    def _system(self, unit: Unit) -> SystemDb:
        return SystemDb(unit, self._clock, self._instance.ring)

    async def _each(self, unit: Unit, statement: Statement[Any], many: list[dict[str, Any]]) -> None:
        if many:
            compiled = statement.compiled(self._dialect, narrow=False)
            await unit.change_many(compiled, [compiled.arguments(one) for one in many])

    async def look(self) -> Outlook:
        """One read outside any transaction, cheap enough to be made on every wake-up."""
        unit = Unit(self._instance.database, reads_freely=True)
        row: Any = await self._system(unit).first(self._sql.look, now=self._clock.time())
        now, first_event, lease_ends, *heads = row
        return Outlook(now, first_event is not None, lease_ends, dict(zip(self.limits, heads, strict=True)))

    async def claim(self, unit: Unit, queue: str, places: Places) -> list[Claimed]:
        """Take what is due as far as there are places, tenants and lanes by turns if there are too few."""
        free = min(places.free, MOST_AT_A_TIME)
        if free <= 0:
            return []
        system = self._system(unit)
        candidates: list[Claimed] = []
        if queue in self._crowded:
            candidates = await self._heads_by_turns(system, queue, places, free)
        if len(candidates) < free:
            oldest = await system.rows(self._sql.due, queue=queue, limit=free, now=self._clock.time())
            if len(oldest) < free:
                # Everything due fits, so nobody has to wait for anybody.
                self._crowded.discard(queue)
            elif queue not in self._crowded:
                self._crowded.add(queue)
                candidates = await self._heads_by_turns(system, queue, places, free)
            candidates += oldest
        unique = {job.id: job for job in candidates}
        chosen = take_turns(unique.values(), places, free)
        await self._take(unit, chosen)
        return chosen

    async def _heads_by_turns(self, system: SystemDb, queue: str, places: Places, free: int) -> list[Claimed]:
        """The first jobs of the lanes whose turn it is; the next call goes on where this one stopped."""
        now = self._clock.time()
        turn: list[tuple[str, int, str]] = []
        for _ in range(_MOST_PAGES_OF_LANES):
            tenant_id, priority, lane = self._cursors[queue]
            lanes: list[Any] = await system.rows(
                self._sql.lanes,
                queue=queue,
                tenant_id=tenant_id,
                priority=priority,
                lane=lane,
                limit=_LANES_AT_ONCE,
                now=now,
            )
            turn += [
                (tenant, rank, lane)
                for tenant, rank, lane, is_due in lanes
                if is_due and places.has_room_for(tenant, lane)
            ]
            is_last_page = len(lanes) < _LANES_AT_ONCE
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

    async def _take(self, unit: Unit, jobs: list[Claimed]) -> None:
        now = self._clock.time()
        many = []
        for job in jobs:
            job.attempt += 1
            many.append(
                {"job_tenant": job.tenant_id, "job_id": job.id, "by": self.worker, "now": now, "ttl": LEASE_S}
            )
        await self._each(unit, self._sql.take, many)

    def fence(self, job: Claimed) -> dict[str, Any]:
        """The parameters that make a statement do nothing once the job is someone else's."""
        return {"job_tenant": job.tenant_id, "job_id": job.id, "by": self.worker, "in_attempt": job.attempt}

    async def record(self, unit: Unit, outcomes: list[Outcome]) -> None:
        """Write down how attempts ended, many in one transaction."""
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

    async def beat(self, unit: Unit, running: Iterable[Claimed]) -> None:
        """Hold on to what really runs here; a claim whose commit was never heard of must run out."""
        now = self._clock.time()
        await self._each(
            unit, self._sql.beat, [{**self.fence(job), "ttl": LEASE_S, "now": now} for job in running]
        )

    async def end_leases_of_the_gone(self, unit: Unit) -> None:
        """After a crash and a restart, work goes on at once instead of when the leases run out."""
        system = self._system(unit)
        for (worker,) in await system.rows(self._sql.workers):
            if worker != self.worker and is_surely_gone(worker):
                await system.execute(self._sql.end_leases, by=worker)

    async def reclaim(self, unit: Unit) -> None:
        """Take jobs back from workers that went away; one that went down with too many of them is dead."""
        rows = await self._system(unit).execute(
            self._sql.reclaim, most_interruptions=MOST_INTERRUPTIONS, now=self._clock.time()
        )
        for tenant_id, id, kind, state in rows:
            log.warning("job_reclaimed", tenant_id=tenant_id, job_id=id, kind=kind, state=state)
