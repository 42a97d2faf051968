"""Tests that a refused chat leaves no conversation, no log and no event, on every route."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from retinue.app import Service
from tests.adapters.llm_server import ProviderServer
from tests.adapters.recordings import plain_wav, tone
from tests.chat.speaking import path_of, say
from tests.client import Api, Response
from tests.embed.keys import Holder, make_key
from tests.factories.agents import change_agent, make_agent
from tests.factories.happenings import events
from tests.factories.people import People
from tests.factories.providers import add_key_for

Way = Callable[[Api, dict[str, Any], Holder], Coroutine[Any, Any, Response]]
SOUND = plain_wav(tone(0.1))
WAYS: dict[str, Way] = {
    "sync": lambda api, agent, _holder: say(api, agent),
    "repeatable": lambda api, agent, _holder: api.post(
        path_of(agent), {"message": "Hello"}, headers={"Idempotency-Key": "once"}
    ),
    "stream": lambda api, agent, _holder: api.post(path_of(agent, "/stream"), {"message": "Hello"}),
    "async": lambda api, agent, _holder: api.post(path_of(agent, "/async"), {"message": "Hello"}),
    "audio": lambda api, agent, _holder: api.post(
        path_of(agent, "/audio"), files={"audio": ("voice.wav", SOUND, "audio/wav")}
    ),
    "public": lambda _api, _agent, holder: holder.say(),
    "public stream": lambda _api, _agent, holder: holder.say(stream=True),
    "openai": lambda api, agent, _holder: api.post(
        "/v1/chat/completions", {"model": agent["id"], "messages": [{"role": "user", "content": "Hello"}]}
    ),
}


@pytest.fixture
async def service(make_service: Any) -> Service:
    return await make_service(stt_model="openai_compatible/whisper-1")


@pytest.fixture
async def agent(admin: Api, provider: ProviderServer) -> dict[str, Any]:
    await add_key_for(admin, provider, models=["test-model", "whisper-1"])
    return await make_agent(admin, primary_model="openai_compatible/test-model", status="published")


async def list_traces_of_turn(admin: Api, agent: dict[str, Any], people: People) -> list[Any]:
    conversations = (await admin.get("/api/v1/conversations")).json()["data"]
    logs = (await admin.get(f"/api/v1/agents/{agent['id']}/logs")).json()["data"]
    told = [
        event
        for type in ("agent.chat.started", "agent.chat.message", "agent.chat.completed")
        for event in await events(people, type)
    ]
    return [*conversations, *logs, *told]


@pytest.mark.parametrize("way", WAYS)
async def test_a_model_that_nobody_serves_leaves_nothing(
    admin: Api, agent: dict[str, Any], people: People, provider: ProviderServer, way: str
) -> None:
    holder = Holder(admin.signed_in(""), agent, await make_key(admin, agent))
    await change_agent(admin, agent, primary_model="openai_compatible/unheard-of")
    refused = await WAYS[way](admin, agent, holder)
    assert (refused.status, refused.code) == (422, "model_not_configured"), refused
    assert await list_traces_of_turn(admin, agent, people) == []
    assert provider.requests == []


@pytest.mark.either_database
async def test_a_fallback_that_is_served_answers(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    await change_agent(
        admin,
        agent,
        primary_model="openai_compatible/unheard-of",
        fallback_models=["openai_compatible/test-model"],
    )
    provider.says("Here.")
    assert (await say(admin, agent)).status == 200


@pytest.mark.either_database
@pytest.mark.parametrize("way", WAYS)
async def test_an_archived_agent_leaves_nothing(
    admin: Api, agent: dict[str, Any], people: People, way: str
) -> None:
    holder = Holder(admin.signed_in(""), agent, await make_key(admin, agent))
    await change_agent(admin, agent, status="archived")
    refused = await WAYS[way](admin, agent, holder)
    assert refused.status in {404, 409}, refused
    assert await list_traces_of_turn(admin, agent, people) == []


@pytest.mark.either_database
@pytest.mark.parametrize("action", ["block", "fallback"])
@pytest.mark.parametrize("way", WAYS)
async def test_a_spent_budget_leaves_nothing(
    admin: Api, agent: dict[str, Any], people: People, provider: ProviderServer, way: str, action: str
) -> None:
    """Nobody here is cheaper, so there is nothing to fall back to."""
    holder = Holder(admin.signed_in(""), agent, await make_key(admin, agent))
    provider.says("A first answer.")
    assert (await say(admin, agent)).status == 200
    budget = {"scope": {"type": "tenant"}, "limit_tokens": 1, "period": "month", "action": action}
    assert (await admin.post("/api/v1/budgets", budget)).status == 201
    before = await list_traces_of_turn(admin, agent, people)
    refused = await WAYS[way](admin, agent, holder)
    assert refused.status in {422, 429}, refused
    assert len(await list_traces_of_turn(admin, agent, people)) == len(before)
