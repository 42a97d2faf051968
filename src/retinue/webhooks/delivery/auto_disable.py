"""Disabling of webhooks whose attempts have failed for days."""

from retinue.kit.clock import parse_instant, to_instant
from retinue.kit.context import Context
from retinue.webhooks.delivery.results import DISABLE_AFTER
from retinue.webhooks.destinations import without_query
from retinue.webhooks.events import WebhookDisabled
from retinue.webhooks.job_kinds import FailingWebhook
from retinue.webhooks.models import Webhook

REASON = "Every attempt failed for five days."


async def disable_failing_webhook(ctx: Context, payload: FailingWebhook) -> None:
    """Disable the webhook, unless an attempt succeeded or somebody reactivated it meanwhile."""
    webhook = await ctx.db.lock(Webhook, payload.webhook_id)
    if webhook is None or not webhook.is_active or webhook.disable_at is None or webhook.disable_at > ctx.now:
        return
    since = to_instant(parse_instant(webhook.disable_at) - DISABLE_AFTER)
    await ctx.db.update(webhook, is_active=False, disabled_reason=REASON, disable_at=None)
    ctx.emit(
        WebhookDisabled(
            webhook_id=webhook.id, url=without_query(webhook.url), reason=REASON, failing_since=since
        )
    )
