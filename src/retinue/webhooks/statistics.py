"""Statistics of a webhook's deliveries over a period, from hourly sums."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal

import sqlalchemy as sa
from msgspec import UNSET, UnsetType

from retinue.kit.clock import Instant, parse_instant, to_instant
from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.errors import Invalid
from retinue.webhooks.delivery.hourly_stats import hour_id, percentile
from retinue.webhooks.models import DeliveryStatus, Webhook, WebhookDelivery, WebhookHour
from retinue.webhooks.queries import count_pending
from retinue.webhooks.schemas import DeliveryPeriod, DeliveryPoint, WebhookStats, WebhookStatsQuery

Interval = Literal["hour", "day"]

MAX_DAYS_BY_HOUR = 7
"""The longest period that is told by the hour."""
_HOURS_OF_A_DAY = 24
_HOUR_LENGTH, _DAY_LENGTH = len("2026-11-15T08"), len("2026-11-15")
_MIDNIGHT = "2026-11-15T00:00:00.000000Z"

_DAYS_BY_PERIOD = {
    DeliveryPeriod.day: 1,
    DeliveryPeriod.week: 7,
    DeliveryPeriod.month: 30,
    DeliveryPeriod.quarter: 90,
}

_hours, _deliveries = WebhookHour.__table__, WebhookDelivery.__table__
_HOURS_SINCE: Statement[WebhookHour] = record_statement(
    WebhookHour,
    sa.select(_hours).where(_hours.c.id >= sa.bindparam("first"), _hours.c.id <= sa.bindparam("last")),
    heavy=True,
)
_HOURS_BY_ID: Statement[WebhookHour] = record_statement(
    WebhookHour, sa.select(_hours).where(in_list(_hours.c.id, "ids"))
)


_waiting_since = (
    sa.select(
        _deliveries.c.webhook_id, sa.func.substr(_deliveries.c.created_at, 1, _HOUR_LENGTH).label("hour")
    )
    .where(
        in_list(_deliveries.c.webhook_id, "webhook_ids"),
        _deliveries.c.status == sa.literal(DeliveryStatus.pending.value),
        _deliveries.c.created_at >= sa.bindparam("since", type_=sa.Text()),
    )
    .subquery()
)
_PENDING_BY_HOUR: Statement[Any] = Statement(
    sa.select(_waiting_since.c.webhook_id, _waiting_since.c.hour, sa.func.count()).group_by(
        _waiting_since.c.webhook_id, _waiting_since.c.hour
    ),
    heavy=True,
)


async def collect(ctx: Context, webhook: Webhook, query: WebhookStatsQuery) -> WebhookStats:
    period, days = query.period, _DAYS_BY_PERIOD[query.period]
    if query.interval == "hour" and days > MAX_DAYS_BY_HOUR:
        raise Invalid({"interval": "can be hour only for periods of at most 7 days"})
    since = to_instant(parse_instant(ctx.now) - timedelta(days=days))
    hours = await ctx.db.rows(_HOURS_SINCE, first=hour_id(webhook.id, since), last=f"{webhook.id}.~")
    delivered = sum(hour.delivered for hour in hours)
    failed = sum(hour.failed for hour in hours)
    answered = sum(hour.answered for hour in hours)
    pending = await count_pending(ctx, webhook)
    return WebhookStats(
        webhook_id=webhook.id,
        period=period,
        total=delivered + failed + pending,
        delivered=delivered,
        failed=failed,
        pending=pending,
        success_rate=round(100 * delivered / (delivered + failed), 1) if delivered + failed else 0.0,
        avg_response_time_ms=round(sum(hour.time_ms for hour in hours) / answered) if answered else 0,
        p95_response_time_ms=percentile(hours, 95),
        series=await _series_of(ctx, webhook, hours, since, query.interval),
    )


async def _series_of(
    ctx: Context, webhook: Webhook, hours: list[WebhookHour], since: Instant, interval: Interval | None
) -> list[DeliveryPoint] | UnsetType:
    if interval is None:
        return UNSET
    waiting = (await _load_pending(ctx, [webhook.id], since)).get(webhook.id, {})
    return _series(hours, waiting, since, ctx.now, interval)


async def _load_pending(ctx: Context, webhook_ids: list[str], since: Instant) -> dict[str, dict[str, int]]:
    """Return the number of pending deliveries by webhook and by the hour in which they were created."""
    found: dict[str, dict[str, int]] = {}
    rows = await ctx.db.rows(_PENDING_BY_HOUR, webhook_ids=list_parameter(webhook_ids), since=since)
    for webhook_id, hour, count in rows:
        found.setdefault(webhook_id, {})[hour] = count
    return found


def _series(
    hours: Iterable[WebhookHour],
    waiting: Mapping[str, int],
    since: Instant,
    until: Instant,
    interval: Interval,
) -> list[DeliveryPoint]:
    """Return the counts of every hour or day from the one of `since` on, also of those without deliveries."""
    length = _HOUR_LENGTH if interval == "hour" else _DAY_LENGTH
    step = timedelta(hours=1) if interval == "hour" else timedelta(days=1)
    delivered: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    pending: Counter[str] = Counter()
    for hour in hours:
        start = hour.id.rpartition(".")[2][:length]
        delivered[start] += hour.delivered
        failed[start] += hour.failed
    for started, count in waiting.items():
        pending[started[:length]] += count
    end, at, series = until[:length], parse_instant(since), []
    while (start := to_instant(at)[:length]) <= end:
        counts = {"delivered": delivered[start], "failed": failed[start], "pending": pending[start]}
        series.append(DeliveryPoint(start=start + _MIDNIGHT[length:], **counts))
        at += step
    return series


async def collect_last_day(ctx: Context, webhooks: Sequence[Webhook]) -> dict[str, list[DeliveryPoint]]:
    """Return the counts by hour of the last 24 hours, for each webhook of a page."""
    latest = parse_instant(ctx.now)
    since = to_instant(latest - timedelta(hours=_HOURS_OF_A_DAY))
    instants = [to_instant(latest - timedelta(hours=ago)) for ago in range(_HOURS_OF_A_DAY + 1)]
    ids = [hour_id(webhook.id, at) for webhook in webhooks for at in instants]
    hours: dict[str, list[WebhookHour]] = {webhook.id: [] for webhook in webhooks}
    for hour in await ctx.db.rows(_HOURS_BY_ID, ids=list_parameter(ids)):
        hours[hour.id.partition(".")[0]].append(hour)
    pending = await _load_pending(ctx, list(hours), since)
    return {
        id: _series(of_webhook, pending.get(id, {}), since, ctx.now, "hour")
        for id, of_webhook in hours.items()
    }
