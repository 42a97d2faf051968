"""The executions of a tool, page by page."""

import pytest

from tests.factories.tools import endpoint, executions_of, make_tool, remember_execution


@pytest.fixture
async def tool(admin, people):
    made = await make_tool(admin)
    for hour, status in enumerate(["completed", "failed", "timeout", "completed", "running", "pending"]):
        await remember_execution(
            people,
            admin.user.tenant_id,
            made["id"],
            status=status,
            executed_at=f"2026-11-15T{hour:02d}:00:00.000000Z",
        )
    return made


async def hours(api, tool, **query):
    return [int(record["executed_at"][11:13]) for record in await executions_of(api, tool, **query)]


async def test_the_newest_come_first_and_what_has_not_ended_is_not_among_them(admin, tool) -> None:
    assert await hours(admin, tool) == [3, 2, 1, 0]
    assert await hours(admin, tool, per_page=3, page=2) == [0]


async def test_the_list_of_tools_says_how_the_last_run_ended_and_what_asks_first(admin, people, tool) -> None:
    config = {
        "base_url": "http://127.0.0.1:9",
        "endpoints": {"read": {"path": "/a"}, **endpoint("/b", "POST", requires_approval=True)},
    }
    guarded = await make_tool(admin, name="Mail", config=config)
    tenant_id = admin.user.tenant_id
    for hour, status in (("05", "failed"), ("06", "running")):
        executed_at = f"2026-11-15T{hour}:00:00.000000Z"
        await remember_execution(people, tenant_id, tool["id"], status=status, executed_at=executed_at)
    listed = {one["id"]: one for one in (await admin.get("/v1/tools")).json()["data"]}
    assert (listed[tool["id"]]["last_status"], listed[tool["id"]]["guarded_count"]) == ("failed", 0)
    assert (listed[guarded["id"]]["last_status"], listed[guarded["id"]]["guarded_count"]) == (None, 1)


async def test_executions_are_filtered_by_status_and_time(admin, tool) -> None:
    assert await hours(admin, tool, status="completed") == [3, 0]
    assert await hours(admin, tool, status="timeout") == [2]
    assert await hours(admin, tool, after="2026-11-15T01:00:00Z") == [3, 2, 1]
    assert await hours(admin, tool, before="2026-11-15T02:30:00+01:00") == [1, 0]
    both = {"after": "2026-11-15T00:30:00Z", "before": "2026-11-15T02:30:00Z"}
    assert await hours(admin, tool, **both, status="failed") == [1]


@pytest.mark.parametrize(
    ("name", "value"),
    [("status", "pending"), ("status", "x"), ("after", "yesterday"), ("before", ""), ("page", "0")],
)
async def test_a_filter_that_means_nothing_is_refused(admin, tool, name, value) -> None:
    answer = await admin.get(f"/v1/tools/{tool['id']}/executions", query={name: value})
    assert (answer.status, list(answer.details)) == (422, [name])


async def test_executions_of_another_tool_are_not_shown(admin, tool) -> None:
    assert await executions_of(admin, await make_tool(admin)) == []
