"""What adds up by the hour: kept as it happens, so that statistics never count deliveries."""

import bisect
from collections import Counter
from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.kit.clock import Instant
from retinue.kit.db.one_of import listed, one_of
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement, reading
from retinue.webhooks.models import DeliveryStatus, Webhook, WebhookHour

_HOUR = len("2026-11-15T08")
_LONGEST_MS = 60_000

_hours = WebhookHour.__table__
_KNOWN = reading(WebhookHour, sa.select(_hours).where(one_of(_hours.c.id, "ids")))
_CHANGED = ("delivered", "failed", "answered", "time_ms", "times", "updated_at")


def _upsert() -> Statement[object]:
    insert = postgresql.insert(_hours)
    return Statement(
        insert.on_conflict_do_update(
            index_elements=["tenant_id", "id"], set_={name: insert.excluded[name] for name in _CHANGED}
        )
    )


_KEEP = _upsert()


def _steps() -> list[int]:
    """The upper ends of the steps that response times are counted in, each a tenth above the one before."""
    ends: list[int] = []
    end = 1.0
    while end < _LONGEST_MS:
        if not ends or round(end) > ends[-1]:
            ends.append(round(end))
        end *= 1.1
    return [*ends, _LONGEST_MS]


STEPS = _steps()


def step_of(time_ms: int) -> int:
    return min(bisect.bisect_left(STEPS, time_ms), len(STEPS) - 1)


class Tally:
    """What a webhook's attempts of one moment add up to."""

    def __init__(self) -> None:
        self.delivered = 0
        self.failed = 0
        self.time_ms = 0
        self.times: Counter[int] = Counter()

    def ended(self, status: DeliveryStatus) -> None:
        self.delivered += status is DeliveryStatus.delivered
        self.failed += status is DeliveryStatus.failed

    def answered(self, time_ms: int) -> None:
        self.time_ms += time_ms
        self.times[step_of(time_ms)] += 1


def hour_id(webhook_id: str, at: Instant) -> str:
    return f"{webhook_id}.{at[:_HOUR]}"


async def add_hours(system: SystemDb, tallies: Sequence[tuple[Webhook, Tally]], now: Instant) -> None:
    """Whoever calls this holds the webhooks, so nobody else changes their hours."""
    if not tallies:
        return
    ids = {hour_id(webhook.id, now): webhook for webhook, _ in tallies}
    hours: dict[str, WebhookHour] = {hour.id: hour for hour in await system.rows(_KNOWN, ids=listed(ids))}
    for webhook, tally in tallies:
        id = hour_id(webhook.id, now)
        hour = hours.setdefault(id, WebhookHour(id=id, tenant_id=webhook.tenant_id, created_at=now, times={}))
        hour.delivered += tally.delivered
        hour.failed += tally.failed
        hour.answered += tally.times.total()
        hour.time_ms += tally.time_ms
        for step, count in tally.times.items():
            hour.times[str(step)] = hour.times.get(str(step), 0) + count
        hour.updated_at = now
    await system.execute_many(_KEEP, map(_row, hours.values()))


def _row(hour: WebhookHour) -> dict[str, object]:
    return {name: getattr(hour, name) for name in hour.__struct_fields__}


def percentile(hours: Iterable[WebhookHour], percent: int) -> int:
    """The end of the step in which so many percent of the answers had come, by the nearest rank."""
    times: Counter[int] = Counter()
    for hour in hours:
        times.update({int(step): count for step, count in hour.times.items()})
    rank = -(-times.total() * percent // 100)
    seen = 0
    for step in sorted(times):
        seen += times[step]
        if seen >= rank:
            return STEPS[step]
    return 0
