"""Workflows are written, checked, published in versions, listed, copied, batched and deleted."""

from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from tests.client import Api
from tests.factories.agents import make_agent
from tests.factories.tools import make_tool
from tests.factories.workflows import PATH, edges, execute, execution, make_workflow, node, run, start

BATCH = "/v1/workflows/batch"


async def test_a_new_workflow_is_a_draft_without_nodes(admin: Api) -> None:
    answer = await admin.post(PATH, {"name": "Leads"})
    assert answer.status == 201
    made = answer.json()["data"]
    assert made == {
        "id": made["id"], "name": "Leads", "description": "", "status": "draft", "version": 1,
        "trigger": {"type": "manual", "config": {}}, "nodes": [], "edges": [], "input_schema": None,
        "settings": {"timeout_ms": None, "max_concurrency": None, "on_failure_channel_id": None},
        "ui": {},
        "stats": {"executions": 0, "success_rate": 0.0}, "created_by": admin.user.id,
        "created_at": made["created_at"], "updated_at": made["updated_at"], "published_at": None,
    }  # fmt: skip


async def test_a_draft_may_be_unfinished_and_is_not_executed(admin: Api) -> None:
    made = await make_workflow(admin, status="draft", name="Leads")
    path = f"{PATH}/{made['id']}"
    body = {"description": "d", "nodes": [node("a"), {"id": "half"}], "input_schema": {"type": "object"}}
    changed = (await admin.put(path, body)).json()["data"]
    assert (changed["description"], len(changed["nodes"]), changed["version"]) == ("d", 2, 1)
    assert (await admin.put(path, {"input_schema": {"type": "nonsense"}})).details.keys() == {"input_schema"}
    assert (await admin.put(path, {"name": ""})).details == {"name": "must not be empty"}
    assert (await execute(admin, made)).code == "workflow_not_published"
    assert (await admin.put(path, {"nodes": [node("a")], "edges": [], "status": "published"})).status == 200


async def test_a_copy_is_a_draft_and_workflows_are_listed_by_status_and_name(admin: Api) -> None:
    made = await make_workflow(admin, node("a"), name="Leads")
    copy = (await admin.post(f"{PATH}/{made['id']}/duplicate", {})).json()["data"]
    assert (copy["name"], copy["status"], copy["nodes"]) == ("Leads (copy)", "draft", [node("a")])
    assert [one["id"] for one in (await admin.get(PATH, query={"status": "draft"})).json()["data"]] == [
        copy["id"]
    ]
    found = (await admin.get(PATH, query={"search": "lead", "sort": "name"})).json()["data"]
    assert [one["id"] for one in found] == [made["id"], copy["id"]]
    assert (await admin.get(PATH, query={"sort": "nodes"})).details.keys() == {"sort"}


async def test_a_deleted_workflow_is_not_found_and_its_run_is_cancelled(service: Service, admin: Api) -> None:
    made = await make_workflow(admin, node("a"), status="draft")
    path = f"{PATH}/{made['id']}"
    await admin.put(path, {"description": "d"})
    await admin.post(f"{path}/publish", {})
    id = await start(admin, made)
    assert (await admin.delete(path)).status == 204
    assert (await admin.get(path)).code == "workflow_not_found"
    await service.runner.drain()
    assert (await admin.get(f"{path}/executions/{id}")).code == "workflow_not_found"
    told = (await admin.get("/api/v1/event-log", query={"category": "workflow", "per_page": 100})).json()[
        "data"
    ]
    assert {one["type"] for one in told} == {
        "workflow.created", "workflow.updated", "workflow.published", "workflow.deleted",
        "workflow.execution.started", "workflow.execution.failed",
    }  # fmt: skip
    cancelled = next(one for one in told if one["type"] == "workflow.execution.failed")
    assert cancelled["data"]["status"] == "cancelled"


async def test_states_follow_each_other_like_those_of_forms(admin: Api) -> None:
    workflow = await make_workflow(admin, node("a"), status="draft")
    path = f"{PATH}/{workflow['id']}"
    for action, status, state in (
        ("publish", 200, "published"), ("publish", 200, "published"), ("unpublish", 200, "draft"),
        ("unpublish", 200, "draft"), ("archive", 200, "archived"), ("archive", 200, "archived"),
        ("publish", 409, "archived"), ("unpublish", 200, "draft"), ("publish", 200, "published"),
    ):  # fmt: skip
        answer = await admin.post(f"{path}/{action}", {})
        assert answer.status == status, (action, answer)
        current = (await admin.get(path)).json()["data"]
        assert current["status"] == state, action
        if status == 200:
            shown = answer.json()["data"]
            assert shown == {
                name: current[name] for name in ("id", "status", "version", "published_at", "updated_at")
            }
        else:
            assert answer.details == {"from": "archived", "to": "published", "allowed": ["draft"]}
    assert current["version"] == 1, "nothing was changed in between"


