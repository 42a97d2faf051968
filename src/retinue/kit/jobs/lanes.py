"""The lanes of this process: they limit concurrency, and quick ones get their jobs in advance."""

import asyncio
from collections import OrderedDict

from retinue.kit.jobs.statements import ClaimedJob

# A lane whose jobs end sooner gets more than its concurrency: they wait here, not for the next turn.
_QUICK_SECONDS = 0.25
_MAX_QUICK_LANES = 10_000

LaneKey = tuple[str, str, str]


def key_of(job: ClaimedJob) -> LaneKey:
    return job.queue, job.tenant_id, job.lane


class Lanes:
    def __init__(self, limits: dict[str, int | None]) -> None:
        """`limits` is the concurrency of one lane, by queue."""
        self._limits = limits
        self._gates: dict[LaneKey, asyncio.Semaphore] = {}
        self._users: dict[LaneKey, int] = {}
        self._quick: OrderedDict[LaneKey, None] = OrderedDict()

    async def enter(self, job: ClaimedJob) -> None:
        """Wait for a slot in the job's lane."""
        limit = self._limits.get(job.queue) if job.lane else None
        if limit is None:
            return
        key = key_of(job)
        gate = self._gates.setdefault(key, asyncio.Semaphore(limit))
        self._users[key] = self._users.get(key, 0) + 1
        try:
            await gate.acquire()
        except BaseException:
            self._forget(key)
            raise

    def leave(self, job: ClaimedJob, took_s: float) -> None:
        key = key_of(job)
        gate = self._gates.get(key) if job.lane else None
        if gate is None:
            return
        gate.release()
        self._forget(key)
        self._quick.pop(key, None)
        if took_s < _QUICK_SECONDS:
            self._quick[key] = None
            if len(self._quick) > _MAX_QUICK_LANES:
                self._quick.popitem(last=False)

    def is_quick(self, queue: str, tenant_id: str, lane: str) -> bool:
        return (queue, tenant_id, lane) in self._quick

    def _forget(self, key: LaneKey) -> None:
        self._users[key] -= 1
        if not self._users[key]:
            del self._users[key], self._gates[key]
