"""Models without a price under a budget in dollars: refused or told, never spent silently."""

from typing import Any

import pytest

from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.kit.events.models import EventEntry
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer, refusing
from tests.client import Api
from tests.embed.keys import Holder, make_key
from tests.factories.agents import attach_agent, make_agent
from tests.factories.people import People
from tests.factories.providers import add_key
from tests.usage.prices import set_price
from tests.usage.spending import BUDGETS, add_budget, chat, spent

Json = dict[str, Any]
OWN = "openai_compatible/own"


@pytest.fixture
async def unpriced_agent(admin: Api, provider: ProviderServer) -> Json:
    """An agent whose model has no price."""
    await add_key(admin, provider="openai_compatible", base_url=f"{provider.url}/v1", models=["own"])
    return await make_agent(admin, name="Own", primary_model=OWN, status="published")


async def unpriced_events(people: People, admin: Api, service: Service) -> list[Json]:
    await service.runner.drain()
    async with people.context(admin.user.tenant_id) as ctx:
        return [entry.data for entry in await ctx.db.all(EventEntry, type="system.budget.unpriced")]


async def test_a_chat_is_refused_before_anything_is_asked_or_stored(
    admin: Api, unpriced_agent: Json, provider: ProviderServer
) -> None:
    budget = await add_budget(admin, {"type": "tenant"}, limit_usd=5)
    assert budget["on_unpriced"] == "refuse"
    asked = len(provider.requests)
    for path in ("", "/stream", "/async"):
        refused = await admin.post(f"/api/v1/agents/{unpriced_agent['id']}/chat{path}", {"message": "Hello"})
        assert (refused.status, refused.code) == (422, "model_unpriced")
        assert refused.details == {
            "model": OWN,
            "budget_id": budget["id"],
            "set_price": "PUT /api/v1/model-prices",
        }
    assert len(provider.requests) == asked
    (shown,) = (await admin.get(BUDGETS)).json()["data"]
    assert (shown["refused_today"], shown["refused_because"]) == (3, "unpriced")
    assert (await admin.get("/api/v1/conversations")).json()["pagination"]["total"] == 0
    await set_price(admin, OWN, 1, 2)
    assert (await chat(admin, unpriced_agent)).status == 200


async def test_administrators_are_told_once_of_a_model_that_was_refused(
    admin: Api, unpriced_agent: Json, people: People, service: Service
) -> None:
    budget = await add_budget(admin, {"type": "tenant"}, limit_usd=5)
    for path in ("", "/stream", "/async"):
        await admin.post(f"/api/v1/agents/{unpriced_agent['id']}/chat{path}", {"message": "Hello"})
    events = await unpriced_events(people, admin, service)
    assert [(one["budget_id"], one["model"], one["action"]) for one in events] == [
        (budget["id"], OWN, "refuse")
    ]
    inbox = (await admin.get("/api/v1/notifications")).json()["data"]
    assert [one["title"] for one in inbox] == ["A model under a budget has no price"]


@pytest.mark.one_service("a process keeps what Home shows for ten seconds")
async def test_home_names_a_model_without_a_price_before_anybody_is_refused(
    admin: Api, unpriced_agent: Json, clock: ManualClock
) -> None:
    budget = await add_budget(admin, {"type": "tenant"}, limit_usd=5)
    (need,) = (await admin.get("/api/v1/home")).json()["needs"]
    assert (need["title_code"], need["object"]["id"], need["action"]) == ("model_unpriced", OWN, "set_price")
    assert need["params"] == {
        "budget_id": budget["id"],
        "agent_id": unpriced_agent["id"],
        "agent_name": "Own",
        "agent_count": 1,
    }
    await set_price(admin, OWN, 1, 2)
    clock.advance(11)
    assert (await admin.get("/api/v1/home")).json()["needs"] == []


async def test_the_holder_of_a_key_is_not_told_of_the_budget(admin: Api, unpriced_agent: Json) -> None:
    await add_budget(admin, {"type": "tenant"}, limit_usd=5)
    holder = Holder(admin, unpriced_agent, await make_key(admin, unpriced_agent))
    for is_streamed in (False, True):
        hidden = await holder.say(stream=is_streamed)
        assert (hidden.status, hidden.code) == (422, "model_not_configured")
        assert hidden.details is None


