"""Tests of triggers: starts of a workflow, their number, and limits on concurrent runs."""

import asyncio
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.kit.jobs.runner import Runner
from retinue.tenants.models import Tenant
from tests.client import Api
from tests.factories.people import People
from tests.factories.workflows import (
    PATH,
    edges,
    execute,
    execution,
    executions,
    make_workflow,
    node,
    run,
    start,
    statuses,
)

EVERY_FIVE_MINUTES = {"cron": "*/5 * * * *", "timezone": "Asia/Kolkata", "input": {"who": "me"}}


async def test_a_schedule_starts_its_workflow_once_each_time(
    service: Service, admin: Api, clock: ManualClock
) -> None:
    # The clock is held at 08:00 on 15 January 2027, UTC.
    workflow = await make_workflow(admin, node("a", set="{{input.who}} at {{trigger.scheduled_at}}"))
    path = f"{PATH}/{workflow['id']}/schedules"
    made = (await admin.post(path, EVERY_FIVE_MINUTES)).json()["data"]
    assert made == {
        **EVERY_FIVE_MINUTES, "id": made["id"], "active": True, "next_run_at": "2027-01-15T08:05:00.000000Z",
        "last_run_at": None, "created_at": made["created_at"],
    }  # fmt: skip
    others = [Runner(service.instance) for _ in range(3)]
    for _ in range(2):
        clock.advance(300)
        await asyncio.gather(*(one.drain() for one in (service.runner, *others)))
    found = await executions(admin, workflow)
    assert [one["trigger"] for one in found] == ["schedule", "schedule"]
    done = await execution(admin, workflow, found[0]["id"])
    assert (done["output"], done["run_as"]) == ("me at 2027-01-15T08:10:00.000000Z", admin.user.id)
    (listed,) = (await admin.get(path)).json()["data"]
    assert listed["next_run_at"] == "2027-01-15T08:15:00.000000Z"
    assert listed["last_run_at"] > "2027-01-15T08:10"
    await admin.post(f"{PATH}/{workflow['id']}/unpublish", {})
    clock.advance(240)
    await service.runner.drain()
    assert len(await executions(admin, workflow)) == 2, "what is not published is not started"


async def test_a_schedule_is_deleted_alone_or_with_all_others(admin: Api) -> None:
    workflow = await make_workflow(admin, node("a"))
    path = f"{PATH}/{workflow['id']}/schedules"
    made = (await admin.post(path, EVERY_FIVE_MINUTES)).json()["data"]
    assert (await admin.delete(f"{path}/{made['id']}")).status == 204
    assert (await admin.delete(f"{path}/{made['id']}")).code == "schedule_not_found"
    await admin.post(path, EVERY_FIVE_MINUTES)
    assert (await admin.delete(path)).status == 204
    assert (await admin.get(path)).json() == {"data": []}


async def test_a_schedule_that_makes_no_sense_and_the_twenty_first_are_refused(admin: Api) -> None:
    workflow = await make_workflow(admin, node("a"))
    path = f"{PATH}/{workflow['id']}/schedules"
    assert (await admin.post(path, {"cron": "* * * *"})).details.keys() == {"cron"}
    assert (await admin.post(path, {"cron": "* * * * *", "timezone": "../etc/passwd"})).details.keys() == {
        "timezone"
    }
    for _ in range(20):
        assert (await admin.post(path, {"cron": "@hourly", "active": False})).status == 201
    assert (await admin.post(path, {"cron": "@hourly"})).code == "too_many_schedules"


async def test_a_trigger_may_be_a_schedule_and_changes_with_its_workflow(
    service: Service, admin: Api, clock: ManualClock
) -> None:
    trigger = {"type": "schedule", "config": {"cron": "5 * * * *", "input": {"x": 1}}}
    workflow = await make_workflow(admin, node("a", set="{{input.x}}"), trigger=trigger)
    path = f"{PATH}/{workflow['id']}"
    clock.advance(301)
    await service.runner.drain()
    (one,) = await executions(admin, workflow)
    assert (await execution(admin, workflow, one["id"]))["output"] == 1
    await admin.put(path, {"trigger": {"type": "schedule", "config": {"cron": "7 * * * *"}}})
    (kept,) = (await admin.get(f"{path}/schedules")).json()["data"]
    assert kept["cron"] == "7 * * * *"
    await admin.put(path, {"trigger": {"type": "manual"}})
    assert (await admin.get(f"{path}/schedules")).json()["data"] == []


async def test_subscriptions_and_events_start_workflows_without_going_round_for_ever(
    service: Service, admin: Api
) -> None:
    trigger = {"type": "event", "config": {"event_type": "workflow.execution.completed"}}
    circle = await make_workflow(admin, node("a"), trigger=trigger)
    workflow = await make_workflow(admin, node("a", set="{{input.id}}"))
    body = {
        "event_type": "order.placed", "action_type": "workflow",
        "action_config": {"workflow_id": workflow["id"], "input": {"id": "{{data.order_id}}"}},
    }  # fmt: skip
    assert (await admin.post("/api/v1/event-subscriptions", body)).status == 201
    await admin.post("/api/v1/events/test", {"event_type": "order.placed", "data": {"order_id": 7}})
    await service.runner.drain()
    (one,) = await executions(admin, workflow)
    assert (one["trigger"], (await execution(admin, workflow, one["id"]))["output"]) == ("event", 7)
    found = await executions(admin, circle)
    assert 0 < len(found) < 10, "a chain of causes ends somewhere"
    await admin.post(f"{PATH}/{circle['id']}/unpublish", {})
    await run(service, admin, workflow, {"id": 1})
    assert len(await executions(admin, circle)) == len(found)


