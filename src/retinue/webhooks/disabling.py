"""A webhook that nothing has reached for days is switched off, and says so."""

import msgspec

from retinue.kit.clock import instant, moment
from retinue.kit.context import Context
from retinue.kit.jobs.declare import job
from retinue.webhooks.destinations import without_query
from retinue.webhooks.events import WebhookDisabled
from retinue.webhooks.models import Webhook
from retinue.webhooks.recording import FAILING_FOR

REASON = "Every attempt failed for five days."


class WebhookInTrouble(msgspec.Struct):
    webhook_id: str


@job()
async def disable_webhook(ctx: Context, payload: WebhookInTrouble) -> None:
    """Unless something got through meanwhile, or someone switched it on anew."""
    webhook = await ctx.db.lock(Webhook, payload.webhook_id)
    if webhook is None or not webhook.is_active or webhook.disable_at is None or webhook.disable_at > ctx.now:
        return
    since = instant(moment(webhook.disable_at) - FAILING_FOR)
    await ctx.db.update(webhook, is_active=False, disabled_reason=REASON, disable_at=None)
    ctx.emit(
        WebhookDisabled(
            webhook_id=webhook.id, url=without_query(webhook.url), reason=REASON, failing_since=since
        )
    )
