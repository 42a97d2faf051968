"""Deliveries of a webhook: list, inspect, retry and replay."""

from typing import Any

import msgspec
import sqlalchemy as sa
from msgspec import UNSET

from retinue.kit.context import Context
from retinue.kit.context.conversation_access import load_content_reader
from retinue.kit.conversation_ids import UNNAMED_CONVERSATIONS
from retinue.kit.db.statements import Statement
from retinue.kit.events.conversation_quotes import may_quote, quoted_conversation_ids, without_quotes
from retinue.kit.events.models import EventEntry
from retinue.kit.events.public_data import ENVELOPE_FIELDS
from retinue.kit.schema.validation import read_instant
from retinue.kit.text.redaction import MASK
from retinue.webhooks.delivery.attempt import static_headers
from retinue.webhooks.delivery.results import adjust_counts
from retinue.webhooks.errors import DeliveryNotFound, WebhookInactive
from retinue.webhooks.headers import shown_headers
from retinue.webhooks.job_kinds import (
    DELIVER_WEBHOOK,
    REPLAY_DELIVERIES,
    DeliveriesToReplay,
    WebhookDeliveryTask,
)
from retinue.webhooks.models import DeliveryStatus, Webhook, WebhookDelivery, WebhookMessage
from retinue.webhooks.queries import attempts_of, fetch_delivery, lock_webhook, page_of_deliveries
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

MAX_REPLAYED_DELIVERIES = 10_000
_BATCH_SIZE = 500
_MIN_INSTANT, _MAX_INSTANT = "", "9999"
_NULL_BODY = b"null"

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
        **shown_headers(ctx, webhook),
        **static_headers(delivery.id, delivery.event_id, delivery.event_type),
        "webhook-id": delivery.event_id,
        "X-Service-Signature": MASK,
        "webhook-signature": MASK,
    }
    if delivery.attempt > 1:
        headers["X-Service-Retry-Count"] = str(delivery.attempt - 1)
    shown = [DeliveryAttempt.of(attempt, attempt=attempt.number) for attempt in attempts]
    body = message.body.encode() if message else _NULL_BODY
    is_readable = await _may_read(ctx, delivery)
    if not is_readable:
        body = _without_content(delivery, body)
        # A receiver may echo the request body.
        shown = [msgspec.structs.replace(attempt, response_body=None) for attempt in shown]
    return DeliveryDetail.of(
        delivery,
        test=delivery.is_test,
        request=DeliveryRequest(headers=headers, body=msgspec.Raw(body)),
        attempts=shown,
        redacted=UNSET if is_readable else True,
    )


async def _may_read(ctx: Context, delivery: WebhookDelivery) -> bool:
    """Return whether the caller may read the conversations that the event quotes."""
    event = await ctx.db.get(EventEntry, delivery.event_id)
    quoted: tuple[str, ...] = ()
    if event is not None:
        quoted = quoted_conversation_ids(event)
    elif not delivery.is_test and may_quote(delivery.event_type):
        # The event was purged, so the conversations it quotes are unknown.
        quoted = (UNNAMED_CONVERSATIONS,)
    return (await load_content_reader(ctx, [quoted])).may_read(quoted)


def _without_content(delivery: WebhookDelivery, body: bytes) -> bytes:
    decoded = msgspec.json.decode(body)
    if isinstance(decoded, dict):
        data = decoded["data"]
        added = {name: data[name] for name in ENVELOPE_FIELDS if name in data}
        decoded["data"] = added | without_quotes(delivery.event_type, data)
    return msgspec.json.encode(decoded)


async def retry(ctx: Context, webhook: Webhook, id: str) -> DeliveryRetried:
    """Enqueue one attempt as soon as possible; the delivery's own schedule continues."""
    locked = await _lock_active(ctx, webhook)
    await fetch_delivery(ctx, locked, id)
    delivery = await ctx.db.lock(WebhookDelivery, id)
    if delivery is None:
        raise DeliveryNotFound
    if delivery.status is not DeliveryStatus.pending:
        adjust_counts(locked, delivery.status, -1)
        await ctx.db.update(locked, delivered_count=locked.delivered_count, failed_count=locked.failed_count)
        await ctx.db.update(
            delivery, status=DeliveryStatus.pending, completed_at=None, next_attempt_at=ctx.now
        )
    ctx.defer(
        DELIVER_WEBHOOK,
        WebhookDeliveryTask(delivery.id, locked.id, is_manual=True),
        dedupe_key=f"{delivery.id}:again",
        lane=locked.id,
    )
    return DeliveryRetried.of(delivery)


async def _lock_active(ctx: Context, webhook: Webhook) -> Webhook:
    locked = await lock_webhook(ctx, webhook.id)
    if not locked.is_active:
        raise WebhookInactive
    return locked


_chosen = (
    _deliveries.c.webhook_id == sa.bindparam("webhook_id"),
    _deliveries.c.status == sa.literal(DeliveryStatus.failed.value),
    _deliveries.c.created_at >= sa.bindparam("since"),
    _deliveries.c.created_at <= sa.bindparam("until"),
)


def _select_failed(event_types: list[str], *more: Any) -> sa.Select[Any]:
    source = sa.select(_deliveries.c.id).where(*_chosen, *more)
    if event_types:
        source = source.where(_deliveries.c.event_type.in_([sa.literal(name) for name in event_types]))
    return source


_RESET_TO_PENDING = Statement(
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
    """Enqueue failed deliveries again, each with a new schedule, at most 10,000 per call."""
    if not webhook.is_active:
        raise WebhookInactive
    since = _MIN_INSTANT if body.from_ is None else read_instant("from", body.from_)
    until = _MAX_INSTANT if body.to is None else read_instant("to", body.to)
    event_types = sorted(set(body.event_types or ()))
    limited = _select_failed(event_types).limit(MAX_REPLAYED_DELIVERIES).subquery()
    counted: Statement[Any] = Statement(sa.select(sa.func.count()).select_from(limited), heavy=True)
    queued = int(await ctx.db.scalar(counted, webhook_id=webhook.id, since=since, until=until))
    wanted = DeliveriesToReplay(webhook.id, since, until, event_types, queued)
    return DeliveriesReplayed(job_id=ctx.defer(REPLAY_DELIVERIES, wanted), queued=queued)


async def replay_deliveries(ctx: Context, payload: DeliveriesToReplay) -> None:
    """Enqueue failed deliveries in short transactions; an interrupted run continues with the rest."""
    remaining = payload.most
    while remaining > 0:
        async with ctx.unit() as unit:
            queued = await _replay_batch(unit, payload, min(remaining, _BATCH_SIZE))
        remaining -= queued
        if queued < _BATCH_SIZE:
            return


async def _replay_batch(ctx: Context, payload: DeliveriesToReplay, most: int) -> int:
    webhook = await ctx.db.lock(Webhook, payload.webhook_id)
    if webhook is None or not webhook.is_active:
        return 0
    source = _select_failed(payload.event_types).order_by(_deliveries.c.created_at).limit(most)
    bounds = {"webhook_id": webhook.id, "since": payload.since, "until": payload.until}
    chosen: Statement[Any] = Statement(source)
    ids = [row[0] for row in await ctx.db.rows(chosen, **bounds)]
    now = ctx.now
    await ctx.db.execute_many(_RESET_TO_PENDING, [{"of_id": id, "now": now} for id in ids])
    for id in ids:
        ctx.defer(DELIVER_WEBHOOK, WebhookDeliveryTask(id, webhook.id), dedupe_key=id, lane=webhook.id)
    await ctx.db.update(webhook, failed_count=webhook.failed_count - len(ids))
    return len(ids)
