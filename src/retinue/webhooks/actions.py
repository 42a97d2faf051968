"""What a subscription with `action_type: webhook` does: to one of the tenant's webhooks, or to an address."""

from typing import Any

import msgspec

from retinue.events.posting import post_signed
from retinue.kit.actions import Action, Subscribed
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.events.routing import Happened
from retinue.webhooks.bodies import body_of
from retinue.webhooks.delivering import deliver
from retinue.webhooks.destinations import check_headers, check_url
from retinue.webhooks.errors import WebhookInactive, WebhookNotFound
from retinue.webhooks.models import Webhook

_FIELD = "action_config"
_LONGEST_ID = 64
_LONGEST_URL = 2048


async def check(ctx: Context, config: dict[str, Any]) -> None:
    """Further keys are kept, but what has a meaning must be right."""
    webhook_id, url = config.get("webhook_id"), config.get("url")
    if webhook_id is not None:
        known = isinstance(webhook_id, str) and 0 < len(webhook_id) <= _LONGEST_ID
        if not known or await ctx.db.get(Webhook, webhook_id) is None:
            raise Invalid({f"{_FIELD}.webhook_id": "must be the id of a webhook"})
        return
    if not isinstance(url, str) or not 0 < len(url) <= _LONGEST_URL:
        raise Invalid({_FIELD: "must have a webhook_id or a url"})
    check_url(ctx, url, f"{_FIELD}.url")
    check_headers(_headers(config), f"{_FIELD}.headers")


def _headers(config: dict[str, Any]) -> dict[str, str]:
    try:
        return msgspec.convert(config.get("headers") or {}, dict[str, str])
    except msgspec.ValidationError:
        raise Invalid({f"{_FIELD}.headers": "must be texts by the names of headers"}) from None


async def perform(ctx: Context, subscribed: Subscribed, event: Happened) -> None:
    config = subscribed.config
    if config.get("webhook_id") is None:
        await post_signed(
            ctx,
            url=config["url"],
            headers=_headers(config),
            body=body_of(event).encode(),
            event_id=event.id,
            event_type=event.type,
        )
        return
    webhook = await ctx.db.get(Webhook, config["webhook_id"])
    if webhook is None:
        raise WebhookNotFound
    if not webhook.is_active:
        raise WebhookInactive
    await deliver(ctx, webhook, event)


ACTION = Action(type="webhook", check=check, perform=perform)
