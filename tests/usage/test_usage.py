from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.kit.events.models import EventEntry
from retinue.usage.compaction import compact_batch
from retinue.usage.models import UsageEntry
from tests.adapters.llm_server import ProviderServer
from tests.client import Api
from tests.conftest import ServiceMaker
from tests.factories.people import People
from tests.factories.tools import make_tool, run_tool
from tests.usage.spending import chat, store_counts, takes, usage

HOUR = 3600


async def entries(people: People, tenant_id: str) -> list[UsageEntry]:
    async with people.context(tenant_id) as ctx:
        return await ctx.db.all(UsageEntry)


@pytest.fixture
async def tool(admin: Api) -> dict[str, Any]:
    return await make_tool(admin)


@pytest.fixture
async def busy_admin(
    service: Service,
    admin: Api,
    people: People,
    provider: ProviderServer,
    agent: dict[str, Any],
    key: dict[str, Any],
    tool: dict[str, Any],
    clock: ManualClock,
) -> Api:
    """An administrator who chatted in two hours and in the second ran a tool twice and stored a file."""
    takes(provider, 1000, 100)
    assert (await chat(admin, agent)).status == 200
    clock.advance(HOUR)
    admin = await people.super_admin()
    takes(provider, 2000, 200)
    assert (await chat(admin, agent)).status == 200
    await run_tool(admin, tool, {})
    await run_tool(admin, tool, {})
    upload = {"file": ("a.txt", b"12345", "text/plain")}
    stored = await admin.request("POST", "/api/v1/files", files=upload, fields={"purpose": "chat"})
    assert stored.status == 201, stored
    await store_counts(service)
    return admin


async def test_usage_counts_what_was_done(busy_admin: Api) -> None:
    told = await usage(busy_admin, granularity="hour", group_by="agent, model,tool,channel")
    totals = told["totals"]
    assert totals["requests"] > 5
    expected = {
        "chat_requests": 2,
        "messages": 4,
        "tool_executions": 2,
        "prompt_tokens": 3000,
        "completion_tokens": 300,
        "total_tokens": 3300,
        "estimated_cost_usd": pytest.approx(3000 * 2.5e-6 + 300 * 10e-6),
        "storage_bytes": 5,
    }
    assert {name: totals[name] for name in expected} == expected


async def test_usage_names_the_plan_and_what_is_used_of_its_limits(busy_admin: Api) -> None:
    told = await usage(busy_admin)
    assert (told["plan"], told["limits"]["requests_per_minute"]) == ("enterprise", 12_000)
    assert told["limits"]["used"]["hour"] > 0


async def test_usage_is_grouped_by_hour_agent_model_tool_and_channel(
    busy_admin: Api, agent: dict[str, Any], tool: dict[str, Any]
) -> None:
    told = await usage(busy_admin, granularity="hour", group_by="agent, model,tool,channel")
    turns = [row for row in told["data"] if row["group"]["agent"] == agent["id"]]
    assert [(row["prompt_tokens"], row["messages"]) for row in turns] == [(1000, 2), (2000, 2)]
    assert turns[0]["end"] == turns[1]["start"]
    assert {row["group"]["model"] for row in turns} == {"openai/gpt-4o"}
    assert {row["group"]["channel"] for row in turns} == {"console"}
    assert [row["tool_executions"] for row in told["data"] if row["group"]["tool"] == tool["id"]] == [2]


async def test_usage_stays_the_same_when_it_is_compacted(
    busy_admin: Api, people: People, provider: ProviderServer, agent: dict[str, Any]
) -> None:
    tenant_id = busy_admin.user.tenant_id
    before = len(await entries(people, tenant_id))
    async with people.context(tenant_id) as ctx:
        while await compact_batch(ctx):
            pass
    assert len(await entries(people, tenant_id)) < before
    takes(provider, 5, 5)
    assert (await chat(busy_admin, agent)).status == 200
    async with people.context(tenant_id) as ctx:
        assert await compact_batch(ctx) > 0
    after = await usage(busy_admin, granularity="hour", group_by="agent,model,tool,channel")
    assert (after["totals"]["prompt_tokens"], after["totals"]["chat_requests"]) == (3005, 3)
    assert sum(row["prompt_tokens"] for row in after["data"]) == 3005


async def test_usage_of_other_times_and_tenants_is_not_told(
    admin: Api, people: People, provider: ProviderServer, agent: dict[str, Any], clock: ManualClock
) -> None:
    takes(provider, 7, 1)
    await chat(admin, agent)
    first = (await usage(admin))["period"]
    clock.advance(40 * 24 * HOUR)
    admin = await people.super_admin()
    later = await usage(admin)
    assert later["totals"]["prompt_tokens"] == 0
    assert later["period"]["from"] > first["to"]
    whole = await usage(admin, **{"from": first["from"], "granularity": "month"})
    assert whole["totals"]["prompt_tokens"] == 7
    assert len(whole["data"]) == 2
    other = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    assert (await usage(other))["totals"]["messages"] == 0


async def test_usage_as_csv_has_no_formulas(admin: Api, people: People) -> None:
    async with people.context(admin.user.tenant_id) as ctx:
        await ctx.db.insert(UsageEntry(hour=ctx.now[:13], model="=cmd()|x", prompt_tokens=3))
    answer = await admin.get("/api/v1/usage", query={"format": "csv", "group_by": "model"})
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/csv")
    lines = answer.body.decode().split("\r\n")
    assert lines[0].startswith("start,end,model,requests,chat_requests,messages,prompt_tokens")
    assert any(",'=cmd()|x," in line for line in lines)
    assert not any(",=cmd" in line for line in lines)


async def test_bad_questions_are_refused_with_the_field(admin: Api) -> None:
    wrong = []
    for query, field in (
        ({"granularity": "week"}, "granularity"),
        ({"group_by": "agent,moon"}, "group_by"),
        ({"from": "yesterday"}, "from"),
        ({"from": "9999-12-31T23:59:59Z"}, "from"),
        ({"to": "9999-12-31T23:59:59Z"}, "to"),
        ({"from": "2026-02-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}, "to"),
        ({"format": "xml"}, "format"),
    ):
        answer = await admin.get("/api/v1/usage", query=query)
        if answer.status != 422 or field not in answer.details:
            wrong.append((query, answer))
    assert wrong == []


async def test_a_full_window_is_told_once(make_service: ServiceMaker) -> None:
    service: Service = await make_service(default_plan="free", burst=False)
    people = People(service)
    admin = await people.super_admin()
    refused = 0
    for _ in range(70):
        refused += (await admin.get("/api/v1/tenant")).status == 429
    assert refused >= 9
    await store_counts(service)
    await store_counts(service)
    async with people.context(admin.user.tenant_id) as ctx:
        found = await ctx.db.all(EventEntry, type="system.limit.reached")
        assert [one.data for one in found] == [
            {"limit": "requests_per_minute", "allowed": 60, "window": "minute"}
        ]
        asked = sum(one.requests for one in await ctx.db.all(UsageEntry))
    assert asked == 60
