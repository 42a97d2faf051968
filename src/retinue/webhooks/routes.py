from retinue.kit.context import Context
from retinue.kit.errors import VaultSealed
from retinue.kit.http.routing import Routes
from retinue.webhooks import deliveries, service, statistics, testing
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
    WebhookSecretRotated,
    WebhookStats,
    WebhookStatsQuery,
    WebhookTest,
    WebhookTested,
    WebhookUpdate,
)

routes = Routes("/api/v1/webhooks", tag="webhooks")


@routes.get("", requires="webhooks:read")
async def list_webhooks(ctx: Context, query: WebhookList) -> WebhookPage:
    return await service.page(ctx, query)


@routes.post("", requires="webhooks:write", status=201, errors=(TooManyWebhooks, VaultSealed))
async def create_webhook(ctx: Context, body: WebhookCreate) -> WebhookMade:
    """Deliveries are signed with `secret`, which is shown only here and after a rotation."""
    return await service.create(ctx, body)


@routes.get("/{webhook_id}", requires="webhooks:read")
async def get_webhook(ctx: Context, webhook: WebhookById) -> WebhookOut:  # noqa: ARG001  every handler takes it
    return service.shown(webhook)


@routes.put("/{webhook_id}", requires="webhooks:write")
async def update_webhook(ctx: Context, webhook: WebhookById, body: WebhookUpdate) -> WebhookOut:
    """`active: true` also takes back that a webhook was disabled."""
    return service.shown(await service.update(ctx, webhook, body))


@routes.delete("/{webhook_id}", requires="webhooks:write", status=204)
async def delete_webhook(ctx: Context, webhook: WebhookById) -> None:
    """Deliveries that are pending end as failed."""
    await service.delete(ctx, webhook)


@routes.post("/{webhook_id}/test", requires="webhooks:write", calls_out=True, errors=(VaultSealed,))
async def test_webhook(ctx: Context, webhook: WebhookById, body: WebhookTest) -> WebhookTested:
    """Sends one event at once, marked as a test, and tells what the receiver answered."""
    return await testing.test_webhook(ctx, webhook, body.event_type)


@routes.post("/{webhook_id}/rotate-secret", requires="webhooks:write", errors=(VaultSealed,))
async def rotate_webhook_secret(
    ctx: Context, webhook: WebhookById, body: WebhookSecretRotate
) -> WebhookSecretRotated:
    """During the grace, deliveries are signed with both secrets."""
    return await service.rotate(ctx, webhook, body.grace_seconds)


@routes.post("/{webhook_id}/replay", requires="webhooks:write", status=202, errors=(WebhookInactive,))
async def replay_deliveries(ctx: Context, webhook: WebhookById, body: DeliveryReplay) -> DeliveriesReplayed:
    """Failed deliveries are sent once more, oldest first; at most 10,000 with one call."""
    return await deliveries.replay(ctx, webhook, body)


@routes.get("/{webhook_id}/stats", requires="webhooks:read")
async def get_webhook_stats(ctx: Context, webhook: WebhookById, query: WebhookStatsQuery) -> WebhookStats:
    return await statistics.collect(ctx, webhook, query.period)


@routes.get("/{webhook_id}/executions", requires="webhooks:read")
async def list_deliveries(ctx: Context, webhook: WebhookById, query: DeliveryList) -> DeliveryPage:
    return await deliveries.page(ctx, webhook, query)


@routes.get("/{webhook_id}/executions/{delivery_id}", requires="webhooks:read", errors=(DeliveryNotFound,))
async def get_delivery(ctx: Context, webhook: WebhookById, delivery_id: str) -> DeliveryDetail:
    return await deliveries.detail(ctx, webhook, delivery_id)


@routes.post(
    "/{webhook_id}/executions/{delivery_id}/retry",
    requires="webhooks:write",
    status=202,
    errors=(DeliveryNotFound, WebhookInactive),
)
async def retry_delivery(ctx: Context, webhook: WebhookById, delivery_id: str) -> DeliveryRetried:
    """One attempt as soon as possible, whatever state the delivery is in."""
    return await deliveries.retry(ctx, webhook, delivery_id)
