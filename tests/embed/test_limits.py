"""Tests of the limits of a key: its tenant's plan, its own rate, its tokens a month."""

import asyncio
import hashlib
import hmac

import pytest

from retinue.access.models import Role
from retinue.chat.replies import live
from retinue.kit.clock import parse_instant
from tests.adapters.llm_replies import Reply
from tests.adapters.llm_server import hanging
from tests.chat.listening import Listener, wait_until_quiet
from tests.client import Api
from tests.embed.keys import Holder, list_keys, make_key
from tests.factories.agents import make_agent

HALF = {"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60}


async def test_a_key_pays_from_its_tenants_plan(make_service, people):
    owner = await people.signed_in(Role.tenant_admin, await people.tenant(plan="free"))
    agent = await make_agent(owner)
    holder = Holder(people.api, agent, await make_key(owner, agent))
    before = int((await owner.get("/api/v1/tenant")).headers["x-ratelimit-remaining"])
    shown = await holder.snippet()
    assert shown.headers["x-ratelimit-limit"] == "60"
    assert int(shown.headers["x-ratelimit-remaining"]) == before - 1


async def test_a_key_has_a_limit_of_its_own_and_says_so(key_for, agent, clock):
    holder = await key_for(agent, rate_limit_per_minute=2)
    assert [(await holder.snippet()).status for _ in range(3)] == [200, 200, 429]
    refused = await holder.snippet()
    assert (refused.code, refused.headers["x-ratelimit-limit"]) == ("rate_limited", "2")
    assert (refused.headers["x-ratelimit-remaining"], refused.headers["x-ratelimit-window"]) == ("0", "60")
    assert refused.details == {"limit": 2, "window": 60, "retry_after": int(refused.headers["retry-after"])}
    clock.advance(61)
    assert (await holder.snippet()).status == 200


async def test_what_a_keys_own_limit_refuses_costs_its_tenant_nothing(admin, key_for, agent):
    holder = await key_for(agent, rate_limit_per_minute=1)
    await holder.snippet()
    before = int((await admin.get("/api/v1/tenant")).headers["x-ratelimit-remaining"])
    for _ in range(20):
        assert (await holder.snippet()).status == 429
    assert int((await admin.get("/api/v1/tenant")).headers["x-ratelimit-remaining"]) == before - 1


async def test_one_visitor_leaves_the_others_their_messages(key_for, agent, provider, clock):
    holder = await key_for(agent, rate_limit_per_visitor=2)
    assert holder.key["rate_limit_per_visitor"] == 2
    elsewhere = Holder(holder.api.at("198.51.100.7"), agent, holder.key)
    assert [(await holder.say(session_id=f"session-number-{n}")).status for n in range(3)] == [200, 200, 429]
    assert (await holder.say(session_id="session-number-4")).code == "rate_limited"
    assert (await elsewhere.say(session_id="session-number-5")).status == 200
    secret = holder.key["identity_secret"].encode()
    signed = {"id": "ada", "hash": hmac.new(secret, b"ada", hashlib.sha256).hexdigest()}
    assert (await holder.say(session_id="session-number-6", user=signed)).status == 200
    clock.advance(61)
    assert (await holder.say(session_id="session-number-7")).status == 200


async def test_completions_count_for_the_visitor_too(key_for, agent, provider):
    holder = await key_for(agent, rate_limit_per_visitor=1)
    body = {"model": agent["id"], "messages": [{"role": "user", "content": "Hello"}]}
    statuses = [
        (await holder.api.post("/v1/chat/completions", body, headers=holder.headers)).status for _ in range(2)
    ]
    assert statuses == [200, 429]
    assert (await holder.say(session_id="session-number-1")).status == 429


async def test_keys_have_limits_apart_from_each_other(key_for, agent):
    one, two = await key_for(agent, rate_limit_per_minute=1), await key_for(agent, rate_limit_per_minute=1)
    assert [(await one.snippet()).status, (await one.snippet()).status] == [200, 429]
    assert (await two.snippet()).status == 200


@pytest.mark.parametrize("headers", ["X-Forwarded-For", "X-Real-IP", "Forwarded", "CF-Connecting-IP"])
async def test_another_address_is_no_other_limit(key_for, agent, headers):
    holder = await key_for(agent, rate_limit_per_minute=1)
    answers = [await holder.snippet(**{headers: f"198.51.100.{n}"}) for n in range(3)]
    assert [answer.status for answer in answers] == [200, 429, 429]


async def test_a_refused_origin_or_key_costs_the_address_it_came_from(make_service, agent, key_for, service):
    holder = await key_for(agent, allowed_domains=["example.com"])
    first = await holder.snippet(Origin="https://evil.example")
    second = await holder.snippet(Origin="https://evil.example")
    assert [first.status, second.status] == [403, 403]
    remaining = [int(answer.headers["x-ratelimit-remaining"]) for answer in (first, second)]
    assert remaining[1] == remaining[0] - 1
    holder.api = Api(service, ip="198.51.100.99")
    assert int((await holder.snippet(Origin="null")).headers["x-ratelimit-remaining"]) > remaining[1]


async def test_turns_are_counted_exactly_and_tokens_by_the_month(admin, holder, provider, clock):
    for _ in range(3):
        answer = await holder.say()
        assert answer.status == 200
    taken = answer.json()["usage"]["total_tokens"]
    (shown,) = await list_keys(admin)
    assert (shown["request_count"], shown["status"]) == (3, "active")
    assert shown["tokens_used"] >= taken > 0
    assert shown["last_used_at"]
    clock.advance(31 * 24 * 3600)
    await holder.hear()
    # The session of the administrator is over by now; the key goes on.
    assert (await holder.snippet()).status == 200


async def test_a_spent_budget_is_refused_until_the_month_is_over(admin, key_for, agent, provider, clock):
    holder = await key_for(agent, monthly_token_budget=60)
    provider.otherwise = lambda _: Reply("Hello.", usage=HALF)
    assert (await holder.say()).status == 200
    refused = await holder.say()
    assert (refused.status, refused.code) == (429, "rate_limited")
    assert (refused.details["limit"], refused.headers["x-ratelimit-limit"]) == (60, "60")
    assert refused.details["scope"] == {"type": "embed_key", "id": None}, "not the organization's limit"
    assert refused.headers["x-ratelimit-remaining"] == "0"
    assert len(provider.requests) == 1
    assert (await holder.snippet()).status == 200, "only what takes tokens is refused"
    clock.advance(refused.details["retry_after"] + 1)
    assert parse_instant(clock.now()).day == 1
    assert (await holder.say(session_id="another")).status == 200


async def test_many_at_once_spend_no_more_than_one_after_another(admin, key_for, agent, provider):
    """Each of them sees the whole budget when it comes in."""
    holder = await key_for(agent, monthly_token_budget=100)
    provider.otherwise = lambda _: Reply("Hello.", usage=HALF)
    # The first reply comes only when the others were refused: nobody may be late and find the turn over.
    provider.may_answer.clear()
    turns = [
        asyncio.create_task(holder.say(session_id=str(number), stream=number % 2 == 0))
        for number in range(50)
    ]
    async with asyncio.timeout(60):
        while sum(turn.done() for turn in turns) < 49 and len(provider.requests) < 2:
            await asyncio.sleep(0.01)
    provider.may_answer.set()
    refused = [answer for answer in await asyncio.gather(*turns) if answer.status != 200]
    assert (len(provider.requests), len(refused)) == (1, 49)
    assert {(one.status, one.code, one.details["window"]) for one in refused} == {
        (429, "rate_limited", "concurrent")
    }
    assert [(await holder.say()).status for _ in range(2)] == [200, 429]
    (shown,) = await list_keys(admin)
    assert shown["tokens_used"] == 120


@pytest.mark.one_service("the clock jumps over the renewals of a shared lease")
async def test_a_long_turn_keeps_its_share_of_the_budget(key_for, agent, provider, clock):
    holder = await key_for(agent, monthly_token_budget=100)
    provider.fails(hanging())
    long = asyncio.create_task(holder.say(session_id="long"))
    async with asyncio.timeout(10):
        while not provider.requests:
            await asyncio.sleep(0.01)
    clock.advance(60)
    refused = await holder.say(session_id="short")
    assert (refused.status, refused.details["window"]) == (429, "concurrent")
    long.cancel()
    await asyncio.gather(long, return_exceptions=True)


async def test_as_many_turns_at_once_as_the_budget_can_pay(key_for, agent, provider):
    holder = await key_for(agent, monthly_token_budget=10_000_000)
    answers = await asyncio.gather(*(holder.say(session_id=str(number)) for number in range(50)))
    assert {answer.status for answer in answers} == {200}


async def test_a_client_that_takes_its_time_sees_what_others_have_spent(key_for, agent, provider, service):
    holder = await key_for(agent, monthly_token_budget=60)
    provider.otherwise = lambda _: Reply("Hello.", usage=HALF)
    waiting, may_send = asyncio.Event(), asyncio.Event()

    async def slow(scope, receive, send):
        async def late():
            waiting.set()
            await may_send.wait()
            return await receive()

        await service(scope, late, send)

    holder.api = Api(slow)
    late = asyncio.create_task(holder.say())
    await waiting.wait()
    holder.api = Api(service)
    assert (await holder.say()).status == 200
    may_send.set()
    refused = await late
    assert (refused.status, refused.details["limit"]) == (429, 60)
    assert len(provider.requests) == 1


async def test_a_turn_that_is_left_gives_its_place_back(key_for, agent, provider, service, monkeypatch):
    monkeypatch.setattr(live, "ABANDON_AFTER_SECONDS", 0.0)
    holder = await key_for(agent, monthly_token_budget=30_000)
    for number in range(2):
        provider.fails(hanging())
        body = {"session_id": "s", "message": "Hello", "stream": True}
        listener = Listener(Api(service, token=holder.text), holder.path, body)
        async with asyncio.timeout(10):
            while len(provider.requests) <= number:
                await asyncio.sleep(0.01)
            await listener.leave()
            await wait_until_quiet(service)
    assert (await holder.say(user={"hash": "0"})).status == 422, "a place is not lost over bad input either"
    assert (await holder.say()).status == 200
