"""A prompt that costs more than is left is refused before a model is asked; else the reply is limited."""

from typing import Any

import pytest

from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer
from tests.client import Api
from tests.embed.keys import Holder, make_key
from tests.factories.agents import attach_tool, make_agent
from tests.factories.providers import add_key
from tests.factories.tools import make_tool
from tests.usage.spending import add_budget, chat, spent, takes

Json = dict[str, Any]
# 7,500 tokens: 0.01875 dollars at the price of gpt-4o.
LONG = "A word and another word. " * 1_200


def limit_sent(provider: ProviderServer) -> int:
    sent = provider.last.json
    return sent.get("max_completion_tokens") or sent["max_tokens"]


@pytest.mark.parametrize(
    ("limit", "shown"),
    [({"limit_usd": 0.01}, 0.01), ({"limit_usd": 0.001}, 0.001), ({"limit_tokens": 5_000}, 5_000)],
)
async def test_a_prompt_that_costs_more_than_is_left_is_refused_before_any_call(
    admin: Api, provider: ProviderServer, agent: Json, limit: Json, shown: float
) -> None:
    budget = await add_budget(admin, {"type": "agent", "id": agent["id"]}, **limit)
    for path in ("chat", "chat/stream"):
        refused = await admin.post(f"/api/v1/agents/{agent['id']}/{path}", {"message": LONG})
        assert (path, refused.status, refused.code) == (path, 429, "budget_exceeded")
        assert refused.details["limit"] == shown
        assert "costs more than is left" in refused.json()["error"]["message"]
    assert provider.requests == []
    assert (await spent(admin))[budget["id"]] == 0
    # A small budget still answers.
    assert (await chat(admin, agent)).status == 200


async def test_the_reply_is_limited_to_what_is_left_after_the_prompt(
    admin: Api, provider: ProviderServer, agent: Json
) -> None:
    await add_budget(admin, {"type": "tenant"}, limit_usd=0.01)
    takes(provider, 1000, 10)
    assert (await chat(admin, agent, "x" * 4_000)).status == 200
    # The prompt is estimated at 1,000 tokens or a little more: 0.0025 dollars; the rest pays for 750 tokens.
    assert 650 <= limit_sent(provider) <= 750
    provider.says("Half an", usage={"prompt_tokens": 10, "completion_tokens": 5}, finish="length")
    cut = (await chat(admin, agent, "And now?")).json()
    assert (cut["finish_reason"], cut["warnings"]) == ("length", ["budget_exceeded"])


@pytest.mark.one_service("other processes see a changed budget within seconds")
async def test_a_long_history_is_refused_where_its_message_alone_is_not(
    admin: Api, provider: ProviderServer, agent: Json
) -> None:
    takes(provider, 2_000, 10, text="y" * 60_000)
    first = (await chat(admin, agent, "x" * 30_000)).json()
    asked = len(provider.requests)
    await add_budget(admin, {"type": "agent", "id": agent["id"]}, limit_usd=0.02)
    go_on = {"message": "And?", "conversation_id": first["conversation_id"]}
    for path in ("chat", "chat/stream"):
        refused = await admin.post(f"/api/v1/agents/{agent['id']}/{path}", go_on)
        assert (refused.status, refused.code) == (429, "budget_exceeded")
    assert len(provider.requests) == asked


async def test_a_further_call_of_a_turn_is_not_made_if_the_rest_does_not_pay_for_it(
    admin: Api, provider: ProviderServer, agent: Json
) -> None:
    tool = await make_tool(admin, name="add", code="return {'sum': 3}")
    await attach_tool(admin, agent, tool)
    budget = await add_budget(admin, {"type": "agent", "id": agent["id"]}, limit_usd=0.01)
    usage = {"prompt_tokens": 900, "completion_tokens": 700, "total_tokens": 1600}
    provider.says("", Call("add", "{}"), usage=usage)
    answer = (await chat(admin, agent)).json()
    assert (len(provider.requests), answer["finish_reason"]) == (1, "length")
    assert "budget_exceeded" in answer["warnings"]
    assert [call["tool"] for call in answer["tool_calls"]] == ["add"]
    assert (await spent(admin))[budget["id"]] == 0.00925


async def test_a_key_with_a_budget_is_passed_over_for_a_prompt_that_it_cannot_pay(
    admin: Api, provider: ProviderServer
) -> None:
    for name, limit in (("small", 0.01), ("large", None)):
        await add_key(
            admin,
            provider="openai",
            name=name,
            base_url=f"{provider.url}/{name}",
            models=["gpt-4o"],
            priority=0 if limit else 1,
            **({"monthly_budget_usd": limit} if limit else {}),
        )
    agent = await make_agent(admin, primary_model="openai/gpt-4o", status="published")
    assert (await chat(admin, agent, LONG)).status == 200
    assert provider.last.path.startswith("/large")
    assert (await chat(admin, agent)).status == 200
    assert provider.last.path.startswith("/small")
    assert limit_sent(provider) <= 1000


async def test_the_budget_of_a_key_that_fails_does_not_limit_the_next_one(
    admin: Api, provider: ProviderServer
) -> None:
    for priority, (name, more) in enumerate((("small", {"monthly_budget_usd": 0.001}), ("large", {}))):
        address = {"base_url": f"{provider.url}/{name}", "models": ["gpt-4o"], "priority": priority}
        await add_key(admin, provider="openai", name=name, **address, **more)
    agent = await make_agent(admin, primary_model="openai/gpt-4o", status="published")
    provider.fails(401)
    assert (await chat(admin, agent)).status == 200
    assert [request.path.split("/")[1] for request in provider.requests] == ["small", "large"]
    small, large = [request.json["max_completion_tokens"] for request in provider.requests]
    assert small < 100
    assert large == agent["max_tokens"]


async def test_a_prompt_longer_than_the_tokens_of_an_embed_key_is_refused(
    admin: Api, api: Api, provider: ProviderServer, agent: Json
) -> None:
    holder = Holder(api, agent, await make_key(admin, agent, monthly_token_budget=1_000))
    refused = await holder.say("A word and another word. " * 400)
    assert (refused.status, refused.code) == (422, "token_budget_exceeded")
    assert provider.requests == []
    assert (await holder.say("Hello", session_id="another")).status == 200
