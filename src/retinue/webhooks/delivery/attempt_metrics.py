"""The metrics of an attempt at a delivery."""

from retinue.kit.clock import Instant, parse_instant
from retinue.kit.context import Context
from retinue.kit.metrics import declarations as metrics
from retinue.webhooks.delivery.attempt import AttemptOutcome


def count_attempt(ctx: Context, outcome: AttemptOutcome, created_at: Instant, *, is_last: bool) -> None:
    if not metrics.WEBHOOK_DELIVERIES.is_on:
        return
    if outcome.error is not None:
        metrics.WEBHOOK_DELIVERIES.count("failed" if is_last else "retried")
        return
    metrics.WEBHOOK_DELIVERIES.count("delivered")
    metrics.WEBHOOK_DELIVERY_LAG.observe(max(0.0, ctx.clock.time() - parse_instant(created_at).timestamp()))
