"""Batched recording of results: deliveries, their attempts, and the sums derived from them.

Webhooks are locked before their deliveries, each in the order of ids, to prevent deadlocks. A delivery that
has ended keeps its result; a late attempt is only added to its attempts.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Instant, instant_from_timestamp, parse_instant, to_instant
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.json_types import JsonObject
from retinue.usage.meters import build_entry
from retinue.usage.models import UsageEntry
from retinue.webhooks.delivery.attempt import AttemptOutcome
from retinue.webhooks.delivery.hourly_stats import HourlyTally, add_hourly_tallies
from retinue.webhooks.models import DeliveryStatus, Webhook, WebhookAttempt, WebhookDelivery

DISABLE_AFTER = timedelta(days=5)

_webhooks, _deliveries = Webhook.__table__, WebhookDelivery.__table__


class DeliveryAborted(msgspec.Struct):
    """The end of a delivery without another attempt, and the reason."""

    delivery_id: str
    webhook_id: str
    error: str
    error_message: str


class DeliveryResult(msgspec.Struct):
    """The result of an attempt; `next_at` is set if the delivery is retried."""

    outcome: AttemptOutcome | DeliveryAborted
    next_at: float | None = None


_LOCK_WEBHOOKS = record_statement(
    Webhook,
    sa.select(_webhooks).where(in_list(_webhooks.c.id, "ids")).order_by(_webhooks.c.id).with_for_update(),
)
_LOCK_DELIVERIES = record_statement(
    WebhookDelivery,
    sa.select(_deliveries)
    .where(in_list(_deliveries.c.id, "ids"))
    .order_by(_deliveries.c.id)
    .with_for_update(),
)
_DELIVERY_COLUMNS = (
    "status",
    "attempt",
    "response_code",
    "response_time_ms",
    "error",
    "error_message",
    "next_attempt_at",
    "completed_at",
    "is_scheduled",
    "updated_at",
)
_WEBHOOK_COLUMNS = ("disable_at", "last_delivery_at", "delivered_count", "failed_count")


def _update_statement(table: sa.Table, names: tuple[str, ...]) -> Statement[Any]:
    return Statement(
        sa.update(table)
        .where(table.c.tenant_id == sa.bindparam("of_tenant"), table.c.id == sa.bindparam("of_id"))
        .values({name: sa.bindparam(f"new_{name}", type_=table.c[name].type) for name in names})
    )


_UPDATE_DELIVERY = _update_statement(_deliveries, _DELIVERY_COLUMNS)
_UPDATE_WEBHOOK = _update_statement(_webhooks, _WEBHOOK_COLUMNS)


def _update_values(record: Webhook | WebhookDelivery, names: tuple[str, ...]) -> JsonObject:
    values = {f"new_{name}": getattr(record, name) for name in names}
    return {"of_tenant": record.tenant_id, "of_id": record.id, **values}


class LockedDeliveries:
    """The webhooks and deliveries of a batch, locked until the transaction ends."""

    def __init__(self, webhooks: Sequence[Webhook], deliveries: Sequence[WebhookDelivery]) -> None:
        self.webhooks = {webhook.id: webhook for webhook in webhooks}
        self.deliveries = {delivery.id: delivery for delivery in deliveries}
        self.attempts: list[WebhookAttempt] = []
        self.tallies: defaultdict[str, HourlyTally] = defaultdict(HourlyTally)
        self.failing_webhook_ids: set[str] = set()

    def add_result(self, result: DeliveryResult, now: Instant) -> None:
        outcome = result.outcome
        delivery = self.deliveries.get(outcome.delivery_id)
        if delivery is None:
            return
        before = delivery.status
        if isinstance(outcome, AttemptOutcome):
            self.attempts.append(_new_attempt(delivery, outcome))
        _apply_to_delivery(delivery, result, now)
        webhook = self.webhooks.get(delivery.webhook_id)
        if webhook is None:
            return
        tally = self.tallies[webhook.id]
        if isinstance(outcome, AttemptOutcome):
            _update_health(webhook, outcome)
            if outcome.response_code is not None:
                tally.answered(outcome.response_time_ms)
            if _is_past_disable_time(webhook, outcome):
                self.failing_webhook_ids.add(webhook.id)
        if delivery.status is not before:
            adjust_counts(webhook, before, -1)
            adjust_counts(webhook, delivery.status, 1)
            tally.ended(delivery.status)


async def record_results(system: SystemDb, results: Sequence[DeliveryResult], now: Instant) -> set[str]:
    """Record the results; return the ids of webhooks to disable."""
    webhooks = await system.rows(
        _LOCK_WEBHOOKS, ids=list_parameter({result.outcome.webhook_id for result in results})
    )
    deliveries = await system.rows(
        _LOCK_DELIVERIES, ids=list_parameter({result.outcome.delivery_id for result in results})
    )
    locked = LockedDeliveries(webhooks, deliveries)
    for result in results:
        locked.add_result(result, now)
    await system.execute_many(
        _UPDATE_DELIVERY, [_update_values(delivery, _DELIVERY_COLUMNS) for delivery in deliveries]
    )
    await system.insert_many(locked.attempts)
    await system.execute_many(
        _UPDATE_WEBHOOK, [_update_values(webhook, _WEBHOOK_COLUMNS) for webhook in webhooks]
    )
    await system.insert_many(_usage_entries(locked, now))
    await add_hourly_tallies(
        system, [(locked.webhooks[id], tally) for id, tally in locked.tallies.items()], now
    )
    return locked.failing_webhook_ids


def _usage_entries(locked: LockedDeliveries, now: Instant) -> list[UsageEntry]:
    ended: Counter[str] = Counter()
    for id, tally in locked.tallies.items():
        ended[locked.webhooks[id].tenant_id] += tally.delivered + tally.failed
    counted = ((tenant_id, {"webhook_deliveries": n}) for tenant_id, n in sorted(ended.items()) if n)
    return [build_entry(tenant_id, now, counts) for tenant_id, counts in counted]


def adjust_counts(webhook: Webhook, status: DeliveryStatus, by: int) -> None:
    if status is DeliveryStatus.delivered:
        webhook.delivered_count += by
    elif status is DeliveryStatus.failed:
        webhook.failed_count += by


def _new_attempt(delivery: WebhookDelivery, attempt_outcome: AttemptOutcome) -> WebhookAttempt:
    delivery.attempt += 1
    delivery.response_code = attempt_outcome.response_code
    delivery.response_time_ms = attempt_outcome.response_time_ms
    return WebhookAttempt(
        tenant_id=delivery.tenant_id,
        delivery_id=delivery.id,
        number=delivery.attempt,
        started_at=attempt_outcome.started_at,
        response_code=attempt_outcome.response_code,
        response_time_ms=attempt_outcome.response_time_ms,
        response_body=attempt_outcome.response_body,
        error=attempt_outcome.error,
        error_message=attempt_outcome.error_message,
    )


def _apply_to_delivery(delivery: WebhookDelivery, result: DeliveryResult, now: Instant) -> None:
    delivery.updated_at = now
    if delivery.status is not DeliveryStatus.pending:
        return
    outcome = result.outcome
    delivery.error, delivery.error_message = outcome.error, outcome.error_message
    if isinstance(outcome, AttemptOutcome) and outcome.error is not None:
        if result.next_at is not None:
            delivery.next_attempt_at = instant_from_timestamp(result.next_at)
            return
        if outcome.is_manual and delivery.is_scheduled:
            return
    delivery.status = DeliveryStatus.delivered if outcome.error is None else DeliveryStatus.failed
    delivery.completed_at = now
    delivery.next_attempt_at = None
    delivery.is_scheduled = False


def _update_health(webhook: Webhook, attempt_outcome: AttemptOutcome) -> None:
    """Update the failure period: any success ends it, and a failed test does not start one."""
    webhook.last_delivery_at = max(webhook.last_delivery_at or "", attempt_outcome.started_at)
    if attempt_outcome.error is None:
        webhook.disable_at = None
    elif webhook.disable_at is None and not attempt_outcome.is_test:
        webhook.disable_at = to_instant(parse_instant(attempt_outcome.started_at) + DISABLE_AFTER)


def _is_past_disable_time(webhook: Webhook, attempt_outcome: AttemptOutcome) -> bool:
    return (
        webhook.is_active
        and webhook.disable_at is not None
        and attempt_outcome.started_at >= webhook.disable_at
    )
