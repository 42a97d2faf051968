"""Routing of events to webhooks, for a whole batch of events in the worker's transaction."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import structlog
from sqlalchemy.dialects import postgresql

from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.db.models import Record
from retinue.kit.db.statements import Statement
from retinue.kit.events.filters import matches_filters, matches_type
from retinue.kit.events.routing import DispatchedEvent, Router, WorkerTransaction
from retinue.kit.ids import new_id
from retinue.kit.json_types import JsonObject
from retinue.webhooks.delivery.body import encode_event_body
from retinue.webhooks.job_kinds import DELIVER_WEBHOOK, WebhookDeliveryTask
from retinue.webhooks.models import WebhookDelivery, WebhookMessage
from retinue.webhooks.queries import SubscribedWebhook, load_active_webhooks, load_active_webhooks_in

log = structlog.get_logger("retinue.webhooks")

MAX_DELIVERIES_PER_EVENT = 50
# Requests are served in between: a tenant may have a thousand webhooks with many filters.
_EVENTS_PER_YIELD = 10


def _insert_missing(record: type[Record]) -> Statement[Any]:
    return Statement(postgresql.insert(record.__table__).on_conflict_do_nothing())


_ADD_MESSAGE, _ADD_DELIVERY = _insert_missing(WebhookMessage), _insert_missing(WebhookDelivery)


async def route(routing: WorkerTransaction, events: Sequence[DispatchedEvent]) -> None:
    listeners: defaultdict[str, _WebhookIndex] = defaultdict(_WebhookIndex)
    for webhook in await load_active_webhooks_in(routing.system, {event.tenant_id for event in events}):
        listeners[webhook.tenant_id].add(webhook)
    messages, deliveries = [], []
    for number, event in enumerate(events, start=1):
        if number % _EVENTS_PER_YIELD == 0:
            await asyncio.sleep(0)
        chosen = listeners[event.tenant_id].chosen(event) if event.tenant_id in listeners else []
        if not chosen:
            continue
        messages.append(_message(event, routing.instance.clock.now()))
        for webhook in chosen:
            delivery = _delivery(event, webhook, routing.instance.clock.now())
            deliveries.append(delivery)
            routing.defer(
                event,
                DELIVER_WEBHOOK,
                WebhookDeliveryTask(delivery.id, webhook.id),
                dedupe_key=delivery.id,
                lane=webhook.id,
            )
    if messages:
        await routing.system.execute_many(_ADD_MESSAGE, map(_row, messages))
        await routing.system.execute_many(_ADD_DELIVERY, map(_row, deliveries))


async def count(ctx: Context, event: DispatchedEvent) -> int:
    listeners = _WebhookIndex()
    for webhook in await load_active_webhooks(ctx):
        listeners.add(webhook)
    return len(listeners.chosen(event))


class _WebhookIndex:
    """A tenant's webhooks, added oldest first; indexed by event name, so that few are checked per event."""

    def __init__(self) -> None:
        self._added = 0
        self._named: defaultdict[str, dict[str, tuple[int, SubscribedWebhook]]] = defaultdict(dict)
        self._patterns: list[tuple[str, int, SubscribedWebhook]] = []

    def add(self, webhook: SubscribedWebhook) -> None:
        self._added += 1
        for pattern in webhook.events:
            if "*" in pattern:
                self._patterns.append((pattern, self._added, webhook))
            else:
                self._named[pattern][webhook.id] = (self._added, webhook)

    def chosen(self, event: DispatchedEvent) -> list[SubscribedWebhook]:
        """Return the matching webhooks, oldest first, at most `MAX_DELIVERIES_PER_EVENT`."""
        matching = dict(self._named.get(event.type, {}))
        for pattern, order, webhook in self._patterns:
            if matches_type(pattern, event.type):
                matching[webhook.id] = (order, webhook)
        chosen = [
            webhook
            for _, webhook in sorted(matching.values(), key=lambda entry: entry[0])
            if not webhook.filters or matches_filters(webhook.filters, event.data)
        ]
        if len(chosen) > MAX_DELIVERIES_PER_EVENT:
            log.warning(
                "webhooks_left_out", event_id=event.id, tenant_id=event.tenant_id, matched=len(chosen)
            )
        return chosen[:MAX_DELIVERIES_PER_EVENT]


def _message(event: DispatchedEvent, now: Instant) -> WebhookMessage:
    return WebhookMessage(
        id=event.id, tenant_id=event.tenant_id, created_at=now, updated_at=now, body=encode_event_body(event)
    )


def _delivery(event: DispatchedEvent, webhook: SubscribedWebhook, now: Instant) -> WebhookDelivery:
    return WebhookDelivery(
        id=new_id(WebhookDelivery.__prefix__),
        tenant_id=event.tenant_id,
        created_at=now,
        updated_at=now,
        webhook_id=webhook.id,
        event_id=event.id,
        event_type=event.type,
        is_test=event.is_test,
        next_attempt_at=now,
    )


def _row(record: Record) -> JsonObject:
    return {name: getattr(record, name) for name in record.__struct_fields__}


ROUTER = Router(name="webhooks", route=route, count=count)
