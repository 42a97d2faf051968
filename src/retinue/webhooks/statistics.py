"""Statistics of a webhook's deliveries over a period, from hourly sums."""

from datetime import timedelta

import sqlalchemy as sa

from retinue.kit.clock import parse_instant, to_instant
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement, record_statement
from retinue.webhooks.delivery.hourly_stats import hour_id, percentile
from retinue.webhooks.models import Webhook, WebhookHour
from retinue.webhooks.queries import count_pending
from retinue.webhooks.schemas import DeliveryPeriod, WebhookStats

_DAYS_BY_PERIOD = {
    DeliveryPeriod.day: 1,
    DeliveryPeriod.week: 7,
    DeliveryPeriod.month: 30,
    DeliveryPeriod.quarter: 90,
}

_hours = WebhookHour.__table__
_HOURS_SINCE: Statement[WebhookHour] = record_statement(
    WebhookHour,
    sa.select(_hours).where(_hours.c.id >= sa.bindparam("first"), _hours.c.id <= sa.bindparam("last")),
    heavy=True,
)


async def collect(ctx: Context, webhook: Webhook, period: DeliveryPeriod) -> WebhookStats:
    since = to_instant(parse_instant(ctx.now) - timedelta(days=_DAYS_BY_PERIOD[period]))
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
    )
