"""Webhooks: made, changed, deleted, and given another secret."""

from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.db.statements import Statement
from retinue.kit.events.matching import check_filters, check_patterns
from retinue.kit.schemas import given
from retinue.kit.webhook_signing import new_signing_secret
from retinue.tenants.listening import start_listening
from retinue.webhooks import queries
from retinue.webhooks.destinations import check_headers, check_url, without_query
from retinue.webhooks.errors import TooManyWebhooks, WebhookGone
from retinue.webhooks.events import WebhookCreated, WebhookDeleted, WebhookUpdated
from retinue.webhooks.events import WebhookSecretRotated as RotatedEvent
from retinue.webhooks.models import DeliveryStatus, Webhook, WebhookDelivery, WebhookHour
from retinue.webhooks.queries import hold_webhook
from retinue.webhooks.schemas import (
    WebhookCreate,
    WebhookList,
    WebhookMade,
    WebhookOut,
    WebhookPage,
    WebhookSecretRotated,
    WebhookUpdate,
)
from retinue.webhooks.secrets import Secrets, open_secrets

MOST_WEBHOOKS = 1000

_deliveries, _hours = WebhookDelivery.__table__, WebhookHour.__table__
_CANCEL: Statement[Any] = Statement(
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
_FORGET_HOURS: Statement[Any] = Statement(
    sa.delete(_hours).where(_hours.c.id >= sa.bindparam("first"), _hours.c.id <= sa.bindparam("last"))
)


def shown(webhook: Webhook) -> WebhookOut:
    return WebhookOut.of(webhook, **_derived(webhook))


def _derived(webhook: Webhook) -> dict[str, Any]:
    ended = webhook.delivered_count + webhook.failed_count
    return {
        "active": webhook.is_active,
        "success_rate": round(100 * webhook.delivered_count / ended, 1) if ended else 0.0,
    }


async def page(ctx: Context, query: WebhookList) -> WebhookPage:
    found = await queries.WEBHOOKS.page(ctx.db, query)
    listed = found.shown(shown)
    return WebhookPage.of(found, data=listed.data, pagination=listed.pagination)


async def create(ctx: Context, body: WebhookCreate) -> WebhookMade:
    headers, filters = body.headers or {}, body.filters or {}
    _check(ctx, {"url": body.url, "events": body.events, "headers": headers, "filters": filters})
    if await ctx.db.count(Webhook) >= MOST_WEBHOOKS:
        raise TooManyWebhooks
    secrets = Secrets(new_signing_secret())
    webhook = await ctx.db.insert(
        Webhook(
            url=body.url,
            events=_each_once(body.events),
            filters=filters,
            description=body.description,
            headers=headers,
            is_active=body.active,
            secrets=secrets.sealed(),
            secret_prefix=secrets.shown,
            created_by=ctx.principal.id,
        )
    )
    await start_listening(ctx)
    ctx.emit(WebhookCreated(**_about(webhook), events=webhook.events))
    return WebhookMade.of(webhook, **_derived(webhook), secret=secrets.current)


async def update(ctx: Context, webhook: Webhook, body: WebhookUpdate) -> Webhook:
    changes = given(body)
    for name in ("headers", "filters"):
        if name in changes:
            changes[name] = changes[name] or {}
    _check(ctx, changes)
    if "events" in changes:
        changes["events"] = _each_once(changes["events"])
    changed = sorted(changes)
    if "active" in changes:
        changes["is_active"] = changes.pop("active")
    if changes.get("is_active"):
        changes |= {"disabled_reason": None, "disable_at": None}
    await ctx.db.update(webhook, **changes)
    if changed:
        ctx.emit(WebhookUpdated(**_about(webhook), changed=changed))
    return webhook


async def delete(ctx: Context, webhook: Webhook) -> None:
    """What is on its way is cancelled; what was delivered is kept for as long as any delivery."""
    held = await hold_webhook(ctx, webhook.id)
    await ctx.db.execute(_CANCEL, of_webhook=held.id, now=ctx.now)
    await ctx.db.execute(_FORGET_HOURS, first=f"{held.id}.", last=f"{held.id}.~")
    await ctx.db.delete(held)
    ctx.emit(WebhookDeleted(**_about(held)))


async def rotate(ctx: Context, webhook: Webhook, grace_seconds: int) -> WebhookSecretRotated:
    """Another secret in the place of this one, which signs beside it for so long."""
    held = await hold_webhook(ctx, webhook.id)
    before = open_secrets(ctx.instance.ring, held)
    secrets = Secrets(new_signing_secret(), before.current if grace_seconds else None)
    until = ctx.clock.ahead(grace_seconds)
    sealed: Sealed = secrets.sealed()
    await ctx.db.update(held, secrets=sealed, secret_prefix=secrets.shown, previous_secret_until=until)
    ctx.emit(RotatedEvent(**_about(held), previous_secret_expires_at=until))
    return WebhookSecretRotated(id=held.id, secret=secrets.current, previous_secret_expires_at=until)


def _check(ctx: Context, given: dict[str, Any]) -> None:
    """Refuse what could not be delivered to, whichever of it was given."""
    if "url" in given:
        check_url(ctx, given["url"])
    if "events" in given:
        check_patterns(given["events"], "events")
    if "headers" in given:
        check_headers(given["headers"])
    if "filters" in given:
        check_filters(given["filters"])


def _each_once(events: list[str]) -> list[str]:
    return list(dict.fromkeys(events))


def _about(webhook: Webhook) -> dict[str, str]:
    return {"webhook_id": webhook.id, "url": without_query(webhook.url)}
