"""Which webhooks hear of an event: found for a whole batch of events at once, in the worker's transaction."""

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
from retinue.kit.events.matching import matches_filters, matches_type
from retinue.kit.events.routing import Happened, Router, Routing
from retinue.kit.ids import new_id
from retinue.webhooks.bodies import body_of
from retinue.webhooks.delivering import DeliveryToMake, deliver_webhook
from retinue.webhooks.models import WebhookDelivery, WebhookMessage
from retinue.webhooks.queries import Routed, listening, listening_in

log = structlog.get_logger("retinue.webhooks")

MOST_PER_EVENT = 50
# A tenant may have a thousand listeners with many filters; requests are answered in between.
_BEFORE_A_PAUSE = 10


def _insert_missing(record: type[Record]) -> Statement[Any]:
    return Statement(postgresql.insert(record.__table__).on_conflict_do_nothing())


_ADD_MESSAGE, _ADD_DELIVERY = _insert_missing(WebhookMessage), _insert_missing(WebhookDelivery)


async def route(routing: Routing, events: Sequence[Happened]) -> None:
    listeners: defaultdict[str, _Listeners] = defaultdict(_Listeners)
    for webhook in await listening_in(routing.system, {event.tenant_id for event in events}):
        listeners[webhook.tenant_id].add(webhook)
    messages, deliveries = [], []
    for number, event in enumerate(events, start=1):
        if number % _BEFORE_A_PAUSE == 0:
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
                deliver_webhook,
                DeliveryToMake(delivery.id, webhook.id),
                dedupe_key=delivery.id,
                lane=webhook.id,
            )
    if messages:
        await routing.system.execute_many(_ADD_MESSAGE, map(_row, messages))
        await routing.system.execute_many(_ADD_DELIVERY, map(_row, deliveries))


async def count(ctx: Context, event: Happened) -> int:
    listeners = _Listeners()
    for webhook in await listening(ctx):
        listeners.add(webhook)
    return len(listeners.chosen(event))


class _Listeners:
    """The webhooks of one tenant, added oldest first; most name their events, so few are asked about one."""

    def __init__(self) -> None:
        self._added = 0
        self._named: defaultdict[str, dict[str, tuple[int, Routed]]] = defaultdict(dict)
        self._patterns: list[tuple[str, int, Routed]] = []

    def add(self, webhook: Routed) -> None:
        self._added += 1
        for pattern in webhook.events:
            if "*" in pattern:
                self._patterns.append((pattern, self._added, webhook))
            else:
                self._named[pattern][webhook.id] = (self._added, webhook)

    def chosen(self, event: Happened) -> list[Routed]:
        """The oldest come first where there are more than one event may set off."""
        matching = dict(self._named.get(event.type, {}))
        for pattern, place, webhook in self._patterns:
            if matches_type(pattern, event.type):
                matching[webhook.id] = (place, webhook)
        chosen = [
            webhook
            for _, webhook in sorted(matching.values(), key=lambda one: one[0])
            if not webhook.filters or matches_filters(webhook.filters, event.data)
        ]
        if len(chosen) > MOST_PER_EVENT:
            log.warning(
                "webhooks_left_out", event_id=event.id, tenant_id=event.tenant_id, matched=len(chosen)
            )
        return chosen[:MOST_PER_EVENT]


def _message(event: Happened, now: Instant) -> WebhookMessage:
    return WebhookMessage(
        id=event.id, tenant_id=event.tenant_id, created_at=now, updated_at=now, body=body_of(event)
    )


def _delivery(event: Happened, webhook: Routed, now: Instant) -> WebhookDelivery:
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


def _row(record: Record) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__struct_fields__}


ROUTER = Router(name="webhooks", route=route, count=count)