async def test_what_runs_keeps_its_version(service: Service, admin: Api) -> None:
    workflow = await make_workflow(
        admin, node("wait", "delay", seconds=60), node("b", set=1), links=["wait>b"]
    )
    path = f"{PATH}/{workflow['id']}"
    id = await start(admin, workflow)
    await service.runner.drain()
    answer = await admin.put(path, {"nodes": [node("b", set=2)], "edges": []})
    assert (answer.status, answer.json()["data"]["version"]) == (200, 2)
    assert (await run(service, admin, workflow))["output"] == 2
    service.instance.clock.advance(61)  # type: ignore[attr-defined]
    await service.runner.drain()
    old = await execution(admin, workflow, id)
    assert (old["version"], old["status"], old["output"]) == (1, "completed", 1)


async def test_a_change_of_a_published_workflow_is_a_new_version(admin: Api) -> None:
    path = f"{PATH}/{(await make_workflow(admin, node('wait', 'delay', seconds=60)))['id']}"
    await admin.put(path, {"nodes": [node("b", set=2)]})
    bad = await admin.put(path, {"nodes": [node("b", "nonsense")]})
    assert bad.details.keys() == {"nodes.b.type"}
    same = await admin.put(path, {"nodes": [node("b", set=2)]})
    assert same.json()["data"]["version"] == 2, "nothing new"
    versions = (await admin.get(f"{path}/versions")).json()
    assert [one["version"] for one in versions["data"]] == [2, 1]
    assert (await admin.get(f"{path}/versions/1")).json()["data"]["nodes"][0]["id"] == "wait"
    assert (await admin.get(f"{path}/versions/7")).code == "version_not_found"


async def test_a_draft_makes_a_version_when_it_is_published_and_not_when_it_is_tried(
    service: Service, admin: Api
) -> None:
    workflow = await make_workflow(admin, node("b", set=1))
    path = f"{PATH}/{workflow['id']}"
    await admin.put(path, {"nodes": [node("b", set=2)]})
    await admin.post(f"{path}/unpublish", {})
    await admin.put(path, {"nodes": [node("b", set=3)]})
    assert (await admin.get(path)).json()["data"]["version"] == 2, "a draft makes no version"
    assert (await execute(admin, workflow)).code == "workflow_not_published"
    trial = await admin.post(f"{path}/execute?draft=true", {})
    await service.runner.drain()
    assert (await execution(admin, workflow, trial.json()["data"]["execution_id"]))["output"] == 3
    await admin.post(f"{path}/publish", {})
    assert (await admin.get(path)).json()["data"]["version"] == 3
    assert len((await admin.get(f"{path}/versions")).json()["data"]) == 3, "a trial is not listed"


