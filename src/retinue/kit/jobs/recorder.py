"""Recording of outcomes: in the worker's turn, or in a transaction beside it when many attempts have ended.

A turn with few outcomes records them in its own transaction, which is cheapest. With many outcomes, or some
that have waited for a long turn, a second transaction records them while the turn dispatches and claims, if
the database has concurrent writers.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import structlog

from retinue.kit.context.instance import Instance
from retinue.kit.db.errors import StorageFull
from retinue.kit.db.session import SystemDb
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.failpoints import failpoint
from retinue.kit.jobs.conclude_hooks import Concluder
from retinue.kit.jobs.declare import JobHandler
from retinue.kit.jobs.enqueue import enqueue
from retinue.kit.jobs.queue import JobOutcome, JobQueue
from retinue.kit.jobs.statements import ClaimedJob
from retinue.kit.tracing.parts import store_finished_parts

log = structlog.get_logger("retinue.jobs")

MIN_SIDE_BATCH = 32

_FAILURE_PAUSE_SECONDS = 1.0


class OutcomeRecorder:
    def __init__(
        self,
        instance: Instance,
        queue: JobQueue,
        handlers: dict[str, JobHandler[Any]],
        *,
        wake: Callable[[], None],
        when_recorded: Callable[[list[JobOutcome], float], None],
    ) -> None:
        self._instance = instance
        self._queue = queue
        self._concluder = Concluder(instance, queue.worker, handlers)
        self._wake = wake
        self._when_recorded = when_recorded
        self._ended: list[JobOutcome] = []
        self._side_task: asyncio.Task[None] | None = None
        # Heartbeats and outcomes lock jobs in different orders; without this lock they could deadlock.
        self._holding_jobs = asyncio.Lock()

    def add(self, outcome: JobOutcome | None) -> None:
        """Add an outcome to record; None if the attempt recorded it itself."""
        if outcome is not None:
            self._ended.append(outcome)

    @property
    def is_done(self) -> bool:
        return not self._ended and self._side_task is None

    @property
    def has_outcomes(self) -> bool:
        return bool(self._ended) and self._side_task is None

    @property
    def waiting(self) -> list[ClaimedJob]:
        """The jobs that have ended, but are still leased because this is not recorded."""
        return [outcome.job for outcome in self._ended]

    def take(self) -> list[JobOutcome]:
        """Return the outcomes that the turn must record itself."""
        if self._side_task is not None:
            return []
        taken, self._ended = self._ended, []
        return taken

    def put_back(self, outcomes: list[JobOutcome]) -> None:
        self._ended = outcomes + self._ended

    async def record(self, unit: UnitOfWork, outcomes: list[JobOutcome]) -> bool:
        """Record the outcomes in the given transaction; return whether jobs may be due at once."""
        failpoint("before_finish")
        is_followed = await self._concluder.conclude(unit, outcomes)
        await self._store_trace_parts(unit, outcomes)
        await self._queue.record(unit, outcomes)
        return is_followed or any(one.state == "ready" for one in outcomes)

    async def _store_trace_parts(self, unit: UnitOfWork, outcomes: list[JobOutcome]) -> None:
        finished = [one.trace_part for one in outcomes if one.trace_part is not None]
        if finished:
            clock = self._instance.clock
            system = SystemDb(unit, clock, self._instance.ring)
            await enqueue(unit, clock, await store_finished_parts(system, clock, finished))

    def recorded(self, outcomes: list[JobOutcome], began: float) -> None:
        """Tell that the transaction of these outcomes, which were taken then, is committed."""
        if outcomes:
            self._when_recorded(outcomes, asyncio.get_running_loop().time() - began)

    def start_side_recording(self, min_batch: int | None = None) -> None:
        """Record beside the turn if enough attempts have ended to justify another transaction."""
        is_enough = len(self._ended) >= (min_batch or MIN_SIDE_BATCH)
        can_two_write = self._instance.database.dialect == "postgresql"
        if is_enough and can_two_write and self._side_task is None:
            self._side_task = asyncio.get_running_loop().create_task(self._record_in_side_task())

    async def settle(self) -> None:
        """Wait for the transaction beside the turn."""
        if self._side_task is not None:
            await asyncio.wait([self._side_task])

    async def _record_in_side_task(self) -> None:
        try:
            await self.record_all()
            while len(self._ended) >= MIN_SIDE_BATCH:
                await self.record_all()
        except StorageFull:
            log.warning("storage_full", worker=self._queue.worker)
            await asyncio.sleep(_FAILURE_PAUSE_SECONDS)
        except Exception:
            log.exception("recording_failed", worker=self._queue.worker)
            await asyncio.sleep(_FAILURE_PAUSE_SECONDS)
        finally:
            self._side_task = None
            self._wake()

    async def record_all(self) -> None:
        """Record what has ended in a transaction of its own."""
        outcomes, self._ended = self._ended, []
        began = asyncio.get_running_loop().time()
        unit = UnitOfWork(self._instance.database, reads_outside_transaction=False)
        try:
            async with self._holding_jobs:
                is_followed = await self.record(unit, outcomes)
                await unit.commit()
        except BaseException:
            self.put_back(outcomes)
            await unit.rollback()
            raise
        failpoint("after_finish")
        self.recorded(outcomes, began)
        if is_followed:
            self._wake()

    async def beat(self, running: Callable[[], list[ClaimedJob]]) -> None:
        """Renew the leases of the jobs that still run, or wait to be recorded, once the lock is acquired."""
        unit = UnitOfWork(self._instance.database, reads_outside_transaction=False)
        try:
            async with self._holding_jobs:
                await self._queue.beat(unit, [*running(), *self.waiting])
                await unit.commit()
        except BaseException:
            await unit.rollback()
            raise
