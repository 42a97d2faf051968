from retinue.kit.context import Context
from retinue.kit.errors import VaultSealed
from retinue.kit.http.routing import Routes
from retinue.webhooks import deliveries, service, statistics
from retinue.webhooks.delivery import trial
from retinue.webhooks.errors import DeliveryNotFound, TooManyWebhooks, WebhookInactive
from retinue.webhooks.loaders import WebhookById
from retinue.webhooks.schemas import (
    DeliveriesReplayed,
    DeliveryDetail,
    DeliveryList,
    DeliveryPage,
    DeliveryReplay,
    DeliveryRetried,
    WebhookCreate,
    WebhookList,
    WebhookMade,
    WebhookOut,
    WebhookPage,
    WebhookSecretRotate,
    WebhookSecretRotation,
    WebhookStats,
    WebhookStatsQuery,
    WebhookTest,
    WebhookTested,
    WebhookUpdate,
)

routes = Routes("/api/v1/webhooks", tag="webhooks")


@routes.get("", requires="webhooks:read")
async def list_webhooks(ctx: Context, query: WebhookList) -> WebhookPage:
    """Return the outgoing webhooks of the tenant, by default newest first. Secrets are never included.

    With `include=series`, each has its counts of the last 24 hours.
    """
    return await service.page(ctx, query)


@routes.post("", requires="webhooks:write", status=201, errors=(TooManyWebhooks, VaultSealed))
async def create_webhook(ctx: Context, body: WebhookCreate) -> WebhookMade:
    """Create a webhook.

    Deliveries are signed with `secret`, which is shown only here and after a rotation. A tenant can have
    1,000 webhooks.
    """
    return await service.create(ctx, body)


@routes.get("/{webhook_id}", requires="webhooks:read")
async def get_webhook(ctx: Context, webhook: WebhookById) -> WebhookOut:
    """Return a webhook without its secret.

    Values of `headers` are masked for callers without `webhooks:write`.
    """
    return service.render_webhook(ctx, webhook)


@routes.put("/{webhook_id}", requires="webhooks:write", errors=(VaultSealed,))
async def update_webhook(ctx: Context, webhook: WebhookById, body: WebhookUpdate) -> WebhookOut:
    """Change the fields that are sent.

    `active: true` also switches on a webhook that was disabled; a masked header keeps its stored value.
    """
    return service.render_webhook(ctx, await service.update(ctx, webhook, body))


@routes.delete("/{webhook_id}", requires="webhooks:write", status=204)
async def delete_webhook(ctx: Context, webhook: WebhookById) -> None:
    """Delete the webhook. Pending deliveries end as failed."""
    await service.delete(ctx, webhook)


@routes.post("/{webhook_id}/test", requires="webhooks:write", calls_out=True, errors=(VaultSealed,))
async def test_webhook(ctx: Context, webhook: WebhookById, body: WebhookTest) -> WebhookTested:
    """Send one event with example data at once and return the receiver's answer.

    The event is marked as a test, is not retried, and goes to no other webhook. Works on inactive webhooks
    too.
    """
    return await trial.send_test_event(ctx, webhook, body.event_type)


@routes.post("/{webhook_id}/rotate-secret", requires="webhooks:write", errors=(VaultSealed,))
async def rotate_webhook_secret(
    ctx: Context, webhook: WebhookById, body: WebhookSecretRotate
) -> WebhookSecretRotation:
    """Replace the signing secret and return the new one.

    During the grace period deliveries carry signatures of both secrets.
    """
    return await service.rotate_secret(ctx, webhook, body.grace_seconds)


@routes.post("/{webhook_id}/replay", requires="webhooks:write", status=202, errors=(WebhookInactive,))
async def replay_deliveries(ctx: Context, webhook: WebhookById, body: DeliveryReplay) -> DeliveriesReplayed:
    """Queue failed deliveries again, oldest first, each with a new retry schedule.

    At most 10,000 per request; an inactive webhook answers 409 `webhook_inactive`.
    """
    return await deliveries.replay(ctx, webhook, body)


@routes.get("/{webhook_id}/stats", requires="webhooks:read")
async def get_webhook_stats(ctx: Context, webhook: WebhookById, query: WebhookStatsQuery) -> WebhookStats:
    """Return counts, success rate and response times for a period. Test deliveries count.

    With `interval`, `series` counts each hour or day, also those without deliveries.
    """
    return await statistics.collect(ctx, webhook, query)


@routes.get("/{webhook_id}/executions", requires="webhooks:read")
async def list_deliveries(ctx: Context, webhook: WebhookById, query: DeliveryList) -> DeliveryPage:
    """Return the deliveries of a webhook, newest first: one per event, whatever the number of attempts.

    Ended deliveries are kept for 30 days.
    """
    return await deliveries.page(ctx, webhook, query)


@routes.get("/{webhook_id}/executions/{delivery_id}", requires="webhooks:read", errors=(DeliveryNotFound,))
async def get_delivery(ctx: Context, webhook: WebhookById, delivery_id: str) -> DeliveryDetail:
    """Return a delivery with the request that is posted and its attempts.

    Bodies are redacted if they quote a conversation that the caller may not read.
    """
    return await deliveries.detail(ctx, webhook, delivery_id)


@routes.post(
    "/{webhook_id}/executions/{delivery_id}/retry",
    requires="webhooks:write",
    status=202,
    errors=(DeliveryNotFound, WebhookInactive),
)
async def retry_delivery(ctx: Context, webhook: WebhookById, delivery_id: str) -> DeliveryRetried:
    """Queue one attempt as soon as possible, whatever state the delivery is in.

    Attempts that are still scheduled stay so. An inactive webhook answers 409 `webhook_inactive`.
    """
    return await deliveries.retry(ctx, webhook, delivery_id)
