"""The lanes of this process: they limit concurrency, and quick ones get their jobs in advance.

A fault repeats what was done and not recorded. A lane therefore waits when it is ahead of the recording by
its concurrency, or by a few times that where outcomes are recorded quickly: however slow the database is, a
fault repeats no more of a lane.
"""

import asyncio
from collections import OrderedDict, deque

from retinue.kit.jobs.statements import ClaimedJob

# A lane whose jobs end sooner gets more than its concurrency: they wait here, not for the next turn.
_QUICK_SECONDS = 0.25
_MAX_QUICK_LANES = 10_000
_QUICKLY_RECORDED_FACTOR = 4
_QUICKLY_RECORDED_SECONDS = 0.1

LaneKey = tuple[str, str, str]


def key_of(job: ClaimedJob) -> LaneKey:
    return job.queue, job.tenant_id, job.lane


class _Lane:
    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.running = 0
        self.unrecorded = 0
        self.waiting: deque[asyncio.Future[None]] = deque()

    def admit(self, unrecorded_factor: int) -> None:
        """Let as many of the waiting jobs run as may."""
        while self.waiting and self.running < self.limit:
            if self.unrecorded >= self.limit * unrecorded_factor:
                return
            admitted = self.waiting.popleft()
            if not admitted.done():
                self.running += 1
                self.unrecorded += 1
                admitted.set_result(None)


class Lanes:
    def __init__(self, limits: dict[str, int | None]) -> None:
        """`limits` is the concurrency of one lane, by queue."""
        self._limits = limits
        self._lanes: dict[LaneKey, _Lane] = {}
        self._unrecorded: set[tuple[str, int]] = set()
        self._unrecorded_factor = 1
        self._quick: OrderedDict[LaneKey, None] = OrderedDict()

    async def enter(self, job: ClaimedJob) -> None:
        """Wait until the job may run in its lane."""
        limit = self._limits.get(job.queue) if job.lane else None
        if limit is None:
            return
        key = key_of(job)
        lane = self._lanes.setdefault(key, _Lane(limit))
        admitted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        lane.waiting.append(admitted)
        lane.admit(self._unrecorded_factor)
        try:
            await admitted
        except BaseException:
            if admitted.done() and not admitted.cancelled():
                lane.running -= 1
                lane.unrecorded -= 1
            self._settle(key, lane)
            raise
        self._unrecorded.add((job.id, job.attempt))

    def is_ahead(self, job: ClaimedJob) -> bool:
        """Return whether the job's lane has to wait until what it did is recorded."""
        lane = self._lanes.get(key_of(job)) if job.lane else None
        return lane is not None and lane.unrecorded >= lane.limit * self._unrecorded_factor

    def leave(self, job: ClaimedJob, took_s: float) -> None:
        """Let the next job of the lane run; this one counts until it is recorded."""
        key = key_of(job)
        lane = self._lanes.get(key) if job.lane else None
        if lane is None:
            return
        lane.running -= 1
        self._settle(key, lane)
        self._quick.pop(key, None)
        if took_s < _QUICK_SECONDS:
            self._quick[key] = None
            if len(self._quick) > _MAX_QUICK_LANES:
                self._quick.popitem(last=False)

    def recorded(self, job: ClaimedJob) -> None:
        """Count a job no longer; one that never entered its lane did not count."""
        attempt = (job.id, job.attempt)
        if attempt in self._unrecorded:
            self._unrecorded.discard(attempt)
            key = key_of(job)
            lane = self._lanes[key]
            lane.unrecorded -= 1
            self._settle(key, lane)

    def recording_took(self, seconds: float) -> None:
        """Remember whether what ends is recorded soon."""
        self._unrecorded_factor = _QUICKLY_RECORDED_FACTOR if seconds < _QUICKLY_RECORDED_SECONDS else 1

    def is_quick(self, queue: str, tenant_id: str, lane: str) -> bool:
        return (queue, tenant_id, lane) in self._quick

    def _settle(self, key: LaneKey, lane: _Lane) -> None:
        lane.admit(self._unrecorded_factor)
        if not (lane.running or lane.unrecorded or lane.waiting):
            self._lanes.pop(key, None)
