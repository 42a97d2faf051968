"""Tests of the cost of a turn: each call by its model and tokens, and the same in every place."""

from fractions import Fraction
from typing import Any

import pytest

from retinue.app import Service
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import KEY, ProviderServer, refusing, streaming
from tests.chat.background_jobs import accept, job_of
from tests.chat.speaking import logs_of, messages_of, reply_to, stream
from tests.client import Api
from tests.embed.keys import Holder, make_key
from tests.factories.agents import attach_agent, change_agent, make_agent
from tests.factories.providers import add_key
from tests.usage.prices import PRICES, set_price
from tests.usage.spending import usage

Json = dict[str, Any]
# Dollars for a million tokens, written down from the providers' lists: input, cached, written, written for an
# hour, output.
GPT_4O = Fraction("2.5"), Fraction("1.25"), Fraction("2.5"), Fraction("2.5"), Fraction(10)
GPT_4O_MINI = Fraction("0.15"), Fraction("0.075"), Fraction("0.15"), Fraction("0.15"), Fraction("0.6")
CLAUDE = Fraction(3), Fraction("0.3"), Fraction("3.75"), Fraction(6), Fraction(15)
CLAUDE_LONG = Fraction(6), Fraction("0.6"), Fraction("7.5"), Fraction(12), Fraction("22.5")


def cost(prices: tuple[Fraction, ...], *tokens: int) -> float:
    """Calculate the cost of plain, cached, written, written for an hour and generated tokens."""
    exact = sum((price * count for price, count in zip(prices, tokens, strict=True)), Fraction(0)) / 10**6
    return round(exact * 10**9) / 10**9


def openai_usage(prompt: int, completion: int, cached: int = 0, written: int = 0, thought: int = 0) -> Json:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
        "completion_tokens_details": {"reasoning_tokens": thought},
    }


@pytest.fixture
async def claude(admin: Api, provider: ProviderServer) -> Json:
    await add_key(
        admin, provider="anthropic", api_key=KEY, base_url=f"{provider.url}/v1", models=["claude-sonnet-4-5"]
    )
    return await make_agent(
        admin, name="Claude", primary_model="anthropic/claude-sonnet-4-5", status="published"
    )


async def test_tokens_are_priced_by_their_kind(
    admin: Api, agent: Json, claude: Json, provider: ProviderServer
) -> None:
    provider.says("Hello.", usage=openai_usage(1003, 57, cached=801, thought=31))
    reply = await reply_to(admin, agent)
    assert reply["usage"] == {
        "prompt_tokens": 1003,
        "completion_tokens": 57,
        "total_tokens": 1060,
        "cached_tokens": 801,
        "cache_write_tokens": 0,
        "reasoning_tokens": 31,
    }
    assert reply["estimated_cost_usd"] == cost(GPT_4O, 202, 801, 0, 0, 57)
    assert reply["usage_by_model"] == [
        {
            "model": "openai/gpt-4o",
            "calls": 1,
            **reply["usage"],
            "estimated_cost_usd": reply["estimated_cost_usd"],
        }
    ]
    assert reply["warnings"] == []

    counted = {
        "input_tokens": 11,
        "cache_read_input_tokens": 700,
        "cache_creation_input_tokens": 90,
        "cache_creation": {"ephemeral_5m_input_tokens": 60, "ephemeral_1h_input_tokens": 30},
        "output_tokens": 13,
        "output_tokens_details": {"thinking_tokens": 5},
    }
    provider.says("Hello.", usage=counted)
    reply = await reply_to(admin, claude)
    assert reply["usage"] == {
        "prompt_tokens": 801,
        "completion_tokens": 13,
        "total_tokens": 814,
        "cached_tokens": 700,
        "cache_write_tokens": 90,
        "reasoning_tokens": 5,
    }
    assert reply["estimated_cost_usd"] == cost(CLAUDE, 11, 700, 60, 30, 13)


