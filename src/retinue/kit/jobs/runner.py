"""The worker: one loop that polls, records, dispatches and claims, while the jobs run concurrently.

Each turn of the loop is at most one transaction. It records the outcomes of attempts, reclaims jobs from
dead workers, fires schedules, dispatches events to their listeners and claims due jobs.
"""

import asyncio
from collections import Counter
from functools import partial
from typing import Any

import msgspec
import structlog

from retinue.kit.context.instance import Instance
from retinue.kit.db.errors import DatabaseUnavailable, RolledBack, StorageFull
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.events.declare import Listener
from retinue.kit.events.dispatch import EventDispatcher
from retinue.kit.events.outbox import OUTBOX_BATCH_SIZE
from retinue.kit.failpoints import failpoint
from retinue.kit.jobs.attempt_metrics import count_attempt
from retinue.kit.jobs.declare import JobHandler, handlers_by_name
from retinue.kit.jobs.executor import JobExecutor
from retinue.kit.jobs.fairness import QueueSlots, declared_limits
from retinue.kit.jobs.lanes import Lanes
from retinue.kit.jobs.queue import LEASE_SECONDS, MAX_CLAIMED_PER_TURN, JobOutcome, JobQueue, QueueSnapshot
from retinue.kit.jobs.recorder import OutcomeRecorder
from retinue.kit.jobs.schedules import Schedules
from retinue.kit.jobs.statements import ClaimedJob
from retinue.kit.jobs.wakeup import WORK, Announcer
from retinue.kit.jobs.worker_health import RunnerStatus, WorkerHealth
from retinue.kit.transaction_retry import backoff_seconds

log = structlog.get_logger("retinue.jobs")

DEFAULT_CONCURRENCY = 20

_POLL_SECONDS = 1.0
_STALE_SECONDS = 10.0
_HEARTBEAT_SECONDS = LEASE_SECONDS / 3
# After an outage of the database every lease may have expired. For a moment only those of workers that are
# known to be dead count as over, until the others have renewed theirs.
_TRUST_SECONDS = 10.0
_TRUSTED_SLACK_SECONDS = 365 * 24 * 3600.0
# What has ended meanwhile does not wait for a turn that takes longer.
_LONG_TURN_SECONDS = 0.05


class _Turn(msgspec.Struct):
    """The result of a turn: the claimed jobs, and the time until the next work is expected."""

    jobs: list[ClaimedJob]
    sleep_s: float


