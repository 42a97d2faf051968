import asyncio
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.kit.events.models import EventEntry
from tests.adapters.llm_server import ProviderServer
from tests.client import Api
from tests.factories.agents import change_agent, make_agent
from tests.factories.people import People
from tests.factories.providers import add_key
from tests.usage.spending import BUDGETS, add_budget, chat, spent, takes

DAY = 24 * 3600


async def test_a_budget_is_made_with_defaults_and_changed_as_a_whole(
    admin: Api, agent: dict[str, Any]
) -> None:
    made = await add_budget(admin, {"type": "agent", "id": agent["id"]}, limit_usd=5)
    assert made["scope"] == {"type": "agent", "id": agent["id"]}
    assert (made["limit_usd"], made["limit_tokens"], made["spent"]) == (5.0, None, 0.0)
    assert (made["period"], made["soft_percent"], made["action"]) == ("month", 80, "block")
    assert made["resets_at"][8:] == "01T00:00:00.000000Z"
    place = f"{BUDGETS}/{made['id']}"
    changed = (await admin.put(place, {"limit_tokens": 100, "period": "day", "action": "notify"})).json()
    assert (changed["limit_usd"], changed["limit_tokens"], changed["action"]) == (None, 100, "notify")


async def test_budgets_are_listed_and_filtered_by_scope(
    admin: Api, agent: dict[str, Any], key: dict[str, Any]
) -> None:
    for scope in (
        {"type": "agent", "id": agent["id"]},
        {"type": "tenant"},
        {"type": "user", "id": admin.user.id},
        {"type": "provider_key", "id": key["id"]},
    ):
        await add_budget(admin, scope, limit_tokens=10, action="notify")
    page = (await admin.get(BUDGETS, query={"per_page": 2, "sort": "created_at"})).json()
    assert page["pagination"]["total"] == 4
    assert [one["scope"]["type"] for one in page["data"]] == ["agent", "tenant"]
    of_user = (await admin.get(BUDGETS, query={"scope_type": "user", "scope_id": admin.user.id})).json()
    assert [one["scope"]["id"] for one in of_user["data"]] == [admin.user.id]
    assert (await admin.get(BUDGETS, query={"scope_id": "agt_none"})).json()["data"] == []


async def test_a_budget_that_makes_no_sense_is_refused_by_its_field(admin: Api) -> None:
    wrong = []
    for body, field in (
        ({"scope": {"type": "agent"}, "limit_usd": 1}, "scope.id"),
        ({"scope": {"type": "agent", "id": "agt_none"}, "limit_usd": 1}, "scope.id"),
        ({"scope": {"type": "tenant", "id": "ten_else"}, "limit_usd": 1}, "scope.id"),
        ({"scope": {"type": "moon"}, "limit_usd": 1}, "scope.type"),
        ({"scope": {"type": "tenant"}}, "limit_usd"),
        ({"scope": {"type": "tenant"}, "limit_usd": 1, "limit_tokens": 1}, "limit_usd"),
        ({"scope": {"type": "tenant"}, "limit_usd": 0}, "limit_usd"),
        ({"scope": {"type": "tenant"}, "limit_tokens": 1, "soft_percent": 101}, "soft_percent"),
        ({"scope": {"type": "tenant"}, "limit_tokens": 1, "period": "year"}, "period"),
    ):
        answer = await admin.post(BUDGETS, body)
        if answer.status != 422 or field not in answer.details:
            wrong.append((body, answer))
    assert wrong == []


async def test_budgets_are_read_by_developers_and_deleted_by_their_own_administrators(
    admin: Api, people: People, agent: dict[str, Any]
) -> None:
    made = await add_budget(admin, {"type": "agent", "id": agent["id"]}, limit_usd=5)
    place = f"{BUDGETS}/{made['id']}"
    developer = await people.signed_in(Role.agent_developer, await people.default_tenant())
    assert (await developer.get(BUDGETS)).status == 200
    assert (await developer.post(BUDGETS, {"scope": {"type": "tenant"}, "limit_usd": 1})).status == 403
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    assert (await stranger.delete(place)).status == 404
    assert (await admin.delete(place)).status == 204
    assert (await admin.delete(place)).code == "budget_not_found"


async def test_a_spent_budget_refuses_chats_before_the_model_is_asked(
    admin: Api, provider: ProviderServer, agent: dict[str, Any]
) -> None:
    budget = await add_budget(admin, {"type": "agent", "id": agent["id"]}, limit_tokens=100, period="day")
    other = await make_agent(admin, name="Other", primary_model="openai/gpt-4o", status="published")
    takes(provider, 90, 30)
    assert (await chat(admin, agent)).status == 200
    # Whoever is alone is cut to what is left.
    assert provider.last.json["max_completion_tokens" if _is_new(provider) else "max_tokens"] <= 100
    asked = len(provider.requests)
    refused = await chat(admin, agent)
    assert (refused.status, refused.code) == (429, "budget_exceeded")
    assert (refused.details["budget_id"], refused.details["limit_tokens"]) == (budget["id"], 100)
    assert refused.headers["retry-after"] == str(refused.details["retry_after"])
    stream = await admin.post(f"/api/v1/agents/{agent['id']}/chat/stream", {"message": "Hello"})
    assert stream.status == 429
    assert len(provider.requests) == asked
    assert (await spent(admin))[budget["id"]] == 120
    assert (await chat(admin, other)).status == 200


