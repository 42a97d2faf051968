"""From a stored delivery to its receiver: the job that tries, and what its attempts mean."""

from collections.abc import Sequence

import msgspec

from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.events.routing import Happened, Routing
from retinue.kit.jobs.declare import Attempt, Concluded, Retry, job
from retinue.kit.webhook_signing import ATTEMPT_DELAYS
from retinue.webhooks.bodies import body_of
from retinue.webhooks.disabling import WebhookInTrouble, disable_webhook
from retinue.webhooks.errors import WebhookGone, WebhookInactive
from retinue.webhooks.models import DeliveryStatus, Webhook, WebhookDelivery, WebhookMessage
from retinue.webhooks.recording import Ended, Ending, record
from retinue.webhooks.secrets import Vaulted, opened
from retinue.webhooks.sending import TIMEOUT_S, ToSend, send
from retinue.webhooks.waiting import Waiting, WaitingDeliveries

AT_ONCE = 512
PER_WEBHOOK = 4
JITTER = 0.1


class DeliveryToMake(msgspec.Struct):
    """`is_manual`: one attempt that someone asked for, beside the schedule of the delivery."""

    delivery_id: str
    webhook_id: str
    is_manual: bool = False


async def record_attempts(routing: Routing, concluded: Sequence[Concluded]) -> None:
    """What came of many attempts, in the transaction that ends or postpones their jobs."""
    endings = [ending for one in concluded if (ending := _ending(one)) is not None]
    if not endings:
        return
    hopeless = await record(routing.system, endings, routing.instance.clock.now())
    if hopeless:
        causes = {one.payload.webhook_id: one for one in concluded}
        for id in hopeless:
            routing.defer(causes[id], disable_webhook, WebhookInTrouble(id), dedupe_key=f"disable:{id}")


def _ending(one: Concluded) -> Ending | None:
    if one.result is not None:
        return Ending(one.result, one.next_at)
    if one.state != "dead":
        return None
    message = "The delivery was given up after an unexpected failure."
    return Ending(Ended(one.payload.delivery_id, one.payload.webhook_id, "internal_error", message))


@job(
    queue="webhooks",
    retry=Retry(delays=ATTEMPT_DELAYS, jitter=JITTER),
    timeout_s=TIMEOUT_S + 15,
    transactional=False,
    at_once=AT_ONCE,
    per_lane=PER_WEBHOOK,
    conclude=record_attempts,
)
async def deliver_webhook(ctx: Context, payload: DeliveryToMake) -> Attempt:
    waiting = await ctx.adapter(WaitingDeliveries).find(ctx.tenant_id, payload.delivery_id)
    if waiting is None:
        return await _left_over(ctx, payload)
    if waiting.status != DeliveryStatus.pending or not (payload.is_manual or waiting.is_scheduled):
        return Attempt(None, is_done=True)
    if not waiting.is_active:
        return _ended(payload, WebhookInactive())
    sent = await send(ctx, waiting.webhook_id, _to_send(ctx, waiting))
    sent.is_manual = payload.is_manual
    delays = ctx.settings.webhook_retry_schedule
    number = ctx.caller.attempt
    if sent.error is None or payload.is_manual or number >= len(delays):
        return Attempt(sent, is_done=True)
    at_least_s = min(sent.retry_after_s, 2 * delays[number])
    return Attempt(sent, is_done=False, error=sent.error, at_least_s=at_least_s, retry=Retry(delays, JITTER))


async def _left_over(ctx: Context, payload: DeliveryToMake) -> Attempt:
    """A delivery whose webhook is gone ends; one that is gone itself has ended."""
    delivery = await ctx.db.get(WebhookDelivery, payload.delivery_id)
    if delivery is None or delivery.status is not DeliveryStatus.pending:
        return Attempt(None, is_done=True)
    return _ended(payload, WebhookGone())


def _ended(payload: DeliveryToMake, reason: RetinueError) -> Attempt:
    ended = Ended(payload.delivery_id, payload.webhook_id, reason.code, reason.message)
    return Attempt(ended, is_done=True)


def _to_send(ctx: Context, waiting: Waiting) -> ToSend:
    stored = Vaulted(ctx.tenant_id, waiting.webhook_id, bytes(waiting.secrets), waiting.headers)
    return ToSend(
        delivery_id=waiting.delivery_id,
        event_id=waiting.event_id,
        event_type=waiting.event_type,
        url=waiting.url,
        body=waiting.body.encode(),
        opened=opened(ctx.instance.ring, stored),
        previous_until=waiting.previous_secret_until,
        attempts_made=waiting.attempt,
    )


async def deliver(ctx: Context, webhook: Webhook, event: Happened) -> None:
    """One event to one webhook, unless it has gone there already."""
    await ctx.db.insert_missing(WebhookMessage(id=event.id, body=body_of(event)))
    delivery = WebhookDelivery(
        webhook_id=webhook.id, event_id=event.id, event_type=event.type, is_test=event.is_test
    )
    if await ctx.db.insert_missing(delivery):
        ctx.defer(
            deliver_webhook, DeliveryToMake(delivery.id, webhook.id), dedupe_key=delivery.id, lane=webhook.id
        )
