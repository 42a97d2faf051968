"""Fairness: tenants and their lanes take turns, so that a long backlog does not block the others."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from math import ceil
from typing import Any

import msgspec

from retinue.kit.jobs.declare import JobHandler
from retinue.kit.jobs.statements import ClaimedJob

_TENANT_SHARE = 0.9
_QUICK_LANE_FACTOR = 8


class QueueLimit(msgspec.Struct, frozen=True):
    """The number of jobs of a queue that one process runs concurrently, in total and per lane."""

    at_once: int
    per_lane: int | None = None

    @property
    def share(self) -> int:
        """The number of slots that one tenant may hold: its slow jobs must leave some for the others."""
        return max(1, ceil(self.at_once * _TENANT_SHARE))


class QueueSlots:
    """The slots of one queue in this process, and the jobs that hold them."""

    def __init__(
        self,
        limit: QueueLimit,
        held: Iterable[ClaimedJob] = (),
        is_quick: Callable[[str, str], bool] = lambda _tenant_id, _lane: False,
    ) -> None:
        """A quick lane may hold several times its concurrency, so that it does not wait for the next turn."""
        self._limit = limit
        self._is_quick = is_quick
        self._held = 0
        self._by_tenant: Counter[str] = Counter()
        self._by_lane: Counter[tuple[str, str]] = Counter()
        for job in held:
            self.take(job)

    @property
    def free(self) -> int:
        return self._limit.at_once - self._held

    def take(self, job: ClaimedJob) -> None:
        self._held += 1
        self._by_tenant[job.tenant_id] += 1
        if job.lane:
            self._by_lane[job.tenant_id, job.lane] += 1

    def has_slot_for(self, tenant_id: str, lane: str) -> bool:
        if self._by_tenant[tenant_id] >= self._limit.share:
            return False
        per_lane = self._limit.per_lane
        if not lane or per_lane is None:
            return True
        held = self._by_lane[tenant_id, lane]
        return held < per_lane or (held < per_lane * _QUICK_LANE_FACTOR and self._is_quick(tenant_id, lane))


def choose_fairly(candidates: Iterable[ClaimedJob], slots: QueueSlots, max_jobs: int) -> list[ClaimedJob]:
    """Choose as many jobs as there are slots: one of each tenant, then a second of each, and so on."""
    by_tenant: dict[str, list[ClaimedJob]] = {}
    for job in candidates:
        by_tenant.setdefault(job.tenant_id, []).append(job)
    waiting = deque(
        (tenant_id, deque(sorted(jobs, key=lambda job: (job.priority, job.run_at))))
        for tenant_id, jobs in by_tenant.items()
    )
    chosen: list[ClaimedJob] = []
    while waiting and slots.free > 0 and len(chosen) < max_jobs:
        tenant_id, backlog = waiting.popleft()
        following = _next_with_slot(backlog, slots)
        if following is None:
            continue
        chosen.append(following)
        slots.take(following)
        waiting.append((tenant_id, backlog))
    return chosen


def _next_with_slot(backlog: deque[ClaimedJob], slots: QueueSlots) -> ClaimedJob | None:
    while backlog:
        job = backlog.popleft()
        if slots.has_slot_for(job.tenant_id, job.lane):
            return job
    return None


def declared_limits(handlers: Iterable[JobHandler[Any]], default: int) -> dict[str, QueueLimit]:
    """Return the limits of each queue: the smallest that one of its jobs declares, or the default."""
    by_queue: defaultdict[str, list[JobHandler[Any]]] = defaultdict(list)
    for handler in sorted(handlers, key=lambda handler: handler.kind.queue):
        by_queue[handler.kind.queue].append(handler)
    return {
        queue: QueueLimit(
            at_once=min((one.at_once for one in of_queue if one.at_once), default=default),
            per_lane=min((one.per_lane for one in of_queue if one.per_lane), default=None),
        )
        for queue, of_queue in by_queue.items()
    }
