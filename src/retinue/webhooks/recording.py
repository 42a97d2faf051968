"""Writing down attempts, many at once: deliveries, their attempts, and what adds up from them.

A webhook is held before its deliveries, and several in the order of their ids, so that nobody waits for each
other. What has ended stays as it ended; a late attempt at it is only added to its attempts.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Instant, instant, instant_at, moment
from retinue.kit.db.one_of import listed, one_of
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement, reading
from retinue.usage.metering import entry
from retinue.usage.models import UsageEntry
from retinue.webhooks.hours import Tally, add_hours
from retinue.webhooks.models import DeliveryStatus, Webhook, WebhookAttempt, WebhookDelivery
from retinue.webhooks.sending import Sent

FAILING_FOR = timedelta(days=5)

_webhooks, _deliveries = Webhook.__table__, WebhookDelivery.__table__


class Ended(msgspec.Struct):
    """A delivery that ends without another attempt, and why."""

    delivery_id: str
    webhook_id: str
    error: str
    error_message: str


class Ending(msgspec.Struct):
    """What came of a delivery; `next_at` if it is tried again by itself."""

    what: Sent | Ended
    next_at: float | None = None


_HELD_WEBHOOKS = reading(
    Webhook,
    sa.select(_webhooks).where(one_of(_webhooks.c.id, "ids")).order_by(_webhooks.c.id).with_for_update(),
)
_HELD_DELIVERIES = reading(
    WebhookDelivery,
    sa.select(_deliveries)
    .where(one_of(_deliveries.c.id, "ids"))
    .order_by(_deliveries.c.id)
    .with_for_update(),
)
_OUTCOME = (
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
_SUMS = ("disable_at", "last_delivery_at", "delivered_count", "failed_count")


def _change(table: sa.Table, names: tuple[str, ...]) -> Statement[Any]:
    return Statement(
        sa.update(table)
        .where(table.c.tenant_id == sa.bindparam("of_tenant"), table.c.id == sa.bindparam("of_id"))
        .values({name: sa.bindparam(f"new_{name}", type_=table.c[name].type) for name in names})
    )


_CHANGE_DELIVERY = _change(_deliveries, _OUTCOME)
_CHANGE_WEBHOOK = _change(_webhooks, _SUMS)


def _changes(record: Webhook | WebhookDelivery, names: tuple[str, ...]) -> dict[str, Any]:
    values = {f"new_{name}": getattr(record, name) for name in names}
    return {"of_tenant": record.tenant_id, "of_id": record.id, **values}


class Held:
    """The webhooks and deliveries that a batch is about, held until the transaction ends."""

    def __init__(self, webhooks: Sequence[Webhook], deliveries: Sequence[WebhookDelivery]) -> None:
        self.webhooks = {webhook.id: webhook for webhook in webhooks}
        self.deliveries = {delivery.id: delivery for delivery in deliveries}
        self.attempts: list[WebhookAttempt] = []
        self.tallies: defaultdict[str, Tally] = defaultdict(Tally)
        self.hopeless: set[str] = set()

    def take(self, ending: Ending, now: Instant) -> None:
        what = ending.what
        delivery = self.deliveries.get(what.delivery_id)
        if delivery is None:
            return
        before = delivery.status
        if isinstance(what, Sent):
            self.attempts.append(_attempt(delivery, what))
        _end(delivery, ending, now)
        webhook = self.webhooks.get(delivery.webhook_id)
        if webhook is None:
            return
        tally = self.tallies[webhook.id]
        if isinstance(what, Sent):
            _note(webhook, what)
            if what.response_code is not None:
                tally.answered(what.response_time_ms)
            if _is_hopeless(webhook, what):
                self.hopeless.add(webhook.id)
        if delivery.status is not before:
            count(webhook, before, -1)
            count(webhook, delivery.status, 1)
            tally.ended(delivery.status)


async def record(system: SystemDb, endings: Sequence[Ending], now: Instant) -> set[str]:
    """Write everything down; the ids of the webhooks whose receivers nothing has reached for days."""
    webhooks = await system.rows(_HELD_WEBHOOKS, ids=listed({one.what.webhook_id for one in endings}))
    deliveries = await system.rows(_HELD_DELIVERIES, ids=listed({one.what.delivery_id for one in endings}))
    held = Held(webhooks, deliveries)
    for ending in endings:
        held.take(ending, now)
    await system.execute_many(_CHANGE_DELIVERY, [_changes(one, _OUTCOME) for one in deliveries])
    await system.insert_many(held.attempts)
    await system.execute_many(_CHANGE_WEBHOOK, [_changes(one, _SUMS) for one in webhooks])
    await system.insert_many(_metered(held, now))
    await add_hours(system, [(held.webhooks[id], tally) for id, tally in held.tallies.items()], now)
    return held.hopeless


def _metered(held: Held, now: Instant) -> list[UsageEntry]:
    ended: Counter[str] = Counter()
    for id, tally in held.tallies.items():
        ended[held.webhooks[id].tenant_id] += tally.delivered + tally.failed
    counted = ((tenant_id, {"webhook_deliveries": n}) for tenant_id, n in sorted(ended.items()) if n)
    return [entry(tenant_id, now, counts) for tenant_id, counts in counted]


def count(webhook: Webhook, status: DeliveryStatus, by: int) -> None:
    if status is DeliveryStatus.delivered:
        webhook.delivered_count += by
    elif status is DeliveryStatus.failed:
        webhook.failed_count += by


def _attempt(delivery: WebhookDelivery, sent: Sent) -> WebhookAttempt:
    delivery.attempt += 1
    delivery.response_code = sent.response_code
    delivery.response_time_ms = sent.response_time_ms
    return WebhookAttempt(
        tenant_id=delivery.tenant_id,
        delivery_id=delivery.id,
        number=delivery.attempt,
        started_at=sent.started_at,
        response_code=sent.response_code,
        response_time_ms=sent.response_time_ms,
        response_body=sent.response_body,
        error=sent.error,
        error_message=sent.error_message,
    )


def _end(delivery: WebhookDelivery, ending: Ending, now: Instant) -> None:
    delivery.updated_at = now
    if delivery.status is not DeliveryStatus.pending:
        return
    what = ending.what
    delivery.error, delivery.error_message = what.error, what.error_message
    if isinstance(what, Sent) and what.error is not None:
        if ending.next_at is not None:
            delivery.next_attempt_at = instant_at(ending.next_at)
            return
        if what.is_manual and delivery.is_scheduled:
            return
    delivery.status = DeliveryStatus.delivered if what.error is None else DeliveryStatus.failed
    delivery.completed_at = now
    delivery.next_attempt_at = None
    delivery.is_scheduled = False


def _note(webhook: Webhook, sent: Sent) -> None:
    """Any success ends a time of failures; a test that fails does not begin one."""
    webhook.last_delivery_at = max(webhook.last_delivery_at or "", sent.started_at)
    if sent.error is None:
        webhook.disable_at = None
    elif webhook.disable_at is None and not sent.is_test:
        webhook.disable_at = instant(moment(sent.started_at) + FAILING_FOR)


def _is_hopeless(webhook: Webhook, sent: Sent) -> bool:
    return webhook.is_active and webhook.disable_at is not None and sent.started_at >= webhook.disable_at
