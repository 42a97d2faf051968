"""The worker: one loop that looks, records, hands on and claims, while the jobs run beside it.

Each turn of the loop is at most one transaction. It writes down how attempts ended, hands events to their
listeners, fires schedules, takes jobs back from dead workers, claims what is due.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import partial
from typing import Any

import msgspec
import structlog

from retinue.kit.db.errors import DatabaseUnavailable
from retinue.kit.db.unit import Unit
from retinue.kit.events.dispatch import Relay
from retinue.kit.failpoints import failpoint
from retinue.kit.instance import Instance
from retinue.kit.jobs.declare import JobKind
from retinue.kit.jobs.execution import Executor
from retinue.kit.jobs.fairness import Limit, Places
from retinue.kit.jobs.lanes import Lanes
from retinue.kit.jobs.queue import LEASE_S, MOST_AT_A_TIME, JobQueue, Outcome, Outlook
from retinue.kit.jobs.recording import Recorder
from retinue.kit.jobs.schedules import Schedules
from retinue.kit.jobs.statements import Claimed
from retinue.kit.jobs.wakeup import Announcer

log = structlog.get_logger("retinue.jobs")

CONCURRENCY = 20

_POLL_S = 1.0
_STALE_S = 10.0
_BEAT_S = LEASE_S / 3


class RunnerStatus(msgspec.Struct):
    """For `/health`: a worker that has not looked at its work for a while is not well."""

    worker: str
    is_running: bool
    is_well: bool
    running: dict[str, int]


class _Turn(msgspec.Struct):
    """What came of a turn; `sleep_s` says for how long there is nothing more to do, as far as one can see."""

    jobs: list[Claimed]
    sleep_s: float


class Runner:
    def __init__(self, instance: Instance, *, concurrency: dict[str, int] | None = None) -> None:
        """`concurrency` is how many jobs of a queue run here at once, where not as many as it declares."""
        kinds = _kinds_of(instance)
        declared = _declared_limits(kinds.values())
        limits = {
            queue: msgspec.structs.replace(limit, at_once=(concurrency or {}).get(queue, limit.at_once))
            for queue, limit in declared.items()
        }
        self._instance = instance
        self._queue = JobQueue(instance, limits)
        self._executor = Executor(instance, self._queue, kinds)
        self._lanes = Lanes({queue: limit.per_lane for queue, limit in limits.items()})
        self._relay = Relay(instance)
        self._schedules = Schedules(instance, list(kinds.values()))
        self._announce = Announcer(instance.database)
        self._running: dict[asyncio.Task[None], Claimed] = {}
        self._wake = asyncio.Event()
        self._recorder = Recorder(instance, self._queue, kinds, wake=self._wake.set)
        self._is_stopping = False
        self._tasks: list[asyncio.Task[None]] = []
        self._beat_at = 0.0
        self._looked_at = 0.0

    async def start(self) -> None:
        """Work in the background from now on."""
        if self._tasks:
            raise RuntimeError("the runner was started already")
        self._is_stopping = False
        await self._take_over_from_the_gone()
        self._instance.work_arrived = self._work_arrived
        loop = asyncio.get_running_loop()
        self._looked_at = loop.time()
        self._tasks = [loop.create_task(self._work()), loop.create_task(self._watch())]

    async def _take_over_from_the_gone(self) -> None:
        unit = Unit(self._instance.database, reads_freely=False)
        try:
            await self._queue.end_leases_of_the_gone(unit)
            await unit.commit()
        except BaseException:
            await unit.rollback()
            raise

    async def stop(self, grace_s: float = 10) -> None:
        """Claim nothing more, let what runs finish, and give the rest back after `grace_s`."""
        if not self._tasks:
            return
        working, watching = self._tasks
        self._is_stopping = True
        self._wake.set()
        await asyncio.wait([working], timeout=grace_s)
        for task in [*self._running, working, watching]:
            task.cancel()
        await asyncio.gather(*self._running, working, watching, return_exceptions=True)
        await self._recorder.settle()
        self._tasks = []
        self._instance.work_arrived = self._announce
        await self._give_back()
        await self._announce.settle()

    async def _give_back(self) -> None:
        """Should it fail, the leases run out; the way down goes on."""
        try:
            await self._turn()
        except Exception:
            log.exception("leases_not_given_back", worker=self._queue.worker)

    async def drain(self) -> int:
        """Run everything that is due now, one after the other, and what comes of it; how many jobs ran.

        For tests, on a runner that was not started.
        """
        if self._tasks:
            raise RuntimeError("a runner that was started drains itself")
        ran = 0
        while True:
            turn = await self._turn()
            for job in turn.jobs:
                await asyncio.create_task(self._run(job))
            ran += len(turn.jobs)
            if not turn.jobs and turn.sleep_s:
                return ran

    def status(self) -> RunnerStatus:
        silence = asyncio.get_running_loop().time() - self._looked_at
        return RunnerStatus(
            worker=self._queue.worker,
            is_running=bool(self._tasks),
            is_well=bool(self._tasks) and silence < _STALE_S,
            running=dict(Counter(job.queue for job in self._running.values())),
        )

    def _work_arrived(self) -> None:
        self._wake.set()
        if self._is_full:
            self._announce()

    @property
    def _is_full(self) -> bool:
        """Whether some queue has no free place, so that other processes should hear of new work."""
        held = Counter(job.queue for job in self._running.values())
        return any(count >= self._queue.limits[queue].at_once for queue, count in held.items())

    async def _watch(self) -> None:
        """Wake up for the commits of other processes, and every second for whatever was missed."""
        while True:
            try:
                await self._instance.database.wait_for_change(_POLL_S)
            except Exception:
                log.exception("watching_failed")
                await asyncio.sleep(_POLL_S)
            self._wake.set()

    async def _work(self) -> None:
        while not (self._is_stopping and not self._running and self._recorder.is_done):
            self._wake.clear()
            self._recorder.go_beside()
            try:
                turn = await self._turn()
            except DatabaseUnavailable:
                log.warning("database_unavailable", worker=self._queue.worker)
                await self._sleep(_POLL_S)
                continue
            except Exception:
                log.exception("turn_failed", worker=self._queue.worker)
                await self._sleep(_POLL_S)
                continue
            for job in turn.jobs:
                self._start(job)
            if turn.jobs and self._is_full:
                self._announce()
            await self._sleep(turn.sleep_s)

    async def _sleep(self, seconds: float) -> None:
        timer = asyncio.get_running_loop().call_later(seconds, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            timer.cancel()

    def _start(self, job: Claimed) -> None:
        task = asyncio.get_running_loop().create_task(self._run(job))
        self._running[task] = job
        task.add_done_callback(self._finished)

    async def _run(self, job: Claimed) -> None:
        await self._lanes.enter(job)
        clock, began = self._instance.clock, self._instance.clock.monotonic()
        try:
            self._recorder.add(await self._executor.run(job))
        finally:
            self._lanes.leave(job, clock.monotonic() - began)

    def _finished(self, task: asyncio.Task[None]) -> None:
        job = self._running.pop(task)
        if task.cancelled():
            self._recorder.add(Outcome(job, "ready", error="its worker was stopped", counts=False))
        elif error := task.exception():
            log.error("job_left_to_its_lease", job_id=job.id, kind=job.kind, exc_info=error)
        self._recorder.go_beside()
        self._wake.set()

    async def _turn(self) -> _Turn:
        seen = await self._queue.look()
        self._looked_at = asyncio.get_running_loop().time()
        # A clock that jumped, or a machine that slept: what runs here is ours before anyone takes it back.
        if self._is_beat_due or (self._running and seen.is_lease_over):
            began = self._instance.clock.monotonic()
            await self._recorder.beat(lambda: list(self._running.values()))
            self._beat_at = began + _BEAT_S
        if not self._has_work(seen):
            return _Turn([], self._until_next(seen))
        unit = Unit(self._instance.database, reads_freely=False)
        outcomes: list[Outcome] = []
        try:
            await unit.begin()
            # Only now: what ended while another writer was waited for is recorded as well.
            outcomes = self._recorder.take()
            return await self._transact(unit, seen, outcomes)
        except BaseException:
            self._recorder.give_back(outcomes)
            self._schedules.forget()
            await unit.rollback()
            raise

    async def _transact(self, unit: Unit, seen: Outlook, outcomes: list[Outcome]) -> _Turn:
        has_more = bool(outcomes) and await self._recorder.record(unit, outcomes)
        events = 0
        jobs: list[Claimed] = []
        if not self._is_stopping:
            has_news = self._has_news(seen) or has_more
            events = await self._make_due(unit, seen)
            jobs = await self._claim(unit, [queue for queue in seen.queues if has_news or seen.is_due(queue)])
        await unit.commit()
        if jobs and not self._running:
            self._beat_at = self._instance.clock.monotonic() + _BEAT_S
        for happened, name in (
            (outcomes, "after_finish"),
            (events, "after_relay_commit"),
            (jobs, "after_claim"),
        ):
            if happened:
                failpoint(name)
        is_more_due = events or len(jobs) >= MOST_AT_A_TIME
        return _Turn(jobs, 0 if is_more_due else self._until_next(seen))

    @property
    def _is_beat_due(self) -> bool:
        return bool(self._running) and self._instance.clock.monotonic() >= self._beat_at

    async def _make_due(self, unit: Unit, seen: Outlook) -> int:
        """Turn events, schedules and what dead workers held into jobs to claim; how many events it was."""
        if seen.is_lease_over:
            await self._queue.reclaim(unit)
        if self._schedules.next_at <= seen.now:
            await self._schedules.fire(unit, seen.now)
        if not seen.has_events:
            return 0
        events = await self._relay.run(unit)
        failpoint("before_relay_commit")
        return events

    async def _claim(self, unit: Unit, queues: list[str]) -> list[Claimed]:
        places = self._places()
        jobs: list[Claimed] = []
        for queue in queues:
            jobs += await self._queue.claim(unit, queue, places[queue])
        return jobs

    def _has_news(self, seen: Outlook) -> bool:
        """Whether this turn may make jobs that the look could not see."""
        return seen.has_events or seen.is_lease_over or self._schedules.next_at <= seen.now

    def _has_work(self, seen: Outlook) -> bool:
        if self._recorder.has_some_for_the_turn:
            return True
        if self._is_stopping:
            return False
        return self._has_news(seen) or any(
            seen.is_due(queue) and places.free > 0 for queue, places in self._places().items()
        )

    def _places(self) -> dict[str, Places]:
        """The places of each queue, with what runs here."""
        places = {
            queue: Places(limit, is_quick=partial(self._lanes.is_quick, queue))
            for queue, limit in self._queue.limits.items()
        }
        for job in self._running.values():
            places[job.queue].take(job)
        return places

    def _until_next(self, seen: Outlook) -> float:
        """Seconds until something becomes due; what is due already has had its turn."""
        moments = [*seen.queues.values(), seen.lease_ends, self._schedules.next_at]
        ahead = [moment - seen.now for moment in moments if moment is not None and moment > seen.now]
        return min([*ahead, _POLL_S])


def _declared_limits(kinds: Iterable[JobKind[Any]]) -> dict[str, Limit]:
    """Of each queue: the smallest number one of its jobs asks for, else 20; lanes the same way."""
    by_queue: defaultdict[str, list[JobKind[Any]]] = defaultdict(list)
    for kind in sorted(kinds, key=lambda kind: kind.queue):
        by_queue[kind.queue].append(kind)
    return {
        queue: Limit(
            at_once=min((kind.at_once for kind in of_queue if kind.at_once), default=CONCURRENCY),
            per_lane=min((kind.per_lane for kind in of_queue if kind.per_lane), default=None),
        )
        for queue, of_queue in by_queue.items()
    }


def _kinds_of(instance: Instance) -> dict[str, JobKind[Any]]:
    kinds: dict[str, JobKind[Any]] = {}
    for manifest in instance.manifests:
        for kind in (*manifest.jobs, *(listener.job for listener in manifest.listeners)):
            kinds[kind.name] = kind
    return kinds
