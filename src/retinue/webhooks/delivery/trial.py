"""Test events: sent while the caller waits, and recorded like any delivery."""

from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.events.declare import EVENT_TYPES, custom_type
from retinue.kit.events.filters import is_event_name
from retinue.kit.events.public_data import public_data
from retinue.kit.events.routing import DispatchedEvent
from retinue.kit.ids import new_id
from retinue.webhooks.delivery.attempt import AttemptOutcome, AttemptRequest, send_attempt
from retinue.webhooks.delivery.body import encode_event_body
from retinue.webhooks.delivery.results import DeliveryResult, record_results
from retinue.webhooks.headers import open_headers
from retinue.webhooks.models import Webhook, WebhookDelivery, WebhookMessage
from retinue.webhooks.schemas import WebhookTested
from retinue.webhooks.signing_secrets import open_secrets, opened_with_headers


async def send_test_event(ctx: Context, webhook: Webhook, event_type: str) -> WebhookTested:
    """Make one attempt, even if the webhook is inactive; the event goes to no other webhook."""
    if not is_event_name(event_type):
        raise Invalid({"event_type": "must be the name of an event such as form.submission.created"})
    event = _example_event(ctx, event_type)
    body = encode_event_body(event)
    delivery = WebhookDelivery(
        id=new_id(WebhookDelivery.__prefix__),
        webhook_id=webhook.id,
        event_id=event.id,
        event_type=event.type,
        is_test=True,
        is_scheduled=False,
    )
    request = AttemptRequest(
        delivery_id=delivery.id,
        event_id=event.id,
        event_type=event.type,
        url=webhook.url,
        body=body.encode(),
        opened=opened_with_headers(
            open_secrets(ctx.instance.ring, webhook), open_headers(ctx.instance.ring, webhook)
        ),
        previous_until=webhook.previous_secret_until,
        attempts_made=0,
    )
    outcome = await send_attempt(ctx, webhook.id, request)
    outcome.is_test = True
    async with ctx.unit() as unit:
        await unit.db.insert(WebhookMessage(id=event.id, body=body))
        await unit.db.insert(delivery)
        await record_results(
            unit.system("attempts are recorded for every tenant alike"), [DeliveryResult(outcome)], unit.now
        )
    return WebhookTested(
        success=outcome.error is None,
        delivery_id=delivery.id,
        event_id=event.id,
        event_type=event.type,
        response_code=outcome.response_code,
        response_time_ms=outcome.response_time_ms,
        message=_result_message(outcome),
    )


def _example_event(ctx: Context, event_type: str) -> DispatchedEvent:
    """Return an event with the example data of its type."""
    kind = EVENT_TYPES.get(event_type) or custom_type(event_type)
    return DispatchedEvent(
        tenant_id=ctx.tenant_id,
        id=new_id("evt"),
        type=kind.name,
        category=kind.category,
        correlation_id=ctx.caller.correlation_id,
        subject_id="",
        data=public_data(kind.example, ctx.tenant_id, ctx.actor),
        actor=ctx.actor,
        hops=ctx.caller.hops,
        lineage=ctx.caller.lineage,
        trace_parent=ctx.trace_parent,
        is_test=True,
        created_at=ctx.now,
    )


def _result_message(outcome: AttemptOutcome) -> str:
    if outcome.error is None:
        return f"The receiver accepted the event with status {outcome.response_code}."
    return outcome.error_message or outcome.error
