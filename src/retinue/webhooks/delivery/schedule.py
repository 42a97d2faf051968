"""The job that delivers an event, with its retry schedule and the recording of its attempts."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from retinue.kit.clock import Instant, parse_instant
from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.events.routing import DispatchedEvent, WorkerTransaction
from retinue.kit.jobs.declare import Attempt, AttemptResult, Retry
from retinue.kit.metrics import declarations as metrics
from retinue.kit.tracing import names
from retinue.kit.tracing.recorder import unit_span
from retinue.webhooks.delivery.attempt import AttemptOutcome, AttemptRequest, send_attempt
from retinue.webhooks.delivery.body import encode_event_body
from retinue.webhooks.delivery.loader import DeliveryLoader, LoadedDelivery
from retinue.webhooks.delivery.results import DeliveryAborted, DeliveryResult, record_results
from retinue.webhooks.errors import WebhookGone, WebhookInactive
from retinue.webhooks.job_kinds import (
    DELIVER_WEBHOOK,
    DISABLE_FAILING_WEBHOOK,
    FailingWebhook,
    WebhookDeliveryTask,
)
from retinue.webhooks.models import DeliveryStatus, Webhook, WebhookDelivery, WebhookMessage
from retinue.webhooks.signing_secrets import SealedWebhook, open_webhook

MAX_CONCURRENT_DELIVERIES = 512
MAX_CONCURRENT_PER_WEBHOOK = 4
JITTER = 0.1


async def record_attempts(routing: WorkerTransaction, concluded: Sequence[AttemptResult]) -> None:
    """Record many attempts in the transaction that ends or reschedules their jobs."""
    delivery_results = [
        delivery_result for one in concluded if (delivery_result := _result_of(one)) is not None
    ]
    if not delivery_results:
        return
    failing_webhook_ids = await record_results(routing.system, delivery_results, routing.instance.clock.now())
    if failing_webhook_ids:
        causes = {one.payload.webhook_id: one for one in concluded}
        for id in failing_webhook_ids:
            routing.defer(causes[id], DISABLE_FAILING_WEBHOOK, FailingWebhook(id), dedupe_key=f"disable:{id}")


def _result_of(one: AttemptResult) -> DeliveryResult | None:
    if one.result is not None:
        return DeliveryResult(one.result, one.next_at)
    if one.state != "dead":
        return None
    message = "The delivery was given up after an unexpected failure."
    return DeliveryResult(
        DeliveryAborted(one.payload.delivery_id, one.payload.webhook_id, "internal_error", message)
    )


async def deliver_webhook(ctx: Context, payload: WebhookDeliveryTask) -> Attempt:
    loaded = await ctx.state(DeliveryLoader).find(ctx.tenant_id, payload.delivery_id)
    if loaded is None:
        return await _end_orphaned(ctx, payload)
    if loaded.status != DeliveryStatus.pending or not (payload.is_manual or loaded.is_scheduled):
        return Attempt(None, is_done=True)
    if not loaded.is_active:
        return _aborted(payload, WebhookInactive())
    delays = ctx.settings.webhook_retry_schedule
    number = ctx.caller.attempt
    is_last = payload.is_manual or number >= len(delays)
    request = _attempt_request(ctx, loaded, max_retry_after_s=0.0 if is_last else 2.0 * delays[number])
    outcome = await _send_recorded(ctx, loaded, request)
    outcome.is_manual = payload.is_manual
    _count_attempt(ctx, outcome, loaded.created_at, is_last=is_last)
    if outcome.error is None or is_last:
        return Attempt(outcome, is_done=True)
    return Attempt(
        outcome,
        is_done=False,
        error=outcome.error,
        min_delay_s=outcome.retry_after_s,
        retry=Retry(delays, JITTER),
    )


async def _send_recorded(ctx: Context, loaded: LoadedDelivery, request: AttemptRequest) -> AttemptOutcome:
    host = urlsplit(request.url).hostname or ""
    with unit_span(f"deliver {host}", "delivery") as span:
        outcome = await send_attempt(ctx, loaded.webhook_id, request)
        if span is not None:
            span.span.delivery_id = request.delivery_id
            span.set(
                {
                    names.HTTP_METHOD: "POST",
                    names.SERVER_ADDRESS: host,
                    names.HTTP_STATUS: outcome.response_code,
                    names.EVENT_TYPE: request.event_type,
                    names.DELIVERY_ID: request.delivery_id,
                    names.ATTEMPT: request.attempts_made + 1,
                }
            )
            if outcome.error is not None:
                span.fail(outcome.error, outcome.error_message or outcome.error)
    return outcome


async def _end_orphaned(ctx: Context, payload: WebhookDeliveryTask) -> Attempt:
    """Abort a pending delivery whose webhook was deleted."""
    delivery = await ctx.db.get(WebhookDelivery, payload.delivery_id)
    if delivery is None or delivery.status is not DeliveryStatus.pending:
        return Attempt(None, is_done=True)
    return _aborted(payload, WebhookGone())


def _aborted(payload: WebhookDeliveryTask, reason: RetinueError) -> Attempt:
    metrics.WEBHOOK_DELIVERIES.count("cancelled")
    aborted = DeliveryAborted(payload.delivery_id, payload.webhook_id, reason.code, reason.message)
    return Attempt(aborted, is_done=True)


def _attempt_request(ctx: Context, loaded: LoadedDelivery, *, max_retry_after_s: float) -> AttemptRequest:
    stored = SealedWebhook(
        ctx.tenant_id,
        loaded.webhook_id,
        bytes(loaded.secrets),
        loaded.headers,
        None if loaded.header_values is None else bytes(loaded.header_values),
    )
    return AttemptRequest(
        delivery_id=loaded.delivery_id,
        event_id=loaded.event_id,
        event_type=loaded.event_type,
        url=loaded.url,
        body=loaded.body.encode(),
        opened=open_webhook(ctx.instance.ring, stored),
        previous_until=loaded.previous_secret_until,
        attempts_made=loaded.attempt,
        max_retry_after_s=max_retry_after_s,
    )


async def enqueue_delivery(ctx: Context, webhook: Webhook, event: DispatchedEvent) -> None:
    """Enqueue one event for one webhook, unless that delivery exists already."""
    await ctx.db.insert_missing(WebhookMessage(id=event.id, body=encode_event_body(event)))
    delivery = WebhookDelivery(
        webhook_id=webhook.id, event_id=event.id, event_type=event.type, is_test=event.is_test
    )
    if await ctx.db.insert_missing(delivery):
        ctx.defer(
            DELIVER_WEBHOOK,
            WebhookDeliveryTask(delivery.id, webhook.id),
            dedupe_key=delivery.id,
            lane=webhook.id,
        )


def _count_attempt(ctx: Context, outcome: AttemptOutcome, created_at: Instant, *, is_last: bool) -> None:
    if not metrics.WEBHOOK_DELIVERIES.is_on:
        return
    if outcome.error is not None:
        metrics.WEBHOOK_DELIVERIES.count("failed" if is_last else "retried")
        return
    metrics.WEBHOOK_DELIVERIES.count("delivered")
    metrics.WEBHOOK_DELIVERY_LAG.observe(max(0.0, ctx.clock.time() - parse_instant(created_at).timestamp()))
