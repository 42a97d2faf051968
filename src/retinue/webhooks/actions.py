"""The subscription action `webhook`: deliver events to one of the tenant's webhooks or to a URL."""

from typing import Annotated

import msgspec
from msgspec import Meta

from retinue.events.signed_messages import enqueue_signed_message
from retinue.kit.context import Context
from retinue.kit.context.subscription_actions import ActingSubscription, SubscriptionAction
from retinue.kit.errors import Invalid
from retinue.kit.events.routing import DispatchedEvent
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.validation import describe_validation_error
from retinue.webhooks.delivery.body import encode_event_body
from retinue.webhooks.delivery.schedule import enqueue_delivery
from retinue.webhooks.destinations import check_headers, check_url
from retinue.webhooks.errors import WebhookInactive, WebhookNotFound
from retinue.webhooks.models import Webhook

_FIELD = "action_config"
# What a client is told about each key, and under which name.
_PROBLEMS = {
    "webhook_id": (f"{_FIELD}.webhook_id", "must be the id of a webhook"),
    "url": (_FIELD, "must have a webhook_id or a url"),
    "headers": (f"{_FIELD}.headers", "must be an object of header names with text values"),
}


class WebhookActionConfig(msgspec.Struct, kw_only=True):
    """Settings of a subscription that posts events to a webhook or to a URL."""

    webhook_id: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    url: Annotated[str, Meta(min_length=1, max_length=2048)] | None = None
    headers: dict[str, str] | None = None


async def check(ctx: Context, config: JsonObject) -> None:
    """Validate the known keys of `action_config`; other keys are kept."""
    parsed = _parse(config)
    if parsed.webhook_id is not None:
        if await ctx.db.get(Webhook, parsed.webhook_id) is None:
            raise _problem("webhook_id")
    elif parsed.url is None:
        raise _problem("url")
    else:
        check_url(ctx, parsed.url, f"{_FIELD}.url")
        check_headers(parsed.headers or {}, f"{_FIELD}.headers")


def _parse(config: JsonObject) -> WebhookActionConfig:
    """Return the keys that are used: a `webhook_id`, or else `url` and `headers`."""
    used = {"url": config.get("url"), "headers": config.get("headers") or {}}
    if config.get("webhook_id") is not None:
        used = {"webhook_id": config["webhook_id"]}
    try:
        return msgspec.convert(used, WebhookActionConfig)
    except msgspec.ValidationError as error:
        path, _ = describe_validation_error(error)
        raise _problem(path.partition(".")[0]) from None


def _problem(name: str) -> Invalid:
    field, message = _PROBLEMS[name]
    return Invalid({field: message})


async def perform(ctx: Context, subscribed: ActingSubscription, event: DispatchedEvent) -> None:
    config = _parse(subscribed.config)
    if config.webhook_id is None:
        await enqueue_signed_message(
            ctx,
            url=config.url or "",
            headers=config.headers or {},
            body=encode_event_body(event).encode(),
            event_id=event.id,
            event_type=event.type,
            subscription_id=subscribed.id,
        )
        return
    webhook = await ctx.db.get(Webhook, config.webhook_id)
    if webhook is None:
        raise WebhookNotFound
    if not webhook.is_active:
        raise WebhookInactive
    await enqueue_delivery(ctx, webhook, event)


def _goes_to_a_url(config: JsonObject) -> bool:
    """Return whether the receiver's answer is not known yet; a webhook keeps the outcomes of its own."""
    return config.get("webhook_id") is None


ACTION = SubscriptionAction("webhook", check, perform, WebhookActionConfig, _goes_to_a_url)
