"""One run starts a limited number of others, however they start each other, and they wait for places."""

import asyncio
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.workflows.engine import lineage
from retinue.workflows.engine.lineage import MAX_DEPTH
from retinue.workflows.models import ENDED_STATUSES, WorkflowExecution
from tests.client import Api
from tests.factories.people import People
from tests.factories.tools import make_tool
from tests.factories.workflows import PATH, execute, execution, executions, make_workflow, node, run, start

BACKGROUND = "its worker runs in the background"
FEW = 60


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer runs of a root than usual, so that it takes seconds to start all of them."""
    monkeypatch.setattr(lineage, "MAX_DESCENDANT_RUNS", FEW)


async def all_runs(people: People, api: Api) -> list[WorkflowExecution]:
    async with people.context(api.user.tenant_id) as ctx:
        return await ctx.db.all(WorkflowExecution, order_by=("created_at", "id"))


async def assert_all_ended(people: People, api: Api) -> list[WorkflowExecution]:
    found = await all_runs(people, api)
    assert {one.status for one in found} <= ENDED_STATUSES
    assert [one.id for one in found if one.is_running or one.is_pending or one.lent] == []
    return found


def loop_of_runs(id: str, items: int, **more: Any) -> dict[str, Any]:
    """Return a loop that starts a workflow for each of its items."""
    inner = {"type": "sub_workflow", "config": {"workflow_id": id, "input": {"id": "{{input.id}}"}}}
    return node("loop", "loop", items=list(range(items)), node=inner, **more)


@pytest.mark.slow
async def test_a_workflow_that_starts_itself_ends_after_a_thousand_runs(
    service: Service, people: People, admin: Api
) -> None:
    workflow = await make_workflow(admin, loop_of_runs("{{input.id}}", 1_000))
    await run(service, admin, workflow, {"id": workflow["id"]})
    assert len(await assert_all_ended(people, admin)) == 1_001


@pytest.mark.either_database
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("on_item_error", ["fail", "continue"])
async def test_a_workflow_that_starts_itself_by_a_template_comes_to_an_end(
    service: Service, people: People, admin: Api, on_item_error: str
) -> None:
    workflow = await make_workflow(admin, loop_of_runs("{{input.id}}", 20, on_item_error=on_item_error))
    done = await run(service, admin, workflow, {"id": workflow["id"]})
    assert done["status"] in {"failed", "completed"}
    found = await assert_all_ended(people, admin)
    assert len(found) == FEW + 1
    assert max(one.depth for one in found) <= MAX_DEPTH
    assert "too_many_runs" in {(one.error or {}).get("code") for one in found}


async def test_runs_nest_eight_deep(service: Service, people: People, admin: Api) -> None:
    inner = node("inner", "sub_workflow", workflow_id="{{input.id}}", input={"id": "{{input.id}}"})
    workflow = await make_workflow(admin, inner)
    done = await run(service, admin, workflow, {"id": workflow["id"]})
    assert done["error"]["code"] == "sub_workflow_failed"
    found = await assert_all_ended(people, admin)
    assert [one.depth for one in found] == list(range(MAX_DEPTH + 1))
    assert (found[-1].error or {})["code"] == "too_many_runs"
    # The limit is of one root: another one starts as many.
    await run(service, admin, workflow, {"id": workflow["id"]})
    assert len(await assert_all_ended(people, admin)) == 2 * (MAX_DEPTH + 1)


@pytest.mark.either_database
@pytest.mark.usefixtures("few")
async def test_events_between_workflows_count_for_the_run_that_began(
    service: Service, people: People, admin: Api
) -> None:
    emit = {"type": "emit_event", "config": {"name": "go.on", "data": {}}}
    circle = await make_workflow(
        admin,
        node("loop", "loop", items=list(range(8)), node=emit),
        trigger={"type": "event", "config": {"event_type": "go.on"}},
    )
    await run(service, admin, circle, {})
    found = await assert_all_ended(people, admin)
    # 8 by the first, 64 by those.
    assert len(found) == FEW + 1


@pytest.mark.either_database
@pytest.mark.usefixtures("few")
@pytest.mark.one_service(BACKGROUND)
async def test_a_tool_that_is_a_workflow_multiplies_no_further(
    service: Service, people: People, admin: Api
) -> None:
    workflow = await make_workflow(admin, node("a"))
    config = {"kind": "workflow", "workflow_id": workflow["id"], "timeout_ms": 1_000}
    tool = await make_tool(admin, tool_type="custom", config=config)
    used = {"type": "tool", "config": {"tool_id": tool["id"]}}
    loop = node("loop", "loop", items=list(range(4)), node=used, on_item_error="continue")
    assert (await admin.put(f"{PATH}/{workflow['id']}", {"nodes": [loop]})).status == 200
    await service.runner.start()
    answer = await execute(admin, workflow, {}, wait=60)
    assert answer.status == 200, answer
    async with asyncio.timeout(60):
        while {one.status for one in await all_runs(people, admin)} - ENDED_STATUSES:
            await asyncio.sleep(0.05)
    await service.runner.stop()
    found = await assert_all_ended(people, admin)
    assert len(found) <= FEW + 1
    assert len({one.root_id for one in found if one.root_id}) == 1


@pytest.mark.one_service(BACKGROUND)
async def test_a_tool_that_waits_for_a_workflow_lends_it_the_only_place(
    service: Service, people: People
) -> None:
    person = await people.signed_in(Role.tenant_admin, await people.tenant("Small", plan="free"))
    inner = await make_workflow(person, node("a", set="from inside"))
    config = {"kind": "workflow", "workflow_id": inner["id"], "timeout_ms": 20_000}
    tool = await make_tool(person, tool_type="custom", config=config)
    outer = await make_workflow(person, node("use", "tool", tool_id=tool["id"]))
    await service.runner.start()
    answer = await execute(person, outer, {}, wait=60)
    assert answer.status == 200, answer
    done = answer.json()["data"]
    assert (done["status"], done["output"]) == ("completed", "from inside")
    await service.runner.stop()
    assert len(await assert_all_ended(people, person)) == 2


async def test_runs_of_a_loop_wait_for_places_and_never_fail_for_them(
    service: Service, people: People, clock: ManualClock
) -> None:
    person = await people.signed_in(Role.tenant_admin, await people.tenant("Small", plan="free"))
    inner = await make_workflow(person, node("a", set="{{input.id}}"))
    outer = await make_workflow(person, loop_of_runs(inner["id"], 12))
    id = await start(person, outer, {"id": 7})
    for _ in range(6):
        await service.runner.drain()
        clock.advance(61)
    await service.runner.drain()
    done = await execution(await people.sign_in(person.user), outer, id)
    assert done["status"] == "completed", done
    assert done["output"]["results"] == [7] * 12
    await assert_all_ended(people, person)


async def test_a_run_with_many_waiting_ones_keeps_no_other_from_its_place(
    service: Service, people: People, clock: ManualClock
) -> None:
    person = await people.signed_in(Role.tenant_admin, await people.tenant("Small", plan="free"))
    inner = await make_workflow(person, node("a"))
    outer = await make_workflow(person, loop_of_runs(inner["id"], 30, concurrency=30))
    other = await make_workflow(
        person, node("b"), trigger={"type": "event", "config": {"event_type": "go.on"}}
    )
    await start(person, outer, {"id": 7})
    await service.runner.drain()
    assert len(await executions(person, inner, status="pending")) > 20
    assert (await person.post("/api/v1/events/test", {"event_type": "go.on", "data": {}})).status == 202
    await service.runner.drain()
    assert [one["status"] for one in await executions(person, other)] == ["pending"]
    clock.advance(61)
    await service.runner.drain()
    person = await people.sign_in(person.user)
    assert [one["status"] for one in await executions(person, other)] == ["completed"]
    assert await executions(person, inner, status="pending")


async def test_a_full_workflow_lets_others_pass_however_many_of_it_wait(
    service: Service, admin: Api, clock: ManualClock
) -> None:
    slow = node("a", "http", url="http://127.0.0.1:9", retry={"max": 1, "delay_ms": 60_000})
    full = await make_workflow(admin, slow, settings={"max_concurrency": 1})
    outer = await make_workflow(admin, loop_of_runs(full["id"], 50, concurrency=50))
    for _ in range(3):
        await start(admin, outer, {"id": 7})
    await service.runner.drain()
    assert len(await executions(admin, full, status="pending")) == 100
    other = await make_workflow(admin, slow | {"id": "b"}, settings={"max_concurrency": 1})
    first, second = await start(admin, other), await start(admin, other)
    await service.runner.drain()
    assert (await execution(admin, other, second))["status"] == "pending"
    assert (await admin.post(f"{PATH}/{other['id']}/executions/{first}/cancel", {})).status == 200
    await service.runner.drain()
    assert (await execution(admin, other, second))["status"] == "running"


async def update_refused(api: Api, workflow: dict[str, Any], *nodes: dict[str, Any]) -> dict[str, Any]:
    answer = await api.put(f"{PATH}/{workflow['id']}", {"nodes": list(nodes)})
    assert (answer.status, answer.code) == (422, "validation_error"), answer
    return answer.details


async def test_a_workflow_that_contains_itself_cannot_be_published(admin: Api) -> None:
    a = await make_workflow(admin, node("n"), name="A")
    me = node("me", "sub_workflow", workflow_id=a["id"])
    assert (await update_refused(admin, a, me)).keys() == {"nodes.me.config.workflow_id"}
    looped = await update_refused(admin, a, loop_of_runs(a["id"], 3))
    assert looped.keys() == {"nodes.loop.config.node.config.workflow_id"}
    # A draft may be written down, and says what is wrong with it.
    draft = await make_workflow(admin, node("n"), name="Draft", status="draft")
    itself = {"nodes": [node("me", "sub_workflow", workflow_id=draft["id"])]}
    assert (await admin.put(f"{PATH}/{draft['id']}", itself)).status == 200
    answer = await admin.post(f"{PATH}/{draft['id']}/publish", {})
    assert (answer.status, list(answer.details)) == (422, ["nodes.me.config.workflow_id"])
    checked = (await admin.post(f"{PATH}/{draft['id']}/validate", {})).json()["data"]
    assert [one["node_id"] for one in checked["errors"]] == ["me"]
    answer = await admin.post(
        "/v1/workflows/batch", {"operations": [{"op": "publish", "id": draft["id"]}], "atomic": True}
    )
    assert answer.status == 422, answer


async def test_a_circle_through_other_workflows_is_refused_where_it_would_close(admin: Api) -> None:
    a = await make_workflow(admin, node("n"), name="A")
    b = await make_workflow(admin, node("to_a", "sub_workflow", workflow_id=a["id"]), name="B")
    c = await make_workflow(admin, loop_of_runs(b["id"], 2), name="C")
    said = await update_refused(admin, a, node("to_c", "sub_workflow", workflow_id=c["id"]))
    assert said == {
        "nodes.to_c.config.workflow_id": (
            "leads back to this workflow through C > B; a workflow cannot contain itself"
        )
    }
    # What is not published is not run, so the circle is open there.
    assert (await admin.post(f"{PATH}/{b['id']}/unpublish", {})).status == 200
    to_c = {"nodes": [node("to_c", "sub_workflow", workflow_id=c["id"])]}
    assert (await admin.put(f"{PATH}/{a['id']}", to_c)).status == 200
    answer = await admin.post(f"{PATH}/{b['id']}/publish", {})
    assert (answer.status, list(answer.details)) == (422, ["nodes.to_a.config.workflow_id"])
