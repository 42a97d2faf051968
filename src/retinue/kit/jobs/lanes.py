"""The lanes of this process: how many of each run at once, and which are quick enough to be fed ahead."""

import asyncio
from collections import OrderedDict

from retinue.kit.jobs.statements import Claimed

# A lane whose jobs end sooner is given more than run at once: they wait here, not for the next turn.
_QUICK_S = 0.25
_MOST_REMEMBERED = 10_000

LaneKey = tuple[str, str, str]


def key_of(job: Claimed) -> LaneKey:
    return job.queue, job.tenant_id, job.lane


class Lanes:
    def __init__(self, limits: dict[str, int | None]) -> None:
        """`limits` says for each queue how many jobs of one lane run at once."""
        self._limits = limits
        self._gates: dict[LaneKey, asyncio.Semaphore] = {}
        self._users: dict[LaneKey, int] = {}
        self._quick: OrderedDict[LaneKey, None] = OrderedDict()

    async def enter(self, job: Claimed) -> None:
        """Wait for a place in the job's lane."""
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

    def leave(self, job: Claimed, took_s: float) -> None:
        key = key_of(job)
        gate = self._gates.get(key) if job.lane else None
        if gate is None:
            return
        gate.release()
        self._forget(key)
        self._quick.pop(key, None)
        if took_s < _QUICK_S:
            self._quick[key] = None
            if len(self._quick) > _MOST_REMEMBERED:
                self._quick.popitem(last=False)

    def is_quick(self, queue: str, tenant_id: str, lane: str) -> bool:
        return (queue, tenant_id, lane) in self._quick

    def _forget(self, key: LaneKey) -> None:
        self._users[key] -= 1
        if not self._users[key]:
            del self._users[key], self._gates[key]
