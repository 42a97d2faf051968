"""Hourly sums, updated with every result, so that statistics never count deliveries."""

import bisect
from collections import Counter
from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.kit.clock import Instant
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement, record_statement
from retinue.webhooks.models import DeliveryStatus, Webhook, WebhookHour

_HOUR_PREFIX_LENGTH = len("2026-11-15T08")
_MAX_RESPONSE_MS = 60_000

_hours = WebhookHour.__table__
_EXISTING_HOURS = record_statement(WebhookHour, sa.select(_hours).where(in_list(_hours.c.id, "ids")))
_UPDATED_COLUMNS = ("delivered", "failed", "answered", "time_ms", "times", "updated_at")


def _upsert() -> Statement[object]:
    insert = postgresql.insert(_hours)
    return Statement(
        insert.on_conflict_do_update(
            index_elements=["tenant_id", "id"],
            set_={name: insert.excluded[name] for name in _UPDATED_COLUMNS},
        )
    )


_UPSERT_HOURS = _upsert()


def _bucket_bounds() -> list[int]:
    """Return the upper bounds of the response time buckets, each 10 % above the previous one."""
    bounds: list[int] = []
    end = 1.0
    while end < _MAX_RESPONSE_MS:
        if not bounds or round(end) > bounds[-1]:
            bounds.append(round(end))
        end *= 1.1
    return [*bounds, _MAX_RESPONSE_MS]


BUCKET_BOUNDS = _bucket_bounds()


def bucket_of(time_ms: int) -> int:
    return min(bisect.bisect_left(BUCKET_BOUNDS, time_ms), len(BUCKET_BOUNDS) - 1)


class HourlyTally:
    """Sums of one webhook's results in a batch."""

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
        self.times[bucket_of(time_ms)] += 1


def hour_id(webhook_id: str, at: Instant) -> str:
    return f"{webhook_id}.{at[:_HOUR_PREFIX_LENGTH]}"


async def add_hourly_tallies(
    system: SystemDb, tallies: Sequence[tuple[Webhook, HourlyTally]], now: Instant
) -> None:
    """Add the tallies to their hours; the caller has locked the webhooks, so nobody else changes them."""
    if not tallies:
        return
    ids = {hour_id(webhook.id, now): webhook for webhook, _ in tallies}
    hours: dict[str, WebhookHour] = {
        hour.id: hour for hour in await system.rows(_EXISTING_HOURS, ids=list_parameter(ids))
    }
    for webhook, tally in tallies:
        id = hour_id(webhook.id, now)
        hour = hours.setdefault(id, WebhookHour(id=id, tenant_id=webhook.tenant_id, created_at=now, times={}))
        hour.delivered += tally.delivered
        hour.failed += tally.failed
        hour.answered += tally.times.total()
        hour.time_ms += tally.time_ms
        for bucket, count in tally.times.items():
            hour.times[str(bucket)] = hour.times.get(str(bucket), 0) + count
        hour.updated_at = now
    await system.execute_many(_UPSERT_HOURS, map(_row, hours.values()))


def _row(hour: WebhookHour) -> dict[str, object]:
    return {name: getattr(hour, name) for name in hour.__struct_fields__}


def percentile(hours: Iterable[WebhookHour], percent: int) -> int:
    """Return the upper bound of the percentile's bucket, by the nearest-rank method."""
    times: Counter[int] = Counter()
    for hour in hours:
        times.update({int(bucket): count for bucket, count in hour.times.items()})
    rank = -(-times.total() * percent // 100)
    seen = 0
    for bucket in sorted(times):
        seen += times[bucket]
        if seen >= rank:
            return BUCKET_BOUNDS[bucket]
    return 0
