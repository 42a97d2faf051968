"""Tests of the limit on concurrent replies of a tenant, on every route that takes messages."""

import asyncio
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.chat.replies import live
from retinue.kit.clock import ManualClock
from retinue.kit.limits import lease
from retinue.tenants.models import Tenant
from tests.adapters.llm_server import ProviderServer, hanging
from tests.chat.listening import Listener, wait_until_quiet
from tests.chat.speaking import path_of, say
from tests.client import Api
from tests.embed.keys import Holder, make_key
from tests.factories.agents import make_agent
from tests.factories.people import People
from tests.factories.providers import add_key_for

PLACES = 2
MESSAGES = [{"role": "user", "content": "Hello"}]


@pytest.fixture
async def service(make_service: Any) -> Service:
    return await make_service(tts_model="openai_compatible/tts-1")


@pytest.fixture
async def owner(people: People) -> Api:
    async with people.context() as ctx:
        limits = {"concurrent_executions": PLACES}
        tenant = await ctx.system("test").insert(Tenant(name="Small", plan="enterprise", limits=limits))
    return await people.signed_in(Role.tenant_admin, tenant)


@pytest.fixture
async def agent(owner: Api, provider: ProviderServer) -> dict[str, Any]:
    await add_key_for(owner, provider, models=["test-model", "tts-1"])
    return await make_agent(owner, primary_model="openai_compatible/test-model")


async def test_no_more_is_answered_at_once_than_the_plan_allows(
    owner: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.fails(*[hanging()] * 40)
    holder = Holder(owner, agent, await make_key(owner, agent))
    ways = (
        lambda: say(owner, agent),
        lambda: owner.post(path_of(agent, "/stream"), {"message": "Hello"}),
        lambda: owner.post(path_of(agent, "/tts"), {"text": "Hello"}),
        lambda: owner.post("/v1/chat/completions", {"model": agent["id"], "messages": MESSAGES}),
        holder.say,
        lambda: holder.say(stream=True),
    )
    asked = [asyncio.create_task(way()) for _ in range(6) for way in ways]
    async with asyncio.timeout(10):
        while len(provider.requests) < PLACES or sum(one.done() for one in asked) < len(asked) - PLACES:
            await asyncio.sleep(0.01)
    refused = [one.result() for one in asked if one.done()]
    assert len(refused) == len(asked) - PLACES
    assert {(one.status, one.code) for one in refused} == {(429, "rate_limited")}
    assert {one.details["window"] for one in refused} == {"concurrent"}
    assert not any("x-ratelimit-scope" in one.headers for one in refused), "other requests are still answered"
    assert all(int(one.headers["retry-after"]) > 0 for one in refused)
    assert all(int(one.headers["x-ratelimit-window"]) > 0 for one in refused)
    assert len(provider.requests) == PLACES
    for one in asked:
        one.cancel()
    await asyncio.gather(*asked, return_exceptions=True)


@pytest.mark.parametrize("way", ["/stream", "/tts"])
async def test_whoever_leaves_gives_the_place_back(
    service: Service,
    owner: Api,
    agent: dict[str, Any],
    provider: ProviderServer,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
) -> None:
    monkeypatch.setattr(live, "ABANDON_AFTER_SECONDS", 0.0)
    for number in range(PLACES + 1):
        provider.fails(hanging())
        listener = Listener(owner, path_of(agent, way), {"message": "Hello", "text": "Hello"})
        async with asyncio.timeout(10):
            while len(provider.requests) <= number:
                await asyncio.sleep(0.01)
            await listener.leave()
            await wait_until_quiet(service)


async def test_a_place_is_kept_for_as_long_as_it_is_used_and_not_much_longer(
    service: Service,
    owner: Api,
    agent: dict[str, Any],
    provider: ProviderServer,
    clock: ManualClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.01)
    provider.fails(*[hanging()] * PLACES)
    held = [Listener(owner, path_of(agent, "/stream"), {"message": "Hello"}) for _ in range(PLACES)]
    async with asyncio.timeout(10):
        while len(provider.requests) < PLACES:
            await asyncio.sleep(0.01)
    for _ in range(3):
        clock.advance(lease.LEASE_SECONDS - 1)
        await asyncio.sleep(0.1)
        refused = await say(owner, agent)
        assert (refused.status, refused.details["window"]) == (429, "concurrent")
    for one in held:
        await one.leave()
    await wait_until_quiet(service)
    assert (await say(owner, agent)).status == 200
    # As if the process that holds it had been killed: nobody renews it.
    limiter = service.instance.limiter
    key = f"turns:{owner.user.tenant_id}"
    for number in range(PLACES):
        assert await limiter.acquire(key, PLACES, f"killed-{number}", lease.LEASE_SECONDS)
    assert (await say(owner, agent)).status == 429
    clock.advance(lease.LEASE_SECONDS + 1)
    assert (await say(owner, agent)).status == 200
