"""Tenants take turns: whoever has much waiting does not keep the others waiting."""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from math import ceil

from retinue.kit.jobs.statements import Claimed

_TENANT_SHARE = 0.9


def share_of(limit: int) -> int:
    """How many of a queue's places one tenant may hold: its slow jobs must leave room for the others."""
    return max(1, ceil(limit * _TENANT_SHARE))


def take_turns(
    candidates: Iterable[Claimed], *, free: int, running: Mapping[str, int], share: int
) -> list[Claimed]:
    """Up to `free` jobs: one of each tenant, then a second of each, in the order the tenants first appear."""
    lines: dict[str, list[Claimed]] = {}
    for job in candidates:
        lines.setdefault(job.tenant_id, []).append(job)
    waiting = deque(
        (tenant_id, deque(sorted(line, key=lambda job: (job.priority, job.run_at))))
        for tenant_id, line in lines.items()
    )
    holding = Counter(running)
    chosen: list[Claimed] = []
    while waiting and len(chosen) < free:
        tenant_id, line = waiting.popleft()
        if holding[tenant_id] >= share:
            continue
        chosen.append(line.popleft())
        holding[tenant_id] += 1
        if line:
            waiting.append((tenant_id, line))
    return chosen
