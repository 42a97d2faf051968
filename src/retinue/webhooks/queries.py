"""Reading and holding webhooks and what is on its way to them."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.one_of import listed, one_of
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement, reading
from retinue.kit.lists import MAX_PER_PAGE, Listing, Slice
from retinue.webhooks.errors import DeliveryNotFound, WebhookNotFound
from retinue.webhooks.models import DeliveryStatus, Webhook, WebhookAttempt, WebhookDelivery
from retinue.webhooks.schemas import DeliveryList

_webhooks, _deliveries = Webhook.__table__, WebhookDelivery.__table__
_attempts = WebhookAttempt.__table__

WEBHOOKS = Listing(
    Webhook,
    sorts=("created_at", "updated_at", "url"),
    matches={"active": _webhooks.c.is_active == sa.bindparam("active", type_=sa.Boolean())},
)
_OF_EVENT = Listing(WebhookDelivery, filters=("status", "event_id"))


class Routed(msgspec.Struct):
    """As much of a webhook as decides what it hears of."""

    tenant_id: str
    id: str
    events: list[str]
    filters: dict[str, Any]


_decode_events = msgspec.json.Decoder(list[str]).decode
_decode_filters = msgspec.json.Decoder(dict[str, Any]).decode
_routed_columns = (_webhooks.c.tenant_id, _webhooks.c.id, _webhooks.c.events, _webhooks.c.filters)


def _as_routed(row: Any) -> Routed:
    return Routed(row[0], row[1], _decode_events(row[2]), _decode_filters(row[3]))


_LISTENING: Statement[Routed] = Statement(
    sa.select(*_routed_columns).where(_webhooks.c.is_active).order_by(_webhooks.c.created_at, _webhooks.c.id),
    _as_routed,
)


_LISTENING_IN: Statement[Routed] = Statement(
    sa.select(*_routed_columns)
    .where(_webhooks.c.is_active, one_of(_webhooks.c.tenant_id, "tenants"))
    .order_by(_webhooks.c.created_at, _webhooks.c.id),
    _as_routed,
)


async def listening(ctx: Context) -> list[Routed]:
    """The tenant's active webhooks, oldest first."""
    return await ctx.db.rows(_LISTENING)


async def listening_in(system: SystemDb, tenants: set[str]) -> list[Routed]:
    """The same of several tenants."""
    return await system.rows(_LISTENING_IN, tenants=listed(tenants))


async def hold_webhook(ctx: Context, id: str) -> Webhook:
    """Before anything of its deliveries is held: everyone takes them in this order."""
    held = await ctx.db.lock(Webhook, id)
    if held is None:
        raise WebhookNotFound
    return held


async def fetch_delivery(ctx: Context, webhook: Webhook, id: str) -> WebhookDelivery:
    found = await ctx.db.get(WebhookDelivery, id)
    if found is None or found.webhook_id != webhook.id:
        raise DeliveryNotFound
    return found


_ATTEMPTS: Statement[WebhookAttempt] = reading(
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
    return reading(WebhookDelivery, source)


_PAGE = _page_of()
_PAGE_BY_STATUS = _page_of(_deliveries.c.status == sa.bindparam("status", type_=_deliveries.c.status.type))
_PENDING: Statement[Any] = Statement(
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
    """One page; how many there are is known without counting them, except for the few that are pending."""
    if query.event_id is not None:
        return await _OF_EVENT.page(ctx.db, query, webhook_id=webhook.id)
    per_page = min(query.per_page, MAX_PER_PAGE)
    total = await _count(ctx, webhook, query.status)
    where = {
        "webhook_id": webhook.id,
        "row_limit": per_page,
        "row_offset": (query.page - 1) * per_page,
    }
    if query.status is None:
        found = await ctx.db.rows(_PAGE, **where)
    else:
        found = await ctx.db.rows(_PAGE_BY_STATUS, status=query.status.value, **where)
    return Slice(found, total, query.page, per_page)


async def _count(ctx: Context, webhook: Webhook, status: DeliveryStatus | None) -> int:
    match status:
        case DeliveryStatus.delivered:
            return webhook.delivered_count
        case DeliveryStatus.failed:
            return webhook.failed_count
        case DeliveryStatus.pending:
            return await count_pending(ctx, webhook)
    return webhook.delivered_count + webhook.failed_count + await count_pending(ctx, webhook)
