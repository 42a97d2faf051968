"""Tests of the statistics of a tool's executions."""

import math
import random

import pytest

from retinue.kit.clock import instant_from_timestamp
from tests.conftest import START
from tests.factories.tools import make_tool, remember_execution

DAY = 24 * 3600
# The clock of the tests stands at eight in the morning.
MORNING = START


async def stats(api, tool, **query):
    answer = await api.get(f"/v1/tools/{tool['id']}/stats", query=query)
    assert answer.status == 200, answer
    return answer.json()["data"]


@pytest.fixture
async def remember(admin, people):
    async def remembered(tool, days_ago=0.0, **more):
        at = instant_from_timestamp(MORNING - days_ago * DAY)
        await remember_execution(people, admin.user.tenant_id, tool["id"], executed_at=at, **more)

    return remembered


async def test_a_tool_that_was_never_run_has_zeros_and_every_day(admin) -> None:
    tool = await make_tool(admin)
    found = await stats(admin, tool)
    days = found.pop("daily_breakdown")
    assert found == {
        "tool_id": tool["id"],
        "period": "7d",
        "total_executions": 0,
        "successful": 0,
        "failed": 0,
        "success_rate": 0,
        "avg_execution_time_ms": 0,
        "p95_execution_time_ms": 0,
        "p99_execution_time_ms": 0,
        "top_agents": [],
    }
    assert [day["date"] for day in days] == [f"2027-01-{number:02d}" for number in range(9, 16)]
    assert all((day["executions"], day["failures"]) == (0, 0) for day in days)


@pytest.mark.parametrize(("period", "days"), [("24h", 2), ("7d", 7), ("30d", 30), ("90d", 90)])
async def test_a_period_has_all_of_its_days(admin, remember, period, days) -> None:
    tool = await make_tool(admin)
    for days_ago in (0, 0.9, 1.1, 6.2, 6.9, 29.2, 40, 89, 91):
        await remember(tool, days_ago)
    found = await stats(admin, tool, period=period)
    assert len(found["daily_breakdown"]) == days
    assert found["daily_breakdown"][-1]["date"] == "2027-01-15"
    assert sum(day["executions"] for day in found["daily_breakdown"]) == found["total_executions"]
    assert found["total_executions"] == {"24h": 2, "7d": 4, "30d": 6, "90d": 8}[period]


async def test_timeouts_count_as_failures_and_what_has_not_ended_does_not_count(admin, remember) -> None:
    tool = await make_tool(admin)
    for status in ("completed", "completed", "failed", "timeout", "running", "pending"):
        await remember(tool, status=status, execution_time_ms=10)
    await remember(tool, 1, status="completed", execution_time_ms=25)
    await remember(await make_tool(admin), status="failed")
    found = await stats(admin, tool)
    assert (found["total_executions"], found["successful"], found["failed"]) == (5, 3, 2)
    assert found["success_rate"] == 60.0
    assert found["avg_execution_time_ms"] == 13
    assert found["daily_breakdown"][-2:] == [
        {"date": "2027-01-14", "executions": 1, "failures": 0},
        {"date": "2027-01-15", "executions": 4, "failures": 2},
    ]


async def test_the_success_rate_has_one_decimal(admin, remember) -> None:
    tool = await make_tool(admin)
    for status in ("completed", "completed", "failed"):
        await remember(tool, status=status)
    assert (await stats(admin, tool))["success_rate"] == 66.7


@pytest.mark.parametrize("count", [1, 2, 19, 20, 21, 99, 100, 101])
async def test_percentiles_are_those_of_the_nearest_rank(admin, remember, count) -> None:
    tool = await make_tool(admin)
    times = random.Random(count).sample(range(5000), count)
    for time_ms in times:
        await remember(tool, execution_time_ms=time_ms)
    found = await stats(admin, tool)
    ordered = sorted(times)
    assert found["p95_execution_time_ms"] == ordered[math.ceil(0.95 * count) - 1]
    assert found["p99_execution_time_ms"] == ordered[math.ceil(0.99 * count) - 1]


async def test_the_five_busiest_agents_come_first(admin, remember) -> None:
    tool = await make_tool(admin)
    for number in range(1, 7):
        for _ in range(number):
            await remember(tool, agent_id=f"agt_{number}", agent_name=f"Agent {number}", source="agent")
    await remember(tool)
    found = await stats(admin, tool)
    assert found["top_agents"] == [
        {"agent_id": f"agt_{number}", "agent_name": f"Agent {number}", "executions": number}
        for number in (6, 5, 4, 3, 2)
    ]


async def test_an_unknown_period_is_refused(admin) -> None:
    tool = await make_tool(admin)
    answer = await admin.get(f"/v1/tools/{tool['id']}/stats", query={"period": "1y"})
    assert (answer.status, list(answer.details)) == (422, ["period"])