async def test_a_spent_budget_allows_chats_again_in_its_next_period(
    admin: Api, people: People, provider: ProviderServer, agent: dict[str, Any], clock: ManualClock
) -> None:
    budget = await add_budget(admin, {"type": "agent", "id": agent["id"]}, limit_tokens=100, period="day")
    takes(provider, 90, 30)
    await chat(admin, agent)
    assert (await chat(admin, agent)).status == 429
    clock.advance(DAY)
    admin = await people.super_admin()
    assert (await chat(admin, agent)).status == 200
    assert (await spent(admin))[budget["id"]] < 100


def _is_new(provider: ProviderServer) -> bool:
    return "max_completion_tokens" in provider.last.json


async def test_turns_at_once_never_spend_more_than_is_left(
    admin: Api, provider: ProviderServer, agent: dict[str, Any]
) -> None:
    """The provider takes all that it is allowed, whatever the others do meanwhile."""
    budget = await add_budget(admin, {"type": "tenant"}, limit_tokens=1000)
    for _ in range(8):
        takes(provider, 100, 500)
    answers = await asyncio.gather(*(chat(admin, agent) for _ in range(8)))
    assert sorted({answer.status for answer in answers}) == [200, 429]
    assert {answer.code for answer in answers if answer.status == 429} == {"budget_exceeded"}
    while (await chat(admin, agent)).status == 200:
        pass
    assert 1000 <= (await spent(admin))[budget["id"]] <= 1000 + 600


async def test_a_spent_budget_falls_back_to_a_cheaper_model(
    admin: Api, provider: ProviderServer, agent: dict[str, Any]
) -> None:
    await add_budget(admin, {"type": "tenant"}, limit_usd=0.001, action="fallback")
    takes(provider, 400, 100)
    assert (await chat(admin, agent)).status == 200
    refused = await chat(admin, agent)
    assert (refused.status, refused.code) == (429, "budget_exceeded")
    await change_agent(admin, agent, fallback_models=["openai/gpt-4o-mini"])
    answer = await chat(admin, agent)
    assert answer.status == 200, answer
    assert provider.last.json["model"] == "gpt-4o-mini"


async def test_a_threshold_is_told_once_in_a_period(
    admin: Api,
    people: People,
    service: Service,
    provider: ProviderServer,
    agent: dict[str, Any],
    clock: ManualClock,
) -> None:
    budget = await add_budget(
        admin, {"type": "agent", "id": agent["id"]}, limit_usd=0.01, action="notify", soft_percent=50
    )
    told = []
    for prompt in (1000, 1000, 4000):
        takes(provider, prompt, 0)
        assert (await chat(admin, agent)).status == 200
        await service.runner.drain()
        async with people.context(admin.user.tenant_id) as ctx:
            told.append(await ctx.db.all(EventEntry, type="system.budget.threshold"))
    assert [len(found) for found in told] == [0, 1, 1]
    data = told[-1][0].data
    assert data["budget_id"] == budget["id"]
    assert data["scope"] == {"type": "agent", "id": agent["id"]}
    assert (data["threshold_percent"], data["budget_usd"]) == (50, 0.01)
    assert data["spent_usd"] == pytest.approx(0.005)
    inbox = (await admin.get("/api/v1/notifications")).json()["data"]
    assert [one["type"] for one in inbox if one["type"] == "budget_threshold"] == ["budget_threshold"]
    clock.advance(40 * DAY)
    admin = await people.super_admin()
    takes(provider, 4000, 0)
    await chat(admin, agent)
    await service.runner.drain()
    async with people.context(admin.user.tenant_id) as ctx:
        assert len(await ctx.db.all(EventEntry, type="system.budget.threshold")) == 2


async def test_a_key_that_has_spent_its_month_hands_over_to_the_next(
    admin: Api, people: People, provider: ProviderServer, clock: ManualClock
) -> None:
    for name, priority, limit in (("First", 0, 0.001), ("Second", 1, 0.003)):
        key = {"name": name, "base_url": f"{provider.url}/{name}", "models": ["gpt-4o"]}
        await add_key(admin, **key, priority=priority, monthly_budget_usd=limit)
    agent = await make_agent(admin, primary_model="openai/gpt-4o", status="published")
    used = []
    for is_streamed in (False, True, False):
        takes(provider, 400, 100)
        place = f"/api/v1/agents/{agent['id']}/chat{'/stream' if is_streamed else ''}"
        assert (await admin.post(place, {"message": "Hello"})).status == 200
        used.append(provider.last.path.split("/")[1])
    assert used == ["First", "Second", "Second"]
    refused = await chat(admin, agent)
    assert (refused.status, refused.code) == (429, "budget_exceeded")
    clock.advance(40 * DAY)
    admin = await people.super_admin()
    takes(provider, 1, 1)
    assert (await chat(admin, agent)).status == 200
    assert provider.last.path.split("/")[1] == "First"
