"""What was delivered, what was not, and trying it again."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import job
from retinue.kit.redaction import MASK
from retinue.kit.validation import read_instant
from retinue.webhooks.delivering import DeliveryToMake, deliver_webhook
from retinue.webhooks.errors import DeliveryNotFound, WebhookInactive
from retinue.webhooks.models import DeliveryStatus, Webhook, WebhookDelivery, WebhookMessage
from retinue.webhooks.queries import attempts_of, fetch_delivery, hold_webhook, page_of_deliveries
from retinue.webhooks.recording import count
from retinue.webhooks.schemas import (
    DeliveriesReplayed,
    DeliveryAttempt,
    DeliveryDetail,
    DeliveryList,
    DeliveryOut,
    DeliveryPage,
    DeliveryReplay,
    DeliveryRequest,
    DeliveryRetried,
)
from retinue.webhooks.sending import plain_headers

MOST_REPLAYED = 10_000
_BATCH = 500
_FIRST, _LAST = "", "9999"
_UNKNOWN = b"null"

_deliveries = WebhookDelivery.__table__


async def page(ctx: Context, webhook: Webhook, query: DeliveryList) -> DeliveryPage:
    found = await page_of_deliveries(ctx, webhook, query)
    data = [DeliveryOut.of(delivery, test=delivery.is_test) for delivery in found.items]
    return DeliveryPage.of(found, data=data)


async def detail(ctx: Context, webhook: Webhook, id: str) -> DeliveryDetail:
    delivery = await fetch_delivery(ctx, webhook, id)
    message = await ctx.db.get(WebhookMessage, delivery.event_id)
    attempts = await attempts_of(ctx, delivery)
    headers = {
        **webhook.headers,
        **plain_headers(delivery.id, delivery.event_id, delivery.event_type),
        "webhook-id": delivery.event_id,
        "X-Service-Signature": MASK,
        "webhook-signature": MASK,
    }
    if delivery.attempt > 1:
        headers["X-Service-Retry-Count"] = str(delivery.attempt - 1)
    body = msgspec.Raw(message.body.encode() if message else _UNKNOWN)
    return DeliveryDetail.of(
        delivery,
        test=delivery.is_test,
        request=DeliveryRequest(headers=headers, body=body),
        attempts=[DeliveryAttempt.of(one, attempt=one.number) for one in attempts],
    )


async def retry(ctx: Context, webhook: Webhook, id: str) -> DeliveryRetried:
    """One attempt as soon as possible; what its own schedule still has in store stays."""
    held = await _hold_active(ctx, webhook)
    await fetch_delivery(ctx, held, id)
    delivery = await ctx.db.lock(WebhookDelivery, id)
    if delivery is None:
        raise DeliveryNotFound
    if delivery.status is not DeliveryStatus.pending:
        count(held, delivery.status, -1)
        await ctx.db.update(held, delivered_count=held.delivered_count, failed_count=held.failed_count)
        await ctx.db.update(
            delivery, status=DeliveryStatus.pending, completed_at=None, next_attempt_at=ctx.now
        )
    ctx.defer(
        deliver_webhook,
        DeliveryToMake(delivery.id, held.id, is_manual=True),
        dedupe_key=f"{delivery.id}:again",
        lane=held.id,
    )
    return DeliveryRetried.of(delivery)


async def _hold_active(ctx: Context, webhook: Webhook) -> Webhook:
    held = await hold_webhook(ctx, webhook.id)
    if not held.is_active:
        raise WebhookInactive
    return held


class DeliveriesToReplay(msgspec.Struct):
    webhook_id: str
    since: Instant
    until: Instant
    event_types: list[str]
    most: int


_chosen = (
    _deliveries.c.webhook_id == sa.bindparam("webhook_id"),
    _deliveries.c.status == sa.literal(DeliveryStatus.failed.value),
    _deliveries.c.created_at >= sa.bindparam("since"),
    _deliveries.c.created_at <= sa.bindparam("until"),
)


def _failed(event_types: list[str], *more: Any) -> sa.Select[Any]:
    source = sa.select(_deliveries.c.id).where(*_chosen, *more)
    if event_types:
        source = source.where(_deliveries.c.event_type.in_([sa.literal(one) for one in event_types]))
    return source


_AGAIN: Statement[Any] = Statement(
    sa.update(_deliveries)
    .where(_deliveries.c.id == sa.bindparam("of_id"))
    .values(
        status=DeliveryStatus.pending.value,
        completed_at=sa.null(),
        is_scheduled=sa.true(),
        next_attempt_at=sa.bindparam("now", type_=_deliveries.c.next_attempt_at.type),
        updated_at=sa.bindparam("now", type_=_deliveries.c.updated_at.type),
    )
)


async def replay(ctx: Context, webhook: Webhook, body: DeliveryReplay) -> DeliveriesReplayed:
    """Failed deliveries start anew, with a schedule of their own, at most 10,000 at a time."""
    if not webhook.is_active:
        raise WebhookInactive
    since = _FIRST if body.from_ is None else read_instant("from", body.from_)
    until = _LAST if body.to is None else read_instant("to", body.to)
    event_types = sorted(set(body.event_types or ()))
    limited = _failed(event_types).limit(MOST_REPLAYED).subquery()
    counted: Statement[Any] = Statement(sa.select(sa.func.count()).select_from(limited), heavy=True)
    queued = int(await ctx.db.scalar(counted, webhook_id=webhook.id, since=since, until=until))
    wanted = DeliveriesToReplay(webhook.id, since, until, event_types, queued)
    return DeliveriesReplayed(job_id=ctx.defer(replay_deliveries, wanted), queued=queued)


@job(timeout_s=600, transactional=False)
async def replay_deliveries(ctx: Context, payload: DeliveriesToReplay) -> None:
    """In short transactions; should it be cut off, those that are left are still failed and come next."""
    left = payload.most
    while left > 0:
        async with ctx.unit() as unit:
            queued = await _replay_some(unit, payload, min(left, _BATCH))
        left -= queued
        if queued < _BATCH:
            return


async def _replay_some(ctx: Context, payload: DeliveriesToReplay, most: int) -> int:
    webhook = await ctx.db.lock(Webhook, payload.webhook_id)
    if webhook is None or not webhook.is_active:
        return 0
    source = _failed(payload.event_types).order_by(_deliveries.c.created_at).limit(most)
    bounds = {"webhook_id": webhook.id, "since": payload.since, "until": payload.until}
    chosen: Statement[Any] = Statement(source)
    ids = [row[0] for row in await ctx.db.rows(chosen, **bounds)]
    now = ctx.now
    await ctx.db.execute_many(_AGAIN, [{"of_id": id, "now": now} for id in ids])
    for id in ids:
        ctx.defer(deliver_webhook, DeliveryToMake(id, webhook.id), dedupe_key=id, lane=webhook.id)
    await ctx.db.update(webhook, failed_count=webhook.failed_count - len(ids))
    return len(ids)
