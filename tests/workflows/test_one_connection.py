"""Steps that hold a transaction and need nothing beside it: a second connection may never come free."""

import asyncio
from typing import Any

import pytest

from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.kit.events.models import EventEntry
from tests.adapters.llm_server import ProviderServer
from tests.client import Api
from tests.factories.people import People
from tests.factories.workflows import by_node, execution, make_workflow, node, start, statuses
from tests.usage.spending import add_budget


@pytest.fixture
async def service(make_service) -> Service:
    """A service with one connection: on PostgreSQL, a step that needs a second one would wait for ever."""
    return await make_service(database_pool=1)


async def test_an_agent_is_asked_in_the_transaction_of_the_step(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer, clock: ManualClock
) -> None:
    provider.says("It is sunny.")
    workflow = await make_workflow(
        admin, node("ask", "agent", agent_id=agent["id"], message="Hello"), node("other", set={"n": 1})
    )
    id = await start(admin, workflow)
    # What requests cached is too old for the step.
    clock.advance(60)
    async with asyncio.timeout(20):
        await service.runner.drain()
    assert statuses(await execution(admin, workflow, id)) == {"ask": "completed", "other": "completed"}


async def test_an_unpriced_model_fails_its_step_and_is_announced(
    service: Service, people: People, admin: Api, agent: dict[str, Any]
) -> None:
    await add_budget(admin, {"type": "tenant"}, limit_usd=1)
    answer = await admin.put(f"/api/v1/agents/{agent['id']}", {"primary_model": "openai_compatible/own"})
    assert answer.status == 200, answer
    workflow = await make_workflow(admin, node("ask", "agent", agent_id=agent["id"], message="Hello"))
    id = await start(admin, workflow)
    async with asyncio.timeout(20):
        await service.runner.drain()
    failed = by_node(await execution(admin, workflow, id))["ask"]
    assert failed["error"]["code"] == "model_unpriced"
    async with people.context(admin.user.tenant_id) as ctx:
        (event,) = await ctx.db.all(EventEntry, type="system.budget.unpriced")
    assert event.data["model"] == "openai_compatible/own"
