"""The event log: filtered, followed along a chain of causes, and bounded however long it is."""

import time
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.events.jobs import RETENTION_DAYS
from retinue.kit import timelines
from retinue.kit.clock import ManualClock, instant_from_timestamp
from tests.client import Api
from tests.events.conftest import emit
from tests.events.log_entries import LOG, entry_at, read_log, types
from tests.factories.agents import make_agent
from tests.factories.people import People


@pytest.fixture
async def agent(admin: Api, clock: ManualClock) -> dict[str, Any]:
    """An agent that was created and two minutes later published under `chain-1`, and then an order."""
    agent = await make_agent(admin)
    clock.advance(120)
    headers = {"X-Correlation-ID": "chain-1"}
    await admin.put(
        f"/api/v1/agents/{agent['id']}", {"name": "Other", "status": "published"}, headers=headers
    )
    await emit(admin, "order.placed", total=7)
    return agent


async def test_an_entry_says_what_happened_to_what_and_by_whom(admin: Api, agent: dict[str, Any]) -> None:
    (updated,) = (await read_log(admin, event_type="agent.updated"))["data"]
    actor = {"type": "user", "id": admin.user.id}
    assert updated == {
        "id": updated["id"],
        "type": "agent.updated",
        "category": "agent",
        "correlation_id": "chain-1",
        "data": {
            "tenant_id": admin.user.tenant_id,
            "actor": actor,
            "agent_id": agent["id"],
            "name": "Other",
            "status": "published",
            "version": 2,
            "changes": ["name", "status"],
        },
        "source": {"type": "agent", "id": agent["id"]},
        "actor": actor,
        "test": False,
        "created_at": updated["created_at"],
    }
    assert (await admin.get(f"{LOG}/{updated['id']}")).json() == updated
    (order,) = (await read_log(admin, event_type="order.placed"))["data"]
    assert (order["test"], order["category"], order["source"]) == (
        True,
        "system",
        {"type": "custom", "id": ""},
    )


@pytest.mark.usefixtures("agent")
async def test_the_log_is_filtered_by_type_category_time_and_correlation(
    admin: Api, clock: ManualClock
) -> None:
    between = instant_from_timestamp(clock.time() - 60)
    for query, expected in (
        ({"category": "agent"}, ["agent.published", "agent.updated", "agent.created"]),
        ({"category": "agent", "to": between}, ["agent.created"]),
        ({"category": "agent", "from": between}, ["agent.published", "agent.updated"]),
        ({"correlation_id": "chain-1"}, ["agent.published", "agent.updated"]),
        ({"event_type": "nobody.knows"}, []),
        ({"event_type": "agent.updated", "category": "agent"}, ["agent.updated"]),
        ({"event_type": "order.placed", "category": "system"}, ["order.placed"]),
    ):
        assert types(await read_log(admin, **query)) == expected, query
    assert (await read_log(admin, event_type="agent.updated", category="form"))["total"] == 0


@pytest.mark.usefixtures("agent")
async def test_a_page_of_the_log_says_how_many_entries_there_are(admin: Api) -> None:
    second = await read_log(admin, category="agent", page=2, per_page=2)
    assert (types(second), second["total"], second["page"], second["per_page"]) == (
        ["agent.created"],
        3,
        2,
        2,
    )
    assert second["total_is_exact"] is True


@pytest.mark.usefixtures("agent")
async def test_a_trace_is_everything_under_one_correlation_id_in_order(admin: Api) -> None:
    traced = (await admin.get(f"{LOG}/trace/chain-1")).json()
    assert (traced["correlation_id"], types(traced), traced["total"]) == (
        "chain-1",
        ["agent.updated", "agent.published"],
        2,
    )
    unknown = (await admin.get(f"{LOG}/trace/nobody")).json()
    assert unknown == {"correlation_id": "nobody", "data": [], "total": 0}


async def test_a_bad_filter_and_an_unknown_entry_are_refused(admin: Api) -> None:
    refused = await admin.get(LOG, query={"category": "nobody"})
    assert (refused.status, set(refused.details)) == (422, {"category"})
    for query in ({"from": "yesterday"}, {"to": "2026-13-01"}, {"page": 0}, {"per_page": "many"}):
        assert (await admin.get(LOG, query=query)).status == 422, query
    missing = await admin.get(f"{LOG}/evt_nobody")
    assert (missing.status, missing.code) == (404, "event_not_found")