PROBLEMS: list[tuple[dict[str, Any], set[str]]] = [
    ({"nodes": [node("a"), node("a")]}, {"nodes.a.id"}),
    ({"nodes": [{"type": "transform"}]}, {"nodes.0.id"}),
    ({"nodes": [{"id": "a b", "type": "transform"}]}, {"nodes.a b.id"}),
    ({"nodes": [{"id": "a"}]}, {"nodes.a.type"}),
    ({"nodes": [node("a", "no_such")]}, {"nodes.a.type"}),
    ({"nodes": [node("a", "tool")]}, {"nodes.a.config.tool_id"}),
    ({"nodes": [node("a", "tool", tool_id="tool_none")]}, {"nodes.a.config.tool_id"}),
    ({"nodes": [node("a", "tool", tool_id="{{input.tool}}", input="{{input}}")]}, set()),
    ({"nodes": [node("a", "tool", tool_id="{{input.tool}}", input=3)]}, {"nodes.a.config.input"}),
    ({"nodes": [node("a", "agent", agent_id="agt_x", message="m")]}, {"nodes.a.config.agent_id"}),
    ({"nodes": [node("a", "agent", agent_id="{{input.x}}")]}, {"nodes.a.config.message"}),
    ({"nodes": [node("a", "data_table", table_id="tbl_x", operation="find")]}, {"nodes.a.config.table_id"}),
    ({"nodes": [node("a", "data_table", table_id="{{x}}", operation="drop")]}, {"nodes.a.config.operation"}),
    ({"nodes": [node("a", "data_table", table_id="{{x}}", operation="delete")]}, {"nodes.a.config.filter"}),
    ({"nodes": [node("a", "data_table", table_id="{{x}}", operation="update")]},
     {"nodes.a.config.row_id", "nodes.a.config.values"}),
    ({"nodes": [node("a", "notification", title="t", channel_id="nch_x")]}, {"nodes.a.config.channel_id"}),
    ({"nodes": [node("a", "notification", title="t", recipients={"roles": ["king"]})]},
     {"nodes.a.config.recipients.roles.0"}),
    ({"nodes": [node("a", "sub_workflow", workflow_id="wf_x")]}, {"nodes.a.config.workflow_id"}),
    ({"nodes": [node("a", "http", url="ftp://x")]}, {"nodes.a.config.url"}),
    ({"nodes": [node("a", "http", url="http://169.254.169.254/")]}, {"nodes.a.config.url"}),
    ({"nodes": [node("a", "emit_event", event_type="Not A Name")]}, {"nodes.a.config.event_type"}),
    ({"nodes": [node("a", "emit_event", event_type="system.user.created")]}, {"nodes.a.config.event_type"}),
    ({"nodes": [node("a", "emit_event", event_type="workflow.published")]}, {"nodes.a.config.event_type"}),
    ({"nodes": [node("a", "condition", field="x", operator="like")]}, {"nodes.a.config.operator"}),
    ({"nodes": [node("a", "switch", value=1, cases=[{}])]}, {"nodes.a.config.cases.0.value"}),
    ({"nodes": [node("a", "delay")]}, {"nodes.a.config"}),
    ({"nodes": [node("a", "loop", items=[], node={"type": "loop"})]}, {"nodes.a.config.node"}),
    ({"nodes": [node("a", "loop", items=[], node={"type": ["tool"]})]}, {"nodes.a.config.node.type"}),
    ({"nodes": [node("a", "loop", items=[], node={"type": "tool", "config": {"tool_id": "x"}})]},
     {"nodes.a.config.node.config.tool_id"}),
    ({"nodes": [node("a", set=1, retry={"max": 99})]}, {"nodes.a.retry.max"}),
    ({"nodes": [node("a", "loop", items=[], node={"type": "end"})]}, {"nodes.a.config.node"}),
    ({"nodes": [node("a", "loop", items=[], node=node("b"), retry={"max": 2})]}, {"nodes.a.retry"}),
    ({"nodes": [node("a", set=1, timeout_ms=0)]}, {"nodes.a.timeout_ms"}),
    ({"nodes": [node("a", set=1, on_error="shrug")]}, {"nodes.a.on_error"}),
    ({"nodes": [node("a")], "edges": edges("a>b")}, {"edges.0.to"}),
    ({"nodes": [node("a")], "edges": [{"to": "a"}]}, {"edges.0.from"}),
    ({"nodes": [node("a"), node("b")],
      "edges": [{"from": "a", "to": "b", "when": {"field": "", "operator": "in"}}]},
     {"edges.0.when.field", "edges.0.when.value"}),
    ({"nodes": [node("a")], "edges": edges("a>a")}, {"edges"}),
    ({"nodes": [node("a"), node("b"), node("c")], "edges": edges("a>b", "b>c", "c>b")}, {"edges"}),
    ({"trigger": {"type": "event", "config": {}}}, {"trigger.config.event_type"}),
    ({"trigger": {"type": "event", "config": {"event_type": "form.*", "filters": {"a": {"?": 1}}}}},
     {"trigger.config.filters.a"}),
    ({"trigger": {"type": "event", "config": {"event_type": 7, "filters": ["a"]}}},
     {"trigger.config.event_type", "trigger.config.filters"}),
    ({"trigger": {"type": "schedule", "config": {"cron": "often"}}}, {"trigger.config.cron"}),
    ({"trigger": {"type": "schedule", "config": {"cron": None, "timezone": 7}}},
     {"trigger.config.cron", "trigger.config.timezone"}),
    ({"trigger": {"type": "schedule", "config": {"cron": "@daily", "timezone": "Mars"}}},
     {"trigger.config.timezone"}),
    ({"settings": {"on_failure_channel_id": "nch_x"}}, {"settings.on_failure_channel_id"}),
]  # fmt: skip


