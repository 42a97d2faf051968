"""A test event: sent at once, while the caller waits, and recorded like any delivery."""

from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.events.declare import EVENT_TYPES, custom_type
from retinue.kit.events.matching import is_event_name
from retinue.kit.events.outward import outward
from retinue.kit.events.routing import Happened
from retinue.kit.ids import new_id
from retinue.webhooks.bodies import body_of
from retinue.webhooks.models import Webhook, WebhookDelivery, WebhookMessage
from retinue.webhooks.recording import Ending, record
from retinue.webhooks.schemas import WebhookTested
from retinue.webhooks.secrets import open_secrets, with_headers
from retinue.webhooks.sending import Sent, ToSend, send


async def test_webhook(ctx: Context, webhook: Webhook, event_type: str) -> WebhookTested:
    """One attempt, also at a webhook that is not active; the event goes nowhere else."""
    if not is_event_name(event_type):
        raise Invalid({"event_type": "must be the name of an event such as form.submission.created"})
    event = _example(ctx, event_type)
    body = body_of(event)
    delivery = WebhookDelivery(
        id=new_id(WebhookDelivery.__prefix__),
        webhook_id=webhook.id,
        event_id=event.id,
        event_type=event.type,
        is_test=True,
        is_scheduled=False,
    )
    to_send = ToSend(
        delivery_id=delivery.id,
        event_id=event.id,
        event_type=event.type,
        url=webhook.url,
        body=body.encode(),
        opened=with_headers(open_secrets(ctx.instance.ring, webhook), webhook.headers),
        previous_until=webhook.previous_secret_until,
        attempts_made=0,
    )
    sent = await send(ctx, webhook.id, to_send)
    sent.is_test = True
    async with ctx.unit() as unit:
        await unit.db.insert(WebhookMessage(id=event.id, body=body))
        await unit.db.insert(delivery)
        await record(unit.system("attempts are recorded for every tenant alike"), [Ending(sent)], unit.now)
    return WebhookTested(
        success=sent.error is None,
        delivery_id=delivery.id,
        event_id=event.id,
        event_type=event.type,
        response_code=sent.response_code,
        response_time_ms=sent.response_time_ms,
        message=_told(sent),
    )


def _example(ctx: Context, event_type: str) -> Happened:
    """An event that never happened, with the data that its type shows as an example."""
    kind = EVENT_TYPES.get(event_type) or custom_type(event_type)
    return Happened(
        tenant_id=ctx.tenant_id,
        id=new_id("evt"),
        type=kind.name,
        category=kind.category,
        correlation_id=ctx.caller.correlation_id,
        subject_id="",
        data=outward(kind.example, ctx.tenant_id, ctx.actor),
        actor=ctx.actor,
        hops=ctx.caller.hops,
        is_test=True,
        created_at=ctx.now,
    )


def _told(sent: Sent) -> str:
    if sent.error is None:
        return f"The receiver took the event, with status {sent.response_code}."
    return sent.error_message or sent.error