@pytest.mark.usefixtures("agent")
async def test_another_tenant_sees_nothing_of_the_log(admin: Api, people: People) -> None:
    (order,) = (await read_log(admin, event_type="order.placed"))["data"]
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    assert (await stranger.get(f"{LOG}/{order['id']}")).status == 404
    assert (await read_log(stranger, correlation_id="chain-1"))["data"] == []
    assert (await stranger.get(f"{LOG}/trace/chain-1")).json()["data"] == []


@pytest.mark.every_case
async def test_a_long_log_is_counted_exactly_and_every_entry_is_reached(
    admin: Api, people: People, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over many milestones, with entries of the same instant across them, by every filter there is."""
    monkeypatch.setattr(timelines, "MILESTONE_INTERVAL", 7)
    start = clock.time() - 1000
    moments = [start + n // 3 for n in range(100)] + [clock.time() - n for n in range(5)]
    entries = [
        entry_at(at, correlation_id=f"long-{n % 3}", type=f"order.type{n % 4}")
        for n, at in enumerate(moments)
    ]
    async with people.context(admin.user.tenant_id) as ctx:
        await ctx.db.insert_many(entries)
    for query in (
        {"event_type": "order.type1"},
        {"correlation_id": "long-0"},
        {"correlation_id": "long-2", "from": instant_from_timestamp(start + 4)},
        {"event_type": "order.type3", "to": instant_from_timestamp(start + 20)},
        {
            "correlation_id": "long-1",
            "from": instant_from_timestamp(start + 5),
            "to": instant_from_timestamp(start + 9),
        },
        {
            "correlation_id": "long-1",
            "from": instant_from_timestamp(start + 500),
            "to": instant_from_timestamp(start + 501),
        },
        {"event_type": "order.nothing"},
    ):
        expected = sum(
            query.get("event_type", one.type) == one.type
            and query.get("correlation_id", one.correlation_id) == one.correlation_id
            and query.get("from", "") <= one.created_at <= query.get("to", "~")
            for one in entries
        )
        for _ in range(2):
            seen = []
            for page in range(1, expected // 4 + 3):
                found = await read_log(admin, per_page=4, page=page, **query)
                assert (found["total"], found["total_is_exact"]) == (expected, True), query
                seen += found["data"]
            assert len(seen) == expected, query
            assert len({one["id"] for one in seen}) == expected
            assert [one["created_at"] for one in seen] == sorted(
                (one["created_at"] for one in seen), reverse=True
            )
    everything = await read_log(admin, per_page=100, page=1)
    assert everything["total"] >= len(moments)
    clock.advance(400)
    async with people.context(admin.user.tenant_id) as ctx:
        await ctx.db.insert_many([entry_at(clock.time(), type="order.type1") for _ in range(20)])
    assert (await read_log(admin, event_type="order.type1"))["total"] == 20 + len(entries[1::4])
    trace = (await admin.get(f"{LOG}/trace/long-0")).json()
    assert trace["total"] == len(trace["data"]) == 35


async def test_entries_older_than_the_retention_go_and_younger_ones_stay(
    service: Service, admin: Api, people: People, clock: ManualClock
) -> None:
    day_s = 86_400
    async with people.context(admin.user.tenant_id) as ctx:
        old = clock.time() - (RETENTION_DAYS + 1) * day_s
        await ctx.db.insert_many([entry_at(old + n) for n in range(1200)])
        await ctx.db.insert(entry_at(clock.time() - (RETENTION_DAYS - 1) * day_s))
    await service.runner.drain()
    clock.advance(3601)
    await service.runner.drain()
    assert (await read_log(await people.super_admin(), event_type="order.placed"))["total"] == 1


@pytest.mark.slow
async def test_reading_costs_the_same_in_a_long_log(admin: Api, people: People, clock: ManualClock) -> None:
    """A hundred thousand entries here; what a million take is in the guide."""

    async def fill(count: int) -> None:
        async with people.context(admin.user.tenant_id) as ctx:
            start = clock.time() - 10_000_000 - count
            await ctx.db.insert_many(
                [
                    entry_at(start + n, category=("form", "system")[n % 2], type=f"order.type{n % 50}")
                    for n in range(count)
                ]
            )

    async def measured() -> float:
        queries_ = ({}, {"category": "form"}, {"event_type": "order.type7"}, {"correlation_id": "cor_x"})
        best = 10.0
        for _ in range(5):
            begin = time.process_time()
            for query in queries_:
                await read_log(admin, **query, per_page=20)
            best = min(best, time.process_time() - begin)
        return best

    await fill(10_001)
    short = await measured()
    await fill(100_000)
    assert await measured() < short * 3 + 0.02