async def test_a_long_prompt_is_charged_by_its_tier_as_a_whole(
    admin: Api, claude: Json, provider: ProviderServer
) -> None:
    for prompt, prices in ((200_000, CLAUDE), (200_001, CLAUDE_LONG)):
        counted = {"input_tokens": prompt, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
        provider.says("Hello.", usage={**counted, "output_tokens": 7})
        reply = await reply_to(admin, claude)
        assert reply["estimated_cost_usd"] == cost(prices, prompt, 0, 0, 0, 7)


async def test_sub_agents_and_fallbacks_are_priced_by_their_own_models(
    admin: Api, agent: Json, claude: Json, provider: ProviderServer, service: Service
) -> None:
    """The agent's model fails once and its fallback takes over; the sub-agent has a third model."""
    await change_agent(admin, agent, fallback_models=["openai/gpt-4o-mini"])
    await attach_agent(admin, agent, claude, delegation_prompt="Anything.")
    provider.fails(refusing(400))
    provider.says(
        "", Call("delegate_to_claude", '{"task": "Think."}'), usage=openai_usage(900, 20, cached=512)
    )
    counted = {"input_tokens": 40, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 10}
    provider.says("Thought.", usage={**counted, "output_tokens": 6})
    provider.says("He thought.", usage=openai_usage(1100, 9, cached=900))

    reply = await reply_to(admin, agent)
    mini = cost(GPT_4O_MINI, 388, 512, 0, 0, 20) + cost(GPT_4O_MINI, 200, 900, 0, 0, 9)
    other = cost(CLAUDE, 40, 0, 10, 0, 6)
    by_model = {one["model"]: one for one in reply["usage_by_model"]}
    assert [(model, one["calls"], one["estimated_cost_usd"]) for model, one in by_model.items()] == [
        ("openai/gpt-4o-mini", 2, pytest.approx(mini, abs=1e-12)),
        ("anthropic/claude-sonnet-4-5", 1, other),
    ]
    assert reply["estimated_cost_usd"] == pytest.approx(mini + other, abs=1e-12)
    assert (
        reply["usage"]["total_tokens"] == sum(one["total_tokens"] for one in reply["usage_by_model"]) == 2085
    )

    report = await usage(admin, group_by="model")
    rows = {row["group"]["model"]: row for row in report["data"] if row["group"]["model"]}
    for model, one in by_model.items():
        assert rows[model]["estimated_cost_usd"] == pytest.approx(one["estimated_cost_usd"], abs=1e-12)
        for counter in ("prompt_tokens", "completion_tokens", "cached_tokens", "cache_write_tokens"):
            assert rows[model][counter] == one[counter]
    # The turn and its messages are counted once, with its first model.
    assert [row["messages"] for row in rows.values()].count(2) == 1
    assert report["totals"]["messages"] == 2


async def test_the_cost_is_the_same_wherever_it_is_told(
    admin: Api, agent: Json, provider: ProviderServer, service: Service
) -> None:
    for _ in range(3):
        provider.says("Hello.", usage=openai_usage(1003, 57, cached=801, thought=31))
    expected = cost(GPT_4O, 202, 801, 0, 0, 57)
    reply = await reply_to(admin, agent)
    stop = (await stream(admin, agent))[-1].data
    accepted = await accept(admin, agent)
    await service.runner.drain()
    result = (await job_of(admin, agent, accepted))["result"]
    logs = await logs_of(admin, agent)
    details = (await messages_of(admin, reply["conversation_id"]))[-1]["details"]
    told = [reply, stop, result, *logs, details]
    assert len(told) == 7
    assert {one["estimated_cost_usd"] for one in told} == {expected}
    assert all(one["usage_by_model"] == reply["usage_by_model"] for one in told)
    assert all(one["usage"] == reply["usage"] for one in told)
    stats = (await admin.get(f"/api/v1/agents/{agent['id']}/stats")).json()
    assert stats["estimated_cost_usd"] == pytest.approx(3 * expected, abs=1e-9)
    totals = (await usage(admin))["totals"]
    assert totals["estimated_cost_usd"] == pytest.approx(3 * expected, abs=1e-9)
    assert (totals["cached_tokens"], totals["reasoning_tokens"]) == (2403, 93)


async def test_whoever_holds_a_key_sees_tokens_but_neither_costs_nor_models(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    holder = Holder(admin, agent, await make_key(admin, agent))
    await change_agent(admin, agent, fallback_models=["openai/gpt-4o-mini"])
    provider.fails(refusing(400))
    reply = await holder.say()
    assert reply.status == 200
    provider.fails(refusing(400))
    heard = await holder.hear()
    completed = await admin.post(
        "/v1/chat/completions",
        {"model": agent["id"], "messages": [{"role": "user", "content": "Hello"}]},
        headers=holder.headers,
    )
    assert completed.status == 200
    details = completed.json()["usage"]["prompt_tokens_details"]
    assert details == {"cached_tokens": 2, "cache_write_tokens": 0}
    for body in (reply.body, completed.body, *(repr(one.data).encode() for one in heard)):
        assert b"cost_usd" not in body
        assert b"gpt-4o" not in body
        assert b"by_model" not in body
        assert b"fallback" not in body
    assert reply.json()["usage"]["cached_tokens"] == 2


async def test_a_changed_price_holds_from_the_next_call_on(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    provider.says("Hello.", usage=openai_usage(1000, 0))
    provider.says("Hello.", usage=openai_usage(1000, 0))
    before = await reply_to(admin, agent)
    await set_price(admin, "openai/gpt-4o", 7, 9)
    after = await reply_to(admin, agent)
    assert (before["estimated_cost_usd"], after["estimated_cost_usd"]) == (0.0025, 0.007)
    assert {log["estimated_cost_usd"] for log in await logs_of(admin, agent)} == {0.0025, 0.007}
    answer = await admin.delete(PRICES, query={"model": "openai/gpt-4o"})
    assert answer.status == 204


async def test_a_model_without_a_price_costs_nothing_known(admin: Api, provider: ProviderServer) -> None:
    await add_key(admin, provider="openai_compatible", base_url=f"{provider.url}/v1", models=["own"])
    agent = await make_agent(admin, primary_model="openai_compatible/own", status="published")
    provider.says("Hello.", usage=openai_usage(1000, 10))
    reply = await reply_to(admin, agent)
    assert reply["estimated_cost_usd"] is None
    assert reply["usage_by_model"][0]["estimated_cost_usd"] is None
    assert reply["warnings"] == ["unpriced_model"]
    (log,) = await logs_of(admin, agent)
    assert log["estimated_cost_usd"] is None
    await set_price(admin, "openai_compatible/own", 0, 0)
    provider.says("Hello.", usage=openai_usage(1000, 10))
    reply = await reply_to(admin, agent)
    assert (reply["estimated_cost_usd"], reply["warnings"]) == (0.0, [])


async def test_a_reply_that_breaks_off_is_priced_by_the_model_that_wrote_it(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    await change_agent(admin, agent, fallback_models=["openai/gpt-4o-mini"])
    begun = b'data: {"choices":[{"index":0,"delta":{"content":"Half a sentence"}}]}\n\n'
    provider.fails(refusing(400), streaming(begun))
    heard = await stream(admin, agent)
    assert heard[-1].event == "error"
    (log,) = await logs_of(admin, agent)
    assert [one["model"] for one in log["usage_by_model"]] == ["openai/gpt-4o-mini"]
    assert log["estimated_cost_usd"] > 0
