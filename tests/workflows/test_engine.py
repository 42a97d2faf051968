"""Tests of runs: branches, joins, loops, failures, retries, delays, cancelling and resuming."""

from typing import Any

from retinue.app import Service
from retinue.kit import failpoints
from retinue.kit.clock import ManualClock
from tests.client import Api
from tests.factories.workflows import (
    PATH,
    by_node,
    execute,
    execution,
    executions,
    make_workflow,
    node,
    run,
    start,
    statuses,
)
from tests.services import at_work


async def test_values_travel_through_branches_and_joins_to_the_end(service: Service, admin: Api) -> None:
    workflow = await make_workflow(
        admin,
        node("a", set={"total": "{{input.price}}", "text": "Costs {{input.price}} €"}),
        node("if", "condition", field="nodes.a.output.total", operator="greater_than", value=100),
        node("big", set={"size": "big"}),
        node("small", set={"size": "small"}),
        node("left", set={"n": 1}),
        node("right", set={"n": 2}),
        node("kind", "switch", value="{{trigger.kind}}", cases=[{"value": "x", "name": "ex"}],
             default="other"),
        node("ex"),
        node("other"),
        node("end", "end", output={"size": ["{{nodes.big.output.size}}", "{{nodes.small.output.size}}"],
                                   "sum": ["{{nodes.left.output.n}}", "{{nodes.right.output.n}}"],
                                   "text": "{{nodes.a.output.text}}"}),
        links=["a>if", "if>big:true", "if>small:false", "a>left", "a>right", "a>kind", "kind>ex:ex",
               "kind>other:other", "big>end", "small>end", "left>end", "right>end", "ex>end", "other>end"],
    )  # fmt: skip
    done = await run(service, admin, workflow, {"price": 250, "kind": "x"})
    assert done["status"] == "completed", done
    assert done["output"] == {"size": ["big", None], "sum": [1, 2], "text": "Costs 250 €"}
    assert statuses(done) == {
        "a": "completed", "if": "completed", "big": "completed", "small": "skipped", "left": "completed",
        "right": "completed", "kind": "completed", "ex": "completed", "other": "skipped", "end": "completed",
    }  # fmt: skip
    assert done["started_at"]
    assert done["completed_at"]
    assert done["duration_ms"] >= 0
    assert (await run(service, admin, workflow, {"price": 5}))["output"]["size"] == [None, "small"]
    shown = (await admin.get(f"{PATH}/{workflow['id']}")).json()["data"]
    assert shown["stats"] == {"executions": 2, "success_rate": 100.0}
    empty = await run(service, admin, await make_workflow(admin))
    assert (empty["status"], empty["output"], empty["nodes"]) == ("completed", None, [])


async def test_edges_with_conditions_are_taken_when_they_hold(service: Service, admin: Api) -> None:
    workflow = await make_workflow(
        admin,
        node("a", set={"score": "{{input.score}}"}),
        node("high"),
        node("low"),
        edges=[
            {
                "from": "a",
                "to": "high",
                "when": {"field": "score", "operator": "greater_or_equal", "value": 50},
            },
            {
                "from": "a",
                "to": "low",
                "when": {"any": [{"field": "output.score", "operator": "less_than", "value": 50}]},
            },
        ],
    )
    assert statuses(await run(service, admin, workflow, {"score": 80}))["low"] == "skipped"
    assert statuses(await run(service, admin, workflow, {"score": 8}))["high"] == "skipped"


async def test_a_loop_repeats_its_node_for_every_item_in_order(service: Service, admin: Api) -> None:
    workflow = await make_workflow(
        admin,
        node("loop", "loop", items="{{input.items}}", concurrency=3, on_item_error="continue",
             node={"type": "switch", "config": {"value": "{{item.kind}}", "cases": [{"value": "b"}]}}),
        node("after", set="{{nodes.loop.output.results[1].branch}}"),
        links=["loop>after"],
    )  # fmt: skip
    items = [{"kind": kind} for kind in "abcdefg"]
    done = await run(service, admin, workflow, {"items": items})
    assert done["status"] == "completed", done
    assert done["output"] == "b"
    results = by_node(done)["loop"]["output"]
    assert (results["count"], results["failed"]) == (7, 0)
    assert [one["value"] for one in results["results"]] == list("abcdefg")
    assert sorted(one["item"] for one in done["nodes"] if one["item"] is not None) == list(range(7))
    assert (await run(service, admin, workflow, {"items": []}))["status"] == "completed"
    wrong = await run(service, admin, workflow, {"items": "no list"})
    assert (wrong["status"], wrong["error"]["code"], wrong["error"]["node_id"]) == (
        "failed",
        "invalid_items",
        "loop",
    )


