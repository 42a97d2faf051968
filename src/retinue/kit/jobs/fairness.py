"""Tenants take turns, and so do their lanes: whoever has much waiting does not keep the others waiting."""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from math import ceil

import msgspec

from retinue.kit.jobs.statements import Claimed

_TENANT_SHARE = 0.9
_AHEAD = 8


class Limit(msgspec.Struct, frozen=True):
    """How many jobs of a queue one process runs at once, and how many of those in one lane."""

    at_once: int
    per_lane: int | None = None

    @property
    def share(self) -> int:
        """How many places one tenant may hold: its slow jobs must leave room for the others."""
        return max(1, ceil(self.at_once * _TENANT_SHARE))


class Places:
    """The places of one queue in this process, and who holds them."""

    def __init__(
        self,
        limit: Limit,
        held: Iterable[Claimed] = (),
        is_quick: Callable[[str, str], bool] = lambda _tenant_id, _lane: False,
    ) -> None:
        """A quick lane may hold several times as many as run at once, so that it need not wait for a turn."""
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

    def take(self, job: Claimed) -> None:
        self._held += 1
        self._by_tenant[job.tenant_id] += 1
        if job.lane:
            self._by_lane[job.tenant_id, job.lane] += 1

    def has_room_for(self, tenant_id: str, lane: str) -> bool:
        if self._by_tenant[tenant_id] >= self._limit.share:
            return False
        per_lane = self._limit.per_lane
        if not lane or per_lane is None:
            return True
        held = self._by_lane[tenant_id, lane]
        return held < per_lane or (held < per_lane * _AHEAD and self._is_quick(tenant_id, lane))


def take_turns(candidates: Iterable[Claimed], places: Places, most: int) -> list[Claimed]:
    """As many as there are places: one of each tenant, then a second of each, as the tenants first appear."""
    lines: dict[str, list[Claimed]] = {}
    for job in candidates:
        lines.setdefault(job.tenant_id, []).append(job)
    waiting = deque(
        (tenant_id, deque(sorted(line, key=lambda job: (job.priority, job.run_at))))
        for tenant_id, line in lines.items()
    )
    chosen: list[Claimed] = []
    while waiting and places.free > 0 and len(chosen) < most:
        tenant_id, line = waiting.popleft()
        following = _next_with_room(line, places)
        if following is None:
            continue
        chosen.append(following)
        places.take(following)
        waiting.append((tenant_id, line))
    return chosen


def _next_with_room(line: deque[Claimed], places: Places) -> Claimed | None:
    while line:
        job = line.popleft()
        if places.has_room_for(job.tenant_id, job.lane):
            return job
    return None
