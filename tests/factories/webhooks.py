"""Webhooks and deliveries, straight into the database."""

from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.webhooks.models import Webhook, WebhookDelivery, WebhookMessage
from retinue.webhooks.signing_secrets import WebhookSecrets

SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


def some_webhook(
    user_id: str,
    url: str = "https://example.com/hook",
    *,
    secrets: Sealed | None = None,
    header_values: Sealed | None = None,
) -> Webhook:
    return Webhook(
        url=url,
        events=["order.placed"],
        filters={},
        headers={},
        secrets=secrets or WebhookSecrets(SECRET).sealed(),
        secret_prefix=SECRET[:10],
        header_values=header_values,
        created_by=user_id,
    )


async def some_delivery(ctx: Context, webhook: Webhook, event_id: str) -> WebhookDelivery:
    """One that has nothing left to do, with the body it was made with."""
    await ctx.db.insert(WebhookMessage(id=event_id, body="{}"))
    return await ctx.db.insert(
        WebhookDelivery(
            webhook_id=webhook.id, event_id=event_id, event_type="order.placed", is_scheduled=False
        )
    )