async def test_failures_fail_the_run_or_go_on_or_branch_off(service: Service, admin: Api) -> None:
    broken = {"table_id": "{{input.table}}", "operation": "insert", "values": {}}
    wanted = {
        "fail": ("failed", {"a": "failed"}),
        "continue": ("completed", {"a": "failed", "next": "completed", "rescue": "skipped"}),
        "branch": ("completed", {"a": "failed", "next": "skipped", "rescue": "completed"}),
        None: ("completed", {"a": "failed", "next": "skipped", "rescue": "completed"}),
    }
    for on_error, (status, nodes) in wanted.items():
        workflow = await make_workflow(
            admin,
            node("a", "data_table", **broken, **({"on_error": on_error} if on_error else {})),
            node("next"),
            node("rescue", set="{{nodes.a.error.code}}"),
            links=["a>next", "a>rescue:error"],
        )
        done = await run(service, admin, workflow, {"table": "tbl_none"})
        assert (done["status"], statuses(done)) == (status, nodes), on_error
        if status == "failed":
            assert done["error"] == {
                "code": "table_not_found", "message": by_node(done)["a"]["error"]["message"], "node_id": "a",
            }  # fmt: skip
        if nodes.get("rescue") == "completed":
            assert by_node(done)["rescue"]["output"] == "table_not_found"


async def test_a_delay_waits_without_holding_a_place(
    service: Service, admin: Api, clock: ManualClock
) -> None:
    workflow = await make_workflow(
        admin, node("wait", "delay", seconds="{{input.s}}"), node("after"), links=["wait>after"]
    )
    id = await start(admin, workflow, {"s": 600})
    await service.runner.drain()
    assert (await execution(admin, workflow, id))["status"] == "waiting"
    clock.advance(300)
    await service.runner.drain()
    assert (await execution(admin, workflow, id))["status"] == "waiting"
    clock.advance(310)
    await service.runner.drain()
    done = await execution(admin, workflow, id)
    assert (done["status"], statuses(done)) == ("completed", {"wait": "completed", "after": "completed"})
    for bad in ("soon", -1, 1e12, None):
        ended = await run(service, admin, workflow, {"s": bad})
        assert ended["status"] == ("completed" if bad == -1 else "failed"), bad


async def test_cancelled_and_overdue_runs_end(service: Service, admin: Api, clock: ManualClock) -> None:
    workflow = await make_workflow(
        admin, node("wait", "delay", seconds=600), node("after"), links=["wait>after"],
        settings={"timeout_ms": 300_000},
    )  # fmt: skip
    first, second = await start(admin, workflow), await start(admin, workflow)
    await service.runner.drain()
    path = f"{PATH}/{workflow['id']}/executions/{first}"
    answer = await admin.post(f"{path}/cancel", {})
    assert (answer.status, answer.json()["data"]["status"]) == (200, "cancelled")
    assert (await admin.post(f"{path}/cancel", {})).code == "invalid_transition"
    clock.advance(400)
    await service.runner.drain()
    done = await execution(admin, workflow, second)
    assert (done["status"], done["error"]["code"]) == ("timeout", "timeout")
    assert statuses(done) == {"wait": "cancelled"}
    clock.advance(400)
    await service.runner.drain()
    assert {one["status"] for one in await executions(admin, workflow)} == {"cancelled", "timeout"}
    assert len(await executions(admin, workflow, status="timeout")) == 1
    told = (await admin.get("/api/v1/notifications")).json()["data"]
    assert [one["type"] for one in told] == ["workflow_failed"]


async def writing_workflow(admin: Api) -> tuple[dict[str, Any], str]:
    """Return a workflow that writes a row and then reads the table it is told, and the path of the rows."""
    table = (
        await admin.post("/api/v1/data-tables", {"name": "T", "columns": [{"name": "n", "type": "text"}]})
    ).json()["data"]
    workflow = await make_workflow(
        admin,
        node("write", "data_table", table_id=table["id"], operation="insert", values={"n": "{{input.n}}"}),
        node("read", "data_table", table_id="{{input.other}}", operation="find"),
        node("side", set={"n": 7}),
        node("end", "end", output={"side": "{{nodes.side.output.n}}", "rows": "{{nodes.read.output.count}}"}),
        links=["write>read", "write>side", "read>end", "side>end"],
    )
    return workflow, table["id"]


