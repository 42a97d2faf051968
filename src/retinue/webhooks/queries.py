"""Queries for webhooks and their deliveries."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import MAX_PER_PAGE, Listing, Slice
from retinue.webhooks.errors import DeliveryNotFound, WebhookNotFound
from retinue.webhooks.models import DeliveryStatus, Webhook, WebhookAttempt, WebhookDelivery
from retinue.webhooks.schemas import DeliveryList

_webhooks, _deliveries = Webhook.__table__, WebhookDelivery.__table__
_attempts = WebhookAttempt.__table__

WEBHOOKS = Listing(
    Webhook,
    searches=("url", "description"),
    sorts=("created_at", "updated_at", "url"),
    matches={
        "active": _webhooks.c.is_active == sa.bindparam("active", type_=sa.Boolean()),
        "needs_look": sa.or_(_webhooks.c.disable_at.is_not(None), _webhooks.c.disabled_reason.is_not(None))
        == sa.bindparam("needs_look", type_=sa.Boolean()),
    },
)
_FILTERED = Listing(
    WebhookDelivery,
    searches=("event_type", "event_id", "id", "error", "error_message"),
    filters=("status", "event_id", "event_type"),
    from_={"from_": "created_at"},
    until={"to": "created_at"},
    heavy=True,
)
_NARROWING = ("event_id", "event_type", "search", "from_", "to")


class SubscribedWebhook(msgspec.Struct):
    """The columns of a webhook that decide which events it receives."""

    tenant_id: str
    id: str
    events: list[str]
    filters: JsonObject


_decode_events = msgspec.json.Decoder(list[str]).decode
_decode_filters = msgspec.json.Decoder(JsonObject).decode
_subscribed_columns = (_webhooks.c.tenant_id, _webhooks.c.id, _webhooks.c.events, _webhooks.c.filters)


def _as_subscribed(row: Any) -> SubscribedWebhook:
    return SubscribedWebhook(row[0], row[1], _decode_events(row[2]), _decode_filters(row[3]))


_ACTIVE: Statement[SubscribedWebhook] = Statement(
    sa.select(*_subscribed_columns)
    .where(_webhooks.c.is_active)
    .order_by(_webhooks.c.created_at, _webhooks.c.id),
    _as_subscribed,
)


_ACTIVE_IN_TENANTS: Statement[SubscribedWebhook] = Statement(
    sa.select(*_subscribed_columns)
    .where(_webhooks.c.is_active, in_list(_webhooks.c.tenant_id, "tenants"))
    .order_by(_webhooks.c.created_at, _webhooks.c.id),
    _as_subscribed,
)


async def load_active_webhooks(ctx: Context) -> list[SubscribedWebhook]:
    """Return the tenant's active webhooks, oldest first."""
    return await ctx.db.rows(_ACTIVE)


async def load_active_webhooks_in(system: SystemDb, tenants: set[str]) -> list[SubscribedWebhook]:
    """Return the active webhooks of several tenants, oldest first."""
    return await system.rows(_ACTIVE_IN_TENANTS, tenants=list_parameter(tenants))


async def lock_webhook(ctx: Context, id: str) -> Webhook:
    """Lock the webhook. Lock order: always the webhook before its deliveries."""
    locked = await ctx.db.lock(Webhook, id)
    if locked is None:
        raise WebhookNotFound
    return locked


async def fetch_delivery(ctx: Context, webhook: Webhook, id: str) -> WebhookDelivery:
    delivery = await ctx.db.get(WebhookDelivery, id)
    if delivery is None or delivery.webhook_id != webhook.id:
        raise DeliveryNotFound
    return delivery


_ATTEMPTS: Statement[WebhookAttempt] = record_statement(
    WebhookAttempt,
    sa.select(_attempts)
    .where(_attempts.c.delivery_id == sa.bindparam("delivery_id"))
    .order_by(_attempts.c.number)
    .limit(100),
)


async def attempts_of(ctx: Context, delivery: WebhookDelivery) -> list[WebhookAttempt]:
    return await ctx.db.rows(_ATTEMPTS, delivery_id=delivery.id)


def _page_of(*conditions: Any) -> Statement[WebhookDelivery]:
    source = (
        sa.select(_deliveries)
        .where(_deliveries.c.webhook_id == sa.bindparam("webhook_id"), *conditions)
        .order_by(_deliveries.c.created_at.desc(), _deliveries.c.id.desc())
        .limit(sa.bindparam("row_limit", type_=sa.BigInteger()))
        .offset(sa.bindparam("row_offset", type_=sa.BigInteger()))
    )
    return record_statement(WebhookDelivery, source)


_PAGE = _page_of()
_PAGE_BY_STATUS = _page_of(_deliveries.c.status == sa.bindparam("status", type_=_deliveries.c.status.type))
_PENDING = Statement(
    sa.select(sa.func.count())
    .select_from(_deliveries)
    .where(
        _deliveries.c.webhook_id == sa.bindparam("webhook_id"),
        _deliveries.c.status == sa.literal(DeliveryStatus.pending.value),
    )
)


async def count_pending(ctx: Context, webhook: Webhook) -> int:
    return int(await ctx.db.scalar(_PENDING, webhook_id=webhook.id))


async def page_of_deliveries(ctx: Context, webhook: Webhook, query: DeliveryList) -> Slice[WebhookDelivery]:
    """Return one page; the total comes from stored counts, and only pending deliveries are counted."""
    if any(getattr(query, name) is not None for name in _NARROWING):
        return await _FILTERED.page(ctx.db, query, webhook_id=webhook.id)
    per_page = min(query.per_page, MAX_PER_PAGE)
    total = await _count(ctx, webhook, query.status)
    where = {
        "webhook_id": webhook.id,
        "row_limit": per_page,
        "row_offset": (query.page - 1) * per_page,
    }
    if query.status is None:
        deliveries = await ctx.db.rows(_PAGE, **where)
    else:
        deliveries = await ctx.db.rows(_PAGE_BY_STATUS, status=query.status.value, **where)
    return Slice(deliveries, total, query.page, per_page)


async def _count(ctx: Context, webhook: Webhook, status: DeliveryStatus | None) -> int:
    match status:
        case DeliveryStatus.delivered:
            return webhook.delivered_count
        case DeliveryStatus.failed:
            return webhook.failed_count
        case DeliveryStatus.pending:
            return await count_pending(ctx, webhook)
    return webhook.delivered_count + webhook.failed_count + await count_pending(ctx, webhook)