@pytest.mark.either_database
async def test_input_is_checked_against_its_schema(service: Service, admin: Api) -> None:
    schema = {"type": "object", "required": ["email"], "properties": {"email": {"type": "string"}}}
    workflow = await make_workflow(admin, node("a"), input_schema=schema)
    assert (await execute(admin, workflow)).details == {"input.email": "is required"}
    assert (await execute(admin, workflow, {"email": 3})).status == 422
    assert (await run(service, admin, workflow, {"email": "x"}))["status"] == "completed"
    assert (await execute(admin, workflow, {"email": "x"}, wait=61)).details.keys() == {"wait"}
    again = {"Idempotency-Key": "once"}
    path = f"{PATH}/{workflow['id']}/execute"
    first, second = [await admin.post(path, {"input": {"email": "x"}}, headers=again) for _ in range(2)]
    assert first.json() == second.json()
    assert len(await executions(admin, workflow)) == 2


@pytest.fixture
async def small(people: People) -> Tenant:
    """A tenant whose plan allows one run at a time and five starts a minute."""
    return await people.tenant("Small", plan="free")


@pytest.fixture
async def person(people: People, small: Tenant) -> Api:
    return await people.signed_in(Role.agent_developer, small)


async def slow_workflow(person: Api) -> dict[str, Any]:
    return await make_workflow(
        person, node("a"), node("b", "http", url="http://127.0.0.1:9", retry={"max": 5, "delay_ms": 30_000}),
        links=["a>b"], trigger={"type": "event", "config": {"event_type": "go.on"}},
    )  # fmt: skip


async def test_a_start_beyond_the_concurrent_runs_of_the_plan_is_refused(person: Api) -> None:
    slow = await slow_workflow(person)
    await start(person, slow)
    refused = await execute(person, slow)
    assert (refused.status, refused.code) == (429, "rate_limited")
    assert refused.details == {"limit": 1, "window": "concurrent", "retry_after": 5}
    assert refused.headers["x-ratelimit-window"] == "5"
    assert refused.headers["x-ratelimit-remaining"] == "0"


async def test_runs_that_events_start_wait_until_one_ends(
    service: Service, people: People, small: Tenant, person: Api
) -> None:
    slow = await slow_workflow(person)
    id = await start(person, slow)

    async def states() -> list[str]:
        return sorted(one["status"] for one in await executions(person, slow))

    admin = await people.signed_in(Role.tenant_admin, small)
    for _ in range(2):
        assert (await admin.post("/api/v1/events/test", {"event_type": "go.on", "data": {}})).status == 202
    await service.runner.drain()
    assert await states() == ["pending", "pending", "running"]
    assert (await person.post(f"{PATH}/{slow['id']}/executions/{id}/cancel", {})).status == 200
    await service.runner.drain()
    assert await states() == ["cancelled", "pending", "running"]
    (pending,) = await executions(person, slow, status="pending")
    assert (await person.post(f"{PATH}/{slow['id']}/executions/{pending['id']}/cancel", {})).status == 200


async def test_a_plan_allows_only_so_many_starts_a_minute(service: Service, person: Api) -> None:
    quick = await make_workflow(person, node("a"))
    answers = []
    for _ in range(6):
        answers.append(await execute(person, quick))
        await service.runner.drain()
    assert [answer.status for answer in answers] == [202] * 5 + [429]
    assert answers[-1].details["window"] == 60


async def test_a_workflow_may_limit_its_own_runs(service: Service, admin: Api, clock: ManualClock) -> None:
    workflow = await make_workflow(
        admin,
        node("a", "http", url="http://127.0.0.1:9", retry={"max": 1, "delay_ms": 20_000},
             on_error="continue"),
        settings={"max_concurrency": 1},
    )  # fmt: skip
    ids = [await start(admin, workflow) for _ in range(3)]
    for finished in range(3):
        await service.runner.drain()
        found = [(await execution(admin, workflow, id))["status"] for id in ids]
        assert found == ["completed"] * finished + ["running"] + ["pending"] * (2 - finished)
        clock.advance(21)
    await service.runner.drain()
    assert {(await execution(admin, workflow, id))["status"] for id in ids} == {"completed"}


async def test_two_workers_that_end_two_branches_at_once_run_their_join_once(
    service: Service, admin: Api, table: dict[str, Any], clock: ManualClock
) -> None:
    names = [f"n{number}" for number in range(8)]
    workflow = await make_workflow(
        admin,
        node("begin"),
        *(node(name, "http", url="http://127.0.0.1:9", on_error="continue") for name in names),
        node(
            "join",
            "data_table",
            table_id=table["id"],
            operation="insert",
            values={"name": "{{execution.id}}"},
        ),
        edges=edges(*(f"begin>{name}" for name in names), *(f"{name}>join" for name in names)),
    )
    ids = [await start(admin, workflow) for _ in range(6)]
    elsewhere = Service(service.settings, clock)
    await elsewhere.start()
    workers = [service.runner, elsewhere.runner]
    for worker in workers:
        await worker.start()
    try:
        async with asyncio.timeout(20):
            while len(await executions(admin, workflow, status="completed")) < len(ids):
                await asyncio.sleep(0.02)
    finally:
        await asyncio.gather(*(worker.stop() for worker in workers))
        await elsewhere.stop()
    rows = (await admin.get(f"/api/v1/data-tables/{table['id']}/rows")).json()["data"]
    assert sorted(row["name"] for row in rows) == sorted(ids)
    for id in ids:
        done = await execution(admin, workflow, id)
        assert len(done["nodes"]) == 10
        assert statuses(done)["join"] == "completed"