@pytest.mark.either_database
async def test_publishing_says_what_is_wrong_where(admin: Api) -> None:
    wrong = []
    for body, expected in PROBLEMS:
        made = (await admin.post(PATH, {"name": "W", **body})).json()["data"]
        path = f"{PATH}/{made['id']}"
        report = (await admin.post(f"{path}/validate", {})).json()["data"]
        found = {one["path"] for one in report["errors"]}
        answer = await admin.post(f"{path}/publish", {})
        told = set(answer.details) if answer.status == 422 else set()
        if not (found == told == expected and report["valid"] == (not expected)):
            wrong.append((body, found, told, expected))
        for one in report["errors"]:
            assert one["node_id"] == ("a" if one["path"].startswith("nodes.a.") else one["node_id"])
    assert not wrong
    assert (await admin.post(PATH, {"name": "W", "status": "published", "nodes": [{"id": "x"}]})).details == {
        "nodes.x.type": "is required"
    }
    assert (await admin.get(PATH)).json()["pagination"]["total"] == len(PROBLEMS), "nothing was stored"
    types = (await admin.get(f"{PATH}/node-types")).json()["data"]
    assert {one["type"] for one in types} == {
        "agent", "tool", "condition", "switch", "transform", "loop", "parallel", "delay", "approval",
        "notification", "data_table", "http", "emit_event", "sub_workflow", "end",
    }  # fmt: skip


async def test_what_a_published_workflow_uses_knows_of_it(admin: Api) -> None:
    tool, agent = await make_tool(admin), await make_agent(admin)
    table = (await admin.post("/api/v1/data-tables", {"name": "T", "columns": []})).json()["data"]
    workflow = await make_workflow(
        admin,
        node("t", "tool", tool_id=tool["id"]),
        node("d", "data_table", table_id=table["id"], operation="find"),
        node("a", "agent", agent_id=agent["id"], message="hi"),
    )
    refused = await admin.delete(f"/api/v1/data-tables/{table['id']}")
    assert (refused.status, refused.code) == (409, "table_in_use")
    await admin.post(f"{PATH}/{workflow['id']}/unpublish", {})
    assert (await admin.delete(f"/api/v1/data-tables/{table['id']}")).status == 204
    report = (await admin.post(f"{PATH}/{workflow['id']}/validate", {})).json()["data"]
    assert [one["path"] for one in report["errors"]] == ["nodes.d.config.table_id"]


async def test_each_operation_of_a_batch_has_its_own_result(admin: Api) -> None:
    one, two, three = [await make_workflow(admin, node("a"), status="draft", name=str(n)) for n in range(3)]
    answer = await admin.post(BATCH, {"operations": [
        {"op": "create", "data": {"name": "New"}, "ref": "n"},
        {"op": "update", "id": one["id"], "data": {"name": "Renamed"}},
        {"op": "publish", "id": two["id"]},
        {"op": "archive", "id": three["id"]},
        {"op": "publish", "id": three["id"]},
        {"op": "delete", "id": two["id"]},
        {"op": "update", "id": "wf_none", "data": {}},
        {"op": "create", "data": {"name": 7}},
        {"op": "delete"},
    ]})  # fmt: skip
    assert answer.status == 207
    body = answer.json()
    assert [item["status"] for item in body["data"]] == [201, 200, 200, 200, 409, 204, 404, 422, 422]
    assert body["summary"] == {"total": 9, "succeeded": 5, "failed": 4}
    assert body["data"][0]["result"]["name"] == "New"


async def test_an_atomic_batch_with_a_fault_changes_nothing(admin: Api) -> None:
    one = await make_workflow(admin, node("a"), status="draft")
    operations = [{"op": "delete", "id": one["id"]}, {"op": "publish", "id": "wf_none"}]
    refused = await admin.post(BATCH, {"operations": operations, "atomic": True})
    assert (refused.status, refused.code) == (422, "batch_failed")
    assert [item["status"] for item in refused.details["data"]] == [424, 404]
    assert (await admin.get(f"{PATH}/{one['id']}")).status == 200


async def test_a_viewer_reads_workflows_and_neither_changes_nor_executes_them(
    people: Any, admin: Api
) -> None:
    one = await make_workflow(admin, node("a"))
    operations = [{"op": "delete", "id": one["id"]}]
    viewer = await people.signed_in(Role.viewer)
    assert (await viewer.post(BATCH, {"operations": operations})).status == 403
    assert (await viewer.get(f"{PATH}/{one['id']}")).status == 200
    assert (await viewer.post(f"{PATH}/{one['id']}/execute", {})).status == 403