async def test_it_is_told_once_in_a_period_where_it_is_allowed(
    admin: Api, unpriced_agent: Json, people: People, service: Service, clock: ManualClock
) -> None:
    for action, more in (("block", {"on_unpriced": "allow"}), ("notify", {})):
        budget = await add_budget(admin, {"type": "tenant"}, limit_usd=5, action=action, **more)
        assert budget["on_unpriced"] == "allow"
    for _ in range(2):
        reply = (await chat(admin, unpriced_agent)).json()
        assert (reply["warnings"], reply["estimated_cost_usd"]) == (["unpriced_model"], None)
    assert len(await unpriced_events(people, admin, service)) == 2
    assert set((await spent(admin)).values()) == {0.0}
    clock.advance(40 * 24 * 3600)
    admin = await people.super_admin()
    await chat(admin, unpriced_agent)
    assert len(await unpriced_events(people, admin, service)) == 4


@pytest.mark.one_service("other processes see a changed budget within seconds")
async def test_a_fallback_with_a_price_answers_instead(
    admin: Api, unpriced_agent: Json, agent: Json, provider: ProviderServer
) -> None:
    mixed = await make_agent(
        admin, name="Mixed", primary_model=OWN, fallback_models=["openai/gpt-4o"], status="published"
    )
    budget = await add_budget(admin, {"type": "tenant"}, limit_usd=5, action="fallback")
    assert (await chat(admin, mixed)).json()["model"] == "openai/gpt-4o"
    assert (await chat(admin, unpriced_agent)).code == "model_unpriced"
    await admin.put(f"{BUDGETS}/{budget['id']}", {"action": "block"})
    assert (await chat(admin, mixed)).code == "model_unpriced"


async def test_no_fallback_and_no_sub_agent_gets_around_it(
    admin: Api, unpriced_agent: Json, provider: ProviderServer, key: Json
) -> None:
    await add_budget(admin, {"type": "tenant"}, limit_usd=5)
    asking = await make_agent(
        admin, name="Asking", primary_model="openai/gpt-4o", fallback_models=[OWN], status="published"
    )
    await attach_agent(admin, asking, unpriced_agent, delegation_prompt="Anything.")
    provider.fails(refusing(400))
    assert (await chat(admin, asking)).code == "model_error"
    provider.says("", Call("delegate_to_own", '{"task": "Go."}'))
    provider.says("It could not.")
    reply = (await chat(admin, asking)).json()
    assert reply["tool_calls"][0]["error"]["code"] == "model_unpriced"
    assert {request.json["model"] for request in provider.requests if request.body} == {"gpt-4o"}


async def test_a_budget_of_a_key_refuses_it_too(
    admin: Api, unpriced_agent: Json, provider: ProviderServer
) -> None:
    keys = (await admin.get("/api/v1/api-keys")).json()["data"]
    await add_budget(admin, {"type": "provider_key", "id": keys[0]["id"]}, limit_usd=5)
    refused = await chat(admin, unpriced_agent)
    assert (refused.status, refused.code) == (422, "model_unpriced")
    await set_price(admin, OWN, 1, 1)
    assert (await chat(admin, unpriced_agent)).status == 200


async def test_budgets_in_tokens_do_not_care(admin: Api, unpriced_agent: Json) -> None:
    await add_budget(admin, {"type": "tenant"}, limit_tokens=100_000)
    assert (await chat(admin, unpriced_agent)).status == 200


async def test_a_budget_that_only_notifies_refuses_nothing(admin: Api) -> None:
    body = {"scope": {"type": "tenant"}, "limit_usd": 1, "action": "notify", "on_unpriced": "refuse"}
    assert (await admin.post(BUDGETS, body)).details.keys() == {"on_unpriced"}
    budget = await add_budget(admin, {"type": "tenant"}, limit_usd=1)
    place = f"{BUDGETS}/{budget['id']}"
    assert (await admin.put(place, {"action": "notify"})).json()["on_unpriced"] == "allow"
    assert (await admin.put(place, {"on_unpriced": "refuse"})).status == 422
    changed = (await admin.put(place, {"action": "block"})).json()
    assert changed["on_unpriced"] == "refuse"
    changed = (await admin.put(place, {"on_unpriced": "allow"})).json()
    assert (changed["on_unpriced"], changed["action"]) == ("allow", "block")
    assert (await admin.put(place, {"limit_usd": 2})).json()["on_unpriced"] == "allow"
