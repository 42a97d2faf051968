"""Nodes that only shape or decide are run with the node before them, in its transaction."""

from itertools import pairwise
from typing import Any

import msgspec
import pytest

from retinue.app import Service
from retinue.kit.context import Context
from retinue.workflows.engine.node_type import NODE_TYPES, NodeCompleted, NodeStep
from tests.chat.listening import Listener
from tests.client import Api
from tests.factories.workflows import (
    PATH,
    by_node,
    execution,
    make_workflow,
    node,
    run,
    start,
    statuses,
)
from tests.tools.servers.rest_api import RestApi


async def _chain(api: Api, length: int) -> dict[str, Any]:
    nodes = [node("n0", set={"n": 0})]
    nodes += [node(f"n{at}", set={"n": f"{{{{nodes.n{at - 1}.output.n}}}}-{at}"}) for at in range(1, length)]
    return await make_workflow(api, *nodes, links=[f"{a['id']}>{b['id']}" for a, b in pairwise(nodes)])


async def _jobs_of(service: Service, api: Api, workflow: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    id = await start(api, workflow)
    return await service.runner.drain(), await execution(api, workflow, id)


async def test_a_chain_is_one_job_and_every_node_has_its_record_and_event(
    service: Service, admin: Api
) -> None:
    alone, _ = await _jobs_of(service, admin, await _chain(admin, 1))
    chain = await _chain(admin, 5)
    jobs, done = await _jobs_of(service, admin, chain)
    assert jobs == alone
    assert done["output"] == {"n": "0-1-2-3-4"}
    assert [(run["node_id"], run["status"], run["attempt"]) for run in done["nodes"]] == [
        (f"n{at}", "completed", 1) for at in range(5)
    ]
    trace = await admin.get(f"/api/v1/event-log/trace/{done['correlation_id']}")
    told = [one["data"] for one in trace.json()["data"] if one["type"].endswith("node_completed")]
    assert [one["node_id"] for one in told] == [f"n{at}" for at in range(5)]
    # So long that others would wait for it: the rest goes on in a job of its own.
    jobs, done = await _jobs_of(service, admin, await _chain(admin, 60))
    assert jobs == alone + 1
    assert (done["status"], len(done["nodes"])) == ("completed", 60)
    assert done["output"]["n"].endswith("-58-59")


async def test_a_node_that_does_something_has_a_transaction_of_its_own(
    service: Service, admin: Api, table: dict[str, Any]
) -> None:
    write = {"table_id": table["id"], "operation": "insert"}
    workflow = await make_workflow(
        admin,
        node("a", "data_table", **write, values={"name": "kept"}),
        node("b", set={"name": "{{nodes.a.output.row.name}}"}),
        node("wrong", "data_table", **write, values={"n": "{{nodes.b.output.name}}"}, on_error="continue"),
        node("c", set="{{nodes.wrong.error.code}}"),
        links=["a>b", "b>wrong", "wrong>c"],
    )
    done = await run(service, admin, workflow)
    assert statuses(done) == {"a": "completed", "b": "completed", "wrong": "failed", "c": "completed"}
    assert done["output"] == "validation_error"
    rows = (await admin.get(f"/api/v1/data-tables/{table['id']}/rows")).json()["data"]
    assert [row["name"] for row in rows] == ["kept"]


async def test_a_failure_within_a_chain_is_handled_where_it_happened(service: Service, admin: Api) -> None:
    workflow = await make_workflow(
        admin,
        node("a"),
        node("kind", "switch", value=1, cases="{{input.cases}}"),
        node("rescue", set="{{nodes.kind.error.code}}"),
        node("next"),
        links=["a>kind", "kind>next", "kind>rescue:error"],
    )
    done = await run(service, admin, workflow, {"cases": [1]})
    assert statuses(done) == {
        "a": "completed",
        "kind": "failed",
        "rescue": "completed",
        "next": "skipped",
    }
    assert by_node(done)["rescue"]["output"] == "invalid_config"
    assert statuses(await run(service, admin, workflow, {"cases": []}))["next"] == "completed"


async def test_a_loop_whose_numbers_are_none_says_so(service: Service, admin: Api) -> None:
    repeated = {"type": "transform", "config": {"set": "{{item}}"}}
    workflow = await make_workflow(
        admin, node("loop", "loop", items=[1, 2], max="{{input.max}}", node=repeated)
    )
    done = await run(service, admin, workflow, {"max": "many"})
    assert (done["status"], done["error"]["code"]) == ("failed", "invalid_config")
    assert (await run(service, admin, workflow, {"max": 2}))["status"] == "completed"
    assert (await run(service, admin, workflow, {"max": 1}))["error"]["code"] == "too_many_items"


async def test_what_breaks_within_a_chain_does_not_repeat_the_nodes_before_it(
    service: Service, admin: Api, remote: RestApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of ours, planted: the call before it is not made again."""
    broken = True

    async def breaks_once(_: Context, step: NodeStep) -> NodeCompleted:
        nonlocal broken
        if broken:
            broken = False
            raise ZeroDivisionError
        return NodeCompleted(step.config["set"])

    planted = msgspec.structs.replace(NODE_TYPES["transform"], run=breaks_once)
    monkeypatch.setitem(NODE_TYPES, "transform", planted)
    workflow = await make_workflow(
        admin, node("call", "http", url=f"{remote.url}/echo"), node("after"), links=["call>after"]
    )
    before = len(remote.seen)
    done = await run(service, admin, workflow)
    assert done["status"] == "completed", done
    assert not broken
    assert len(remote.seen) == before + 1


async def test_those_who_watch_see_every_node_of_a_chain_begin_and_end(service: Service, admin: Api) -> None:
    workflow = await _chain(admin, 3)
    done = await run(service, admin, workflow)
    path = f"{PATH}/{workflow['id']}/executions/{done['id']}/stream"
    watching = Listener(admin, path, method="GET")
    await watching.until("execution_completed")
    assert [(one.event, one.data.get("node_id")) for one in watching.events[1:-1]] == [
        (name, f"n{at}") for at in range(3) for name in ("node_started", "node_completed")
    ]