async def rows_in(admin: Api, table_id: str) -> int:
    return len((await admin.get(f"/api/v1/data-tables/{table_id}/rows")).json()["data"])


async def test_a_failed_run_is_retried_from_the_node_that_failed(service: Service, admin: Api) -> None:
    workflow, table_id = await writing_workflow(admin)
    failed = await run(service, admin, workflow, {"n": "a", "other": "{{nothing}}"})
    assert (failed["status"], failed["error"]["node_id"]) == ("failed", "read")
    path = f"{PATH}/{workflow['id']}/executions/{failed['id']}/retry"
    again = await admin.post(path, {})
    assert (again.status, again.json()["data"]["retry_of"]) == (202, failed["id"])
    await service.runner.drain()
    second = await execution(admin, workflow, again.json()["data"]["execution_id"])
    assert (second["status"], statuses(second)["write"]) == ("failed", "completed")
    assert await rows_in(admin, table_id) == 1, "what was done stays done"
    third = await admin.post(path, {"from_node": "write"})
    await service.runner.drain()
    assert third.status == 202
    assert await rows_in(admin, table_id) == 2, "a node that is named is run again"
    assert (await admin.post(path, {"from_node": "nobody"})).details == {
        "from_node": "is not the id of a node of this version"
    }


async def test_a_completed_run_is_retried_from_a_named_node_only(service: Service, admin: Api) -> None:
    workflow, table_id = await writing_workflow(admin)
    good = await run(service, admin, workflow, {"n": "b", "other": table_id})
    assert good["output"] == {"side": 7, "rows": 1}
    path = f"{PATH}/{workflow['id']}/executions/{good['id']}/retry"
    assert (await admin.post(path, {})).status == 422
    again = await admin.post(path, {"from_node": "side"})
    await service.runner.drain()
    done = await execution(admin, workflow, again.json()["data"]["execution_id"])
    assert (done["status"], done["output"]) == ("completed", {"side": 7, "rows": 1})


async def test_steps_are_tried_again_as_often_as_they_say(
    service: Service, admin: Api, clock: ManualClock
) -> None:
    workflow = await make_workflow(
        admin, node("call", "http", url="http://127.0.0.1:9/", retry={"max": 2, "delay_ms": 5000})
    )
    id = await start(admin, workflow)
    for attempt in (2, 3):
        await service.runner.drain()
        running = await execution(admin, workflow, id)
        assert (running["status"], by_node(running)["call"]["attempt"]) == ("running", attempt)
        clock.advance(6)
    await service.runner.drain()
    done = await execution(admin, workflow, id)
    assert (done["status"], done["error"]["code"]) == ("failed", "network_error")
    assert by_node(done)["call"]["attempt"] == 3


async def test_wait_answers_with_the_whole_execution(service: Service, admin: Api) -> None:
    workflow = await make_workflow(admin, node("a", set={"x": 1}))
    async with at_work(service):
        answer = await execute(admin, workflow, wait=10)
    assert answer.status == 200, answer
    assert answer.json()["data"]["output"] == {"x": 1}
    answer = await execute(admin, workflow, wait=0.05)
    data: dict[str, Any] = answer.json()["data"]
    assert (answer.status, data["status"], data["workflow_id"]) == (202, "pending", workflow["id"])


async def test_a_run_that_was_asked_for_with_a_key_is_started_once_whatever_fails(
    service: Service, admin: Api
) -> None:
    workflow = await make_workflow(admin, node("a"))
    path = f"{PATH}/{workflow['id']}/execute"
    for hit in (2, 3):
        key = {"Idempotency-Key": f"key-{hit}"}
        failpoints.arm(f"before_commit:{hit}:error")
        try:
            first = await admin.request("POST", path, json={}, headers=key)
        finally:
            failpoints.arm("")
        again = await admin.request("POST", path, json={}, headers=key)
        assert (first.status, again.status) in {(500, 202), (202, 202)}
        assert len(await executions(admin, workflow)) == hit - 1
