"""Writing down how attempts ended: in the worker's turn, or beside it where many have ended.

A turn with little to write down does it all in one transaction, which is the cheapest. Where much ends, and
the database lets two write at a time, another transaction does it while the turn hands on and claims.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import structlog

from retinue.kit.db.unit import Unit
from retinue.kit.failpoints import failpoint
from retinue.kit.instance import Instance
from retinue.kit.jobs.concluding import Concluder
from retinue.kit.jobs.declare import JobKind
from retinue.kit.jobs.queue import JobQueue, Outcome
from retinue.kit.jobs.statements import Claimed

log = structlog.get_logger("retinue.jobs")

MANY = 32

_AFTER_A_FAILURE_S = 1.0


class Recorder:
    def __init__(
        self,
        instance: Instance,
        queue: JobQueue,
        kinds: dict[str, JobKind[Any]],
        *,
        wake: Callable[[], None],
    ) -> None:
        self._instance = instance
        self._queue = queue
        self._concluder = Concluder(instance, queue.worker, kinds)
        self._wake = wake
        self._ended: list[Outcome] = []
        self._beside: asyncio.Task[None] | None = None
        # A beat holds jobs in another order than those that end: one of them waits here, not in the database.
        self._holding_jobs = asyncio.Lock()

    def add(self, outcome: Outcome | None) -> None:
        """One that recorded its own end has none."""
        if outcome is not None:
            self._ended.append(outcome)

    @property
    def is_done(self) -> bool:
        return not self._ended and self._beside is None

    @property
    def has_some_for_the_turn(self) -> bool:
        return bool(self._ended) and self._beside is None

    def take(self) -> list[Outcome]:
        """What the turn is to record itself."""
        if self._beside is not None:
            return []
        taken, self._ended = self._ended, []
        return taken

    def give_back(self, outcomes: list[Outcome]) -> None:
        self._ended = outcomes + self._ended

    async def record(self, unit: Unit, outcomes: list[Outcome]) -> bool:
        """Write them down in the given transaction; whether something may follow at once."""
        failpoint("before_finish")
        is_followed = await self._concluder.conclude(unit, outcomes)
        await self._queue.record(unit, outcomes)
        return is_followed or any(one.state == "ready" for one in outcomes)

    def go_beside(self) -> None:
        """Record beside the turn, if so much has ended that it is worth a transaction of its own."""
        can_two_write = self._instance.database.dialect == "postgresql"
        if can_two_write and self._beside is None and len(self._ended) >= MANY:
            self._beside = asyncio.get_running_loop().create_task(self._record_beside())

    async def settle(self) -> None:
        """Wait for the transaction beside the turn."""
        if self._beside is not None:
            await asyncio.wait([self._beside])

    async def _record_beside(self) -> None:
        try:
            while len(self._ended) >= MANY:
                await self._record_all()
        except Exception:
            log.exception("recording_failed", worker=self._queue.worker)
            await asyncio.sleep(_AFTER_A_FAILURE_S)
        finally:
            self._beside = None
            self._wake()

    async def _record_all(self) -> None:
        outcomes, self._ended = self._ended, []
        unit = Unit(self._instance.database, reads_freely=False)
        try:
            async with self._holding_jobs:
                is_followed = await self.record(unit, outcomes)
                await unit.commit()
        except BaseException:
            self.give_back(outcomes)
            await unit.rollback()
            raise
        failpoint("after_finish")
        if is_followed:
            self._wake()

    async def beat(self, running: Callable[[], list[Claimed]]) -> None:
        """Hold on to what still runs once it is our turn to hold jobs."""
        unit = Unit(self._instance.database, reads_freely=False)
        try:
            async with self._holding_jobs:
                await self._queue.beat(unit, running())
                await unit.commit()
        except BaseException:
            await unit.rollback()
            raise
