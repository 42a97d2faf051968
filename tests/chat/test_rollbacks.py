"""A chat and the deletion of its agent that wait for each other: both end well."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from retinue.app import Service
from retinue.kit.db.databases import direct_url
from tests.adapters.llm_server import ProviderServer
from tests.client import Api
from tests.databases import SERVER
from tests.factories.agents import make_agent
from tests.factories.providers import add_key_for
from tests.kit.rival import Rival, rival_at

pytestmark = [
    pytest.mark.every_case,
    pytest.mark.skipif(not SERVER, reason="SQLite has one writer, so two never wait for each other"),
]


@pytest.fixture
async def rival(service: Service) -> AsyncIterator[Rival]:
    async with rival_at(direct_url(service.settings)) as made:
        yield made


async def _talk(admin: Api, provider: ProviderServer) -> tuple[str, str]:
    await add_key_for(admin, provider, models=["test-model"])
    agent = await make_agent(admin, primary_model="openai_compatible/test-model", status="published")
    begun = await admin.post(f"/api/v1/agents/{agent['id']}/chat", {"message": "Hello"})
    return agent["id"], begun.json()["conversation_id"]


async def test_a_chat_that_is_rolled_back_is_answered_once(
    service: Service, admin: Api, provider: ProviderServer, rival: Rival
) -> None:
    agent_id, conversation_id = await _talk(admin, provider)
    await rival.hold("agents", agent_id)
    body = {"message": "Again", "conversation_id": conversation_id}
    asked = asyncio.create_task(admin.post(f"/api/v1/agents/{agent_id}/chat", body))
    await rival.collide("conversations", conversation_id)
    answer = await asked
    assert answer.status == 200, answer
    assert len(provider.requests) == 2
    kept = (await admin.get(f"/api/v1/conversations/{conversation_id}/messages")).json()["data"]
    assert sorted(one["content"] for one in kept).count("Again") == 1
    assert len(kept) == 4


async def test_a_delete_that_is_rolled_back_is_done_anyway(
    service: Service, admin: Api, provider: ProviderServer, rival: Rival
) -> None:
    agent_id, conversation_id = await _talk(admin, provider)
    await rival.hold("conversations", conversation_id)
    asked = asyncio.create_task(admin.delete(f"/api/v1/agents/{agent_id}"))
    await rival.collide("agents", agent_id)
    assert (await asked).status == 204
    assert (await admin.get(f"/api/v1/conversations/{conversation_id}")).status == 404