class Runner:
    def __init__(self, instance: Instance, *, concurrency: dict[str, int] | None = None) -> None:
        """`concurrency` overrides the declared concurrency of some queues."""
        handlers = _handlers_of(instance)
        declared = declared_limits(handlers.values(), DEFAULT_CONCURRENCY)
        limits = {
            queue: msgspec.structs.replace(limit, at_once=(concurrency or {}).get(queue, limit.at_once))
            for queue, limit in declared.items()
        }
        self._instance = instance
        self._kinds = frozenset(handlers)
        self.health = WorkerHealth(instance.clock)
        self._queue = JobQueue(instance, limits)
        self._executor = JobExecutor(instance, self._queue, handlers)
        self._lanes = Lanes({queue: limit.per_lane for queue, limit in limits.items()})
        self._dispatcher = EventDispatcher(instance)
        self._schedules = Schedules(instance, handlers.values())
        self._announce = Announcer(instance)
        self._running: dict[asyncio.Task[None], ClaimedJob] = {}
        self._wake = asyncio.Event()
        self._recorder = OutcomeRecorder(
            instance,
            self._queue,
            handlers,
            wake=self._wake.set,
            when_recorded=self._recorded,
        )
        self._is_stopping = False
        self._tasks: list[asyncio.Task[None]] = []
        self._heartbeat_at = 0.0
        self._looked_at = 0.0
        self._trusts_leases_until = 0.0
        self._has_event_backlog = False
        self._is_turn_long = False

    async def start(self) -> None:
        """Start working in the background."""
        if self._tasks:
            raise RuntimeError("the runner was started already")
        self._is_stopping = False
        self._instance.work_arrived = self._work_arrived
        self._instance.peers.subscribe(WORK, lambda _: self._wake.set())
        loop = asyncio.get_running_loop()
        self._looked_at = loop.time()
        self._tasks = [loop.create_task(self._work()), loop.create_task(self._watch())]

    async def _end_leases_of_dead_workers(self) -> None:
        """End the leases of dead workers, so that their jobs run soon; if this fails, the leases expire."""
        unit = UnitOfWork(self._instance.database, reads_outside_transaction=False)
        try:
            await self._queue.end_leases_of_dead_workers(unit)
            await unit.commit()
        except BaseException as error:
            await unit.rollback()
            if not isinstance(error, Exception):
                raise
            log.exception("leases_of_the_gone_not_ended", worker=self._queue.worker)

    async def stop(self, grace_s: float = 10, until: asyncio.Event | None = None) -> None:
        """Claim no more jobs, let those that run finish, and release the rest after `grace_s`.

        If `until` is set before, those that run have no more time.
        """
        if not self._tasks:
            return
        working, watching = self._tasks
        self._is_stopping = True
        self._wake.set()
        over = asyncio.create_task((until or asyncio.Event()).wait())
        await asyncio.wait([working, over], timeout=grace_s, return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
        for task in [*self._running, working, watching]:
            task.cancel()
        await asyncio.gather(*self._running, working, watching, return_exceptions=True)
        await self._recorder.settle()
        self._tasks = []
        self._instance.work_arrived = self._announce
        await self._release_leases()
        await self._announce.settle()

    async def _release_leases(self) -> None:
        """Release the leases by recording what was cancelled; if this fails, they expire."""
        try:
            await self._turn()
        except Exception:
            log.exception("leases_not_given_back", worker=self._queue.worker)

    async def drain(self) -> int:
        """Run all due jobs and those they enqueue, one after the other; return how many ran.

        For tests, on a runner that was not started.
        """
        if self._tasks:
            raise RuntimeError("a runner that was started drains itself")
        ran = 0
        while True:
            turn = await self._turn()
            for job in turn.jobs:
                await self._run_alone(job)
            ran += len(turn.jobs)
            if not turn.jobs and turn.sleep_s:
                return ran

    async def _run_alone(self, job: ClaimedJob) -> None:
        """Run a job while no turn comes between: nothing else records what the job may have to wait for."""
        if self._lanes.is_ahead(job):
            await self._recorder.record_all()
        await asyncio.create_task(self._run(job))

    def status(self) -> RunnerStatus:
        silence = asyncio.get_running_loop().time() - self._looked_at
        return RunnerStatus(
            worker=self._queue.worker,
            is_running=bool(self._tasks),
            is_well=bool(self._tasks) and silence < _STALE_SECONDS,
            is_failing=self.health.is_failing,
            running=dict(Counter(job.queue for job in self._running.values())),
        )

    def _work_arrived(self) -> None:
        self._wake.set()
        if self._is_full:
            self._announce()

    @property
    def _is_full(self) -> bool:
        """Whether a queue has no free slot, so that other processes must be woken for new work."""
        held = Counter(job.queue for job in self._running.values())
        return any(count >= self._queue.limits[queue].at_once for queue, count in held.items())

    async def _watch(self) -> None:
        """Wake up for the commits of other processes; one that is missed is found by the next turn."""
        while True:
            try:
                has_changed = await self._instance.database.wait_for_change(_POLL_SECONDS)
            except Exception:
                log.exception("watching_failed")
                await asyncio.sleep(_POLL_SECONDS)
            else:
                if has_changed:
                    self._wake.set()

    async def _work(self) -> None:
        await self._end_leases_of_dead_workers()
        while not (self._is_stopping and not self._running and self._recorder.is_done):
            self._wake.clear()
            self._recorder.start_side_recording()
            try:
                turn = await self._turn()
            except RolledBack:
                await self._sleep(backoff_seconds(1))
                continue
            except DatabaseUnavailable:
                self._trusts_leases_until = self._instance.clock.monotonic() + _TRUST_SECONDS
                self.health.turn_failed()
                log.warning("database_unavailable", worker=self._queue.worker)
                await self._sleep(_POLL_SECONDS)
                continue
            except StorageFull:
                self.health.turn_failed()
                log.warning("storage_full", worker=self._queue.worker)
                await self._sleep(_POLL_SECONDS)
                continue
            except Exception:
                self.health.turn_failed()
                log.exception("turn_failed", worker=self._queue.worker)
                await self._sleep(_POLL_SECONDS)
                continue
            self.health.turn_succeeded()
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

    def _start(self, job: ClaimedJob) -> None:
        task = asyncio.get_running_loop().create_task(self._run(job))
        self._running[task] = job
        task.add_done_callback(self._finished)

    async def _run(self, job: ClaimedJob) -> None:
        await self._lanes.enter(job)
        clock, began = self._instance.clock, self._instance.clock.monotonic()
        outcome: JobOutcome | None = None
        try:
            outcome = await self._executor.run(job)
            self._recorder.add(outcome)
            self.health.attempt_ended(outcome)
            if job.kind in self._kinds:
                count_attempt(job, outcome, clock.monotonic() - began)
        finally:
            self._lanes.leave(job, clock.monotonic() - began)
            if outcome is None:
                self._lanes.recorded(job)

    def _finished(self, task: asyncio.Task[None]) -> None:
        job = self._running.pop(task)
        if task.cancelled():
            self._recorder.add(JobOutcome(job, "ready", error="its worker was stopped", counts=False))
        elif error := task.exception():
            log.error("job_left_to_its_lease", job_id=job.id, kind=job.kind, exc_info=error)
        self._recorder.start_side_recording(1 if self._is_turn_long else None)
        self._wake.set()

    def _recorded(self, outcomes: list[JobOutcome], took_s: float) -> None:
        self._lanes.recording_took(took_s)
        for outcome in outcomes:
            self._lanes.recorded(outcome.job)

    async def _turn(self) -> _Turn:
        is_after_outage = self._instance.clock.monotonic() < self._trusts_leases_until
        snapshot = await self._queue.look(_TRUSTED_SLACK_SECONDS if is_after_outage else 0.0)
        self._looked_at = asyncio.get_running_loop().time()
        # After a clock jump or a suspended machine, renew our leases before another worker reclaims the jobs.
        if self._is_heartbeat_due or (self._holds_leases and (snapshot.is_lease_over or is_after_outage)):
            began = self._instance.clock.monotonic()
            await self._recorder.beat(lambda: list(self._running.values()))
            self._heartbeat_at = began + _HEARTBEAT_SECONDS
        if not self._has_work(snapshot):
            return _Turn([], self._until_next(snapshot))
        unit = UnitOfWork(self._instance.database, reads_outside_transaction=False)
        outcomes: list[JobOutcome] = []
        timer = asyncio.get_running_loop().call_later(_LONG_TURN_SECONDS, self._turn_is_long)
        try:
            await unit.begin()
            # Taken after `begin`, to include the attempts that ended while it waited for another writer.
            outcomes = self._recorder.take()
            return await self._transact(unit, snapshot, outcomes)
        except BaseException:
            self._recorder.put_back(outcomes)
            self._schedules.forget()
            await unit.rollback()
            raise
        finally:
            timer.cancel()
            self._is_turn_long = False

    def _turn_is_long(self) -> None:
        """Record beside this turn what has ended since it began, and what ends before it does."""
        if self._tasks:
            self._is_turn_long = True
            self._recorder.start_side_recording(1)

    async def _transact(self, unit: UnitOfWork, snapshot: QueueSnapshot, outcomes: list[JobOutcome]) -> _Turn:
        began = asyncio.get_running_loop().time()
        has_more = bool(outcomes) and await self._recorder.record(unit, outcomes)
        events = 0
        jobs: list[ClaimedJob] = []
        is_dispatch_left = bool(outcomes) and self._has_event_backlog
        if not self._is_stopping:
            has_news = self._may_create_jobs(snapshot) or has_more
            events = await self._make_due(unit, snapshot, may_dispatch=not is_dispatch_left)
            self._has_event_backlog = events >= OUTBOX_BATCH_SIZE
            jobs = await self._claim(
                unit, [queue for queue in snapshot.queues if has_news or snapshot.is_due(queue)]
            )
        await unit.commit()
        self._recorder.recorded(outcomes, began)
        if jobs and not self._running:
            self._heartbeat_at = self._instance.clock.monotonic() + _HEARTBEAT_SECONDS
        for is_reached, name in (
            (outcomes, "after_finish"),
            (events, "after_relay_commit"),
            (jobs, "after_claim"),
        ):
            if is_reached:
                failpoint(name)
        is_more_due = events or is_dispatch_left or len(jobs) >= MAX_CLAIMED_PER_TURN
        return _Turn(jobs, 0 if is_more_due else self._until_next(snapshot))

    @property
    def _holds_leases(self) -> bool:
        return bool(self._running or self._recorder.waiting)

    @property
    def _is_heartbeat_due(self) -> bool:
        return self._holds_leases and self._instance.clock.monotonic() >= self._heartbeat_at

    async def _make_due(self, unit: UnitOfWork, snapshot: QueueSnapshot, *, may_dispatch: bool) -> int:
        """Reclaim jobs of dead workers, fire schedules and dispatch events; return the number of events."""
        if snapshot.is_lease_over:
            await self._queue.reclaim(unit, snapshot.slack_s)
        if self._schedules.next_at <= snapshot.now:
            await self._schedules.fire(unit, snapshot.now)
        if not (snapshot.has_events and may_dispatch):
            return 0
        events = await self._dispatcher.run(unit)
        failpoint("before_relay_commit")
        return events

    async def _claim(self, unit: UnitOfWork, queues: list[str]) -> list[ClaimedJob]:
        slots = self._slots()
        jobs: list[ClaimedJob] = []
        for queue in queues:
            jobs += await self._queue.claim(unit, queue, slots[queue])
        return jobs

    def _may_create_jobs(self, snapshot: QueueSnapshot) -> bool:
        """Return whether this turn may create jobs that the snapshot does not contain."""
        return snapshot.has_events or snapshot.is_lease_over or self._schedules.next_at <= snapshot.now

    def _has_work(self, snapshot: QueueSnapshot) -> bool:
        if self._recorder.has_outcomes:
            return True
        if self._is_stopping:
            return False
        return self._may_create_jobs(snapshot) or any(
            snapshot.is_due(queue) and slots.free > 0 for queue, slots in self._slots().items()
        )

    def _slots(self) -> dict[str, QueueSlots]:
        """Return the slots of each queue, with those of the running jobs taken."""
        slots = {
            queue: QueueSlots(limit, is_quick=partial(self._lanes.is_quick, queue))
            for queue, limit in self._queue.limits.items()
        }
        for job in self._running.values():
            slots[job.queue].take(job)
        return slots

    def _until_next(self, snapshot: QueueSnapshot) -> float:
        """Return the seconds until something becomes due; what is already due was handled in this turn."""
        moments = [*snapshot.queues.values(), snapshot.lease_ends, self._schedules.next_at]
        ahead = [moment - snapshot.now for moment in moments if moment is not None and moment > snapshot.now]
        return min([*ahead, _POLL_SECONDS])


def _handlers_of(instance: Instance) -> dict[str, JobHandler[Any]]:
    handlers = handlers_by_name(instance.registry.all(JobHandler))
    for listener in instance.registry.all(Listener):
        if listener.job.name not in handlers:
            raise TypeError(f"nothing implements {listener.job.name}, which listens to {listener.event}")
    return handlers
