"""Webhooks: create, update, delete and rotate their secrets."""

from functools import partial

import msgspec
import sqlalchemy as sa
from msgspec import UNSET

from retinue.kit.clock import parse_instant, to_instant
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.db.statements import Statement
from retinue.kit.events.filters import check_filters, check_patterns
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import sent_fields
from retinue.kit.text.header_masks import require_entered, unmask_headers
from retinue.kit.webhook_signing import new_signing_secret
from retinue.tenants.event_listeners import mark_listened_to
from retinue.webhooks import queries, statistics
from retinue.webhooks.delivery.results import DISABLE_AFTER
from retinue.webhooks.destinations import check_headers, check_url, without_query
from retinue.webhooks.errors import TooManyWebhooks, WebhookGone
from retinue.webhooks.events import WebhookCreated, WebhookDeleted, WebhookUpdated
from retinue.webhooks.events import WebhookSecretRotated as RotatedEvent
from retinue.webhooks.headers import open_headers, sealed_headers, shown_headers
from retinue.webhooks.models import DeliveryStatus, Webhook, WebhookDelivery, WebhookHour
from retinue.webhooks.queries import lock_webhook
from retinue.webhooks.schemas import (
    WebhookCreate,
    WebhookList,
    WebhookMade,
    WebhookOut,
    WebhookPage,
    WebhookSecretRotation,
    WebhookUpdate,
)
from retinue.webhooks.signing_secrets import WebhookSecrets, open_secrets

MAX_WEBHOOKS = 1000

_deliveries, _hours = WebhookDelivery.__table__, WebhookHour.__table__
_CANCEL_PENDING = Statement(
    sa.update(_deliveries)
    .where(
        _deliveries.c.webhook_id == sa.bindparam("of_webhook", type_=_deliveries.c.webhook_id.type),
        _deliveries.c.status == sa.literal(DeliveryStatus.pending.value),
    )
    .values(
        status=DeliveryStatus.failed.value,
        error=WebhookGone.code,
        error_message=WebhookGone().message,
        next_attempt_at=sa.null(),
        is_scheduled=sa.false(),
        completed_at=sa.bindparam("now", type_=_deliveries.c.completed_at.type),
        updated_at=sa.bindparam("now", type_=_deliveries.c.updated_at.type),
    )
)
_DELETE_HOURS = Statement(
    sa.delete(_hours).where(_hours.c.id >= sa.bindparam("first"), _hours.c.id <= sa.bindparam("last"))
)


def render_webhook(ctx: Context, webhook: Webhook) -> WebhookOut:
    return WebhookOut.of(webhook, **_derived_fields(ctx, webhook))


def _derived_fields(ctx: Context, webhook: Webhook) -> JsonObject:
    ended = webhook.delivered_count + webhook.failed_count
    until = webhook.disable_at
    return {
        "active": webhook.is_active,
        "failing_since": None if until is None else to_instant(parse_instant(until) - DISABLE_AFTER),
        "headers": shown_headers(ctx, webhook),
        "success_rate": round(100 * webhook.delivered_count / ended, 1) if ended else 0.0,
        "series": UNSET,
    }


async def page(ctx: Context, query: WebhookList) -> WebhookPage:
    found = await queries.WEBHOOKS.page(ctx.db, query)
    listed = found.to_page(partial(render_webhook, ctx))
    if query.include == "series":
        series = await statistics.collect_last_day(ctx, found.items)
        listed.data = [msgspec.structs.replace(one, series=series[one.id]) for one in listed.data]
    return WebhookPage.of(found, data=listed.data, pagination=listed.pagination)


async def create(ctx: Context, body: WebhookCreate) -> WebhookMade:
    headers, filters = body.headers or {}, body.filters or {}
    _check(ctx, {"url": body.url, "events": body.events, "headers": headers, "filters": filters})
    if await ctx.db.count(Webhook) >= MAX_WEBHOOKS:
        raise TooManyWebhooks
    secrets = WebhookSecrets(new_signing_secret())
    webhook = await ctx.db.insert(
        Webhook(
            url=body.url,
            events=_unique(body.events),
            filters=filters,
            description=body.description,
            **sealed_headers(headers),
            is_active=body.active,
            secrets=secrets.sealed(),
            secret_prefix=secrets.prefix,
            created_by=ctx.principal.id,
        )
    )
    await mark_listened_to(ctx)
    ctx.emit(WebhookCreated(**_event_fields(webhook), events=webhook.events))
    return WebhookMade.of(webhook, **_derived_fields(ctx, webhook), secret=secrets.current)


async def update(ctx: Context, webhook: Webhook, body: WebhookUpdate) -> Webhook:
    changes = sent_fields(body)
    for name in ("headers", "filters"):
        if name in changes:
            changes[name] = changes[name] or {}
    if "headers" in changes:
        stored = open_headers(ctx.instance.ring, webhook)
        changes["headers"] = unmask_headers(changes["headers"], stored)
        if changes["headers"] == stored:
            del changes["headers"]
    _check(ctx, changes)
    if "events" in changes:
        changes["events"] = _unique(changes["events"])
    changed = sorted(changes)
    if "active" in changes:
        changes["is_active"] = changes.pop("active")
    if changes.get("is_active"):
        changes |= {"disabled_reason": None, "disable_at": None}
    if "headers" in changes:
        changes |= sealed_headers(changes["headers"])
    await ctx.db.update(webhook, **changes)
    if changed:
        ctx.emit(WebhookUpdated(**_event_fields(webhook), changed=changed))
    return webhook


async def delete(ctx: Context, webhook: Webhook) -> None:
    """Delete the webhook and cancel its pending deliveries; ended ones are kept as long as any other."""
    locked = await lock_webhook(ctx, webhook.id)
    await ctx.db.execute(_CANCEL_PENDING, of_webhook=locked.id, now=ctx.now)
    await ctx.db.execute(_DELETE_HOURS, first=f"{locked.id}.", last=f"{locked.id}.~")
    await ctx.db.delete(locked)
    ctx.emit(WebhookDeleted(**_event_fields(locked)))


async def rotate_secret(ctx: Context, webhook: Webhook, grace_seconds: int) -> WebhookSecretRotation:
    """Replace the signing secret; the previous one also signs for `grace_seconds`."""
    locked = await lock_webhook(ctx, webhook.id)
    previous = open_secrets(ctx.instance.ring, locked)
    secrets = WebhookSecrets(new_signing_secret(), previous.current if grace_seconds else None)
    until = ctx.clock.ahead(grace_seconds)
    sealed: Sealed = secrets.sealed()
    await ctx.db.update(locked, secrets=sealed, secret_prefix=secrets.prefix, previous_secret_until=until)
    ctx.emit(RotatedEvent(**_event_fields(locked), previous_secret_expires_at=until))
    return WebhookSecretRotation(id=locked.id, secret=secrets.current, previous_secret_expires_at=until)


def _check(ctx: Context, fields: JsonObject) -> None:
    """Validate the given fields."""
    if "url" in fields:
        check_url(ctx, fields["url"])
    if "events" in fields:
        check_patterns(fields["events"], "events")
    if "headers" in fields:
        check_headers(fields["headers"])
        require_entered(fields["headers"], "headers")
    if "filters" in fields:
        check_filters(fields["filters"])


def _unique(events: list[str]) -> list[str]:
    return list(dict.fromkeys(events))


def _event_fields(webhook: Webhook) -> dict[str, str]:
    return {"webhook_id": webhook.id, "url": without_query(webhook.url)}
