"""Deliveries that are about to be sent are read together, and each of them for its own tenant."""

import asyncio

from retinue.kit.db.errors import DatabaseUnavailable
from retinue.kit.events.dispatch import EventDispatcher
from retinue.webhooks.delivery.loader import DeliveryLoader
from retinue.webhooks.models import WebhookDelivery
from tests.webhooks.hooks import Hooks


class Counting:
    """A database that counts the reads, and may be away."""

    def __init__(self, database):
        self._database = database
        self.reads = 0
        self.is_away = False

    async def fetch(self, *arguments, **more):
        self.reads += 1
        if self.is_away:
            raise DatabaseUnavailable
        return await self._database.fetch(*arguments, **more)

    def __getattr__(self, name):
        return getattr(self._database, name)


async def _route_deliveries(hooks: Hooks, count: int) -> list[WebhookDelivery]:
    """Return routed deliveries that were not sent yet."""
    await hooks.make()
    for _ in range(count):
        await hooks.happen()
    async with hooks.people.context() as ctx:
        await EventDispatcher(hooks.service.instance).run(ctx.unit_of_work)
    async with hooks.people.context() as ctx:
        return await ctx.system("test").all(WebhookDelivery)


async def test_those_who_ask_together_share_a_read_and_nobody_is_told_of_anothers(hooks, monkeypatch):
    deliveries = await _route_deliveries(hooks, 3)
    instance = hooks.service.instance
    counting = Counting(instance.database)
    monkeypatch.setattr(instance, "database", counting)
    waiting = DeliveryLoader(instance)
    asked = [(one.tenant_id, one.id) for one in deliveries]
    asked += [("ten_other", deliveries[0].id), (deliveries[0].tenant_id, "dlv_none")]
    found = await asyncio.gather(*(waiting.find(*one) for one in asked))
    assert counting.reads == 1
    assert [one and one.delivery_id for one in found] == [*(one.id for one in deliveries), None, None]
    assert found[0].body
    assert found[0].url.startswith(hooks.receiver.url)


async def test_a_read_that_fails_is_told_to_all_who_asked_and_the_next_one_is_made_anew(hooks, monkeypatch):
    first, second = await _route_deliveries(hooks, 2)
    instance = hooks.service.instance
    counting = Counting(instance.database)
    monkeypatch.setattr(instance, "database", counting)
    waiting = DeliveryLoader(instance)
    counting.is_away = True
    asks = [asyncio.create_task(waiting.find(one.tenant_id, one.id)) for one in (first, second, second)]
    await asyncio.sleep(0)
    asks[2].cancel()
    ended = await asyncio.gather(*asks, return_exceptions=True)
    assert [type(one) for one in ended] == [DatabaseUnavailable, DatabaseUnavailable, asyncio.CancelledError]
    counting.is_away = False
    found = await waiting.find(first.tenant_id, first.id)
    assert found is not None
    assert found.delivery_id == first.id
