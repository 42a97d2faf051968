"""Tests of the try of one node: it acts for real, alone, with given results in place of other nodes."""

from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from tests.client import Api, Response
from tests.factories.happenings import events
from tests.factories.notifications import titles_of
from tests.factories.people import People
from tests.factories.workflows import PATH, by_node, execution, executions, make_workflow, node
from tests.services import at_work
from tests.tools.servers.rest_api import RestApi

Json = dict[str, Any]


async def _try(api: Api, workflow: Json, tried: Json, **more: Any) -> Response:
    return await api.post(f"{PATH}/{workflow['id']}/nodes/try", {"node": tried, **more})


async def _result(service: Service, api: Api, workflow: Json, tried: Json, **more: Any) -> Json:
    """Try the node without waiting, work until nothing is due, and return the execution."""
    answer = await _try(api, workflow, tried, **{"wait": 0, **more})
    assert answer.status == 202, answer
    await service.runner.drain()
    return await execution(api, workflow, answer.json()["data"]["execution_id"])


async def test_an_unsaved_node_runs_with_what_it_is_given(service: Service, admin: Api) -> None:
    workflow = await make_workflow(admin, node("look"), status="draft")
    tried = node("sum", set={"said": "{{input.word}}", "city": "{{nodes.look.output.city}}"})
    given = {"look": {"city": "Paris"}, "unsaved": [1]}
    done = await _result(service, admin, workflow, tried, input={"word": "Hi"}, outputs=given)
    assert (done["status"], done["trigger"]) == ("completed", "try")
    assert done["output"] == {"said": "Hi", "city": "Paris"}
    assert {id: one["output"] for id, one in by_node(done).items()} == {**given, "sum": done["output"]}
    stored = (await admin.get(f"{PATH}/{workflow['id']}")).json()["data"]
    assert ([one["id"] for one in stored["nodes"]], stored["status"]) == (["look"], "draft")


async def test_the_answer_holds_the_result_if_it_comes_in_time(
    service: Service, admin: Api, remote: RestApi
) -> None:
    workflow = await make_workflow(admin, node("a"))
    async with at_work(service):
        answer = await _try(admin, workflow, node("call", "http", url=f"{remote.url}/echo"))
    assert answer.status == 200
    assert answer.json()["data"]["output"]["status_code"] == 200


async def test_a_try_is_no_run_of_the_workflow(service: Service, admin: Api, people: People) -> None:
    workflow = await make_workflow(admin, node("a"))
    done = await _result(service, admin, workflow, node("b"))
    stored = (await admin.get(f"{PATH}/{workflow['id']}")).json()["data"]
    assert (stored["version"], stored["stats"]) == (1, workflow["stats"])
    assert [one["id"] for one in await executions(admin, workflow)] == [done["id"]]
    versions = (await admin.get(f"{PATH}/{workflow['id']}/versions")).json()["data"]
    assert [one["version"] for one in versions] == [1]
    told = [await events(people, f"workflow.execution.{name}") for name in ("started", "completed", "failed")]
    assert (told, await events(people, "workflow.execution.node_completed")) == ([[], [], []], [])
    assert await executions(admin, workflow, trigger="manual") == []
    assert len(await executions(admin, workflow, trigger="try")) == 1


async def test_a_failure_is_shown_and_neither_repeated_nor_announced(
    service: Service, admin: Api, remote: RestApi
) -> None:
    remote.answers = [(500, {}, b""), (200, {}, b"")]
    workflow = await make_workflow(admin, node("a"))
    tried = node(
        "call", "http", url=f"{remote.url}/scripted", retry={"max": 2, "delay_ms": 0}, on_error="continue"
    )
    done = await _result(service, admin, workflow, tried)
    assert (done["status"], done["error"]["node_id"]) == ("failed", "call")
    assert by_node(done)["call"]["attempt"] == 1
    assert await titles_of(admin) == []


async def test_a_loop_and_a_sub_workflow_are_tried_as_a_whole(service: Service, admin: Api) -> None:
    inner = await make_workflow(admin, node("say", set={"said": "{{input.word}}"}))
    workflow = await make_workflow(admin, node("a"))
    body = {"type": "sub_workflow", "config": {"workflow_id": inner["id"], "input": {"word": "{{item}}"}}}
    done = await _result(
        service,
        admin,
        workflow,
        node("each", "loop", items="{{nodes.a.output}}", node=body),
        outputs={"a": ["x", "y"]},
    )
    assert done["status"] == "completed", done
    assert len([one for one in done["nodes"] if one["item"] is not None]) == 2


async def test_a_given_result_is_neither_the_output_nor_repeated(service: Service, admin: Api) -> None:
    workflow = await make_workflow(admin, node("end", "end", output=1))
    tried = node("t", set={"got": "{{nodes.end.output}}"})
    done = await _result(service, admin, workflow, tried, outputs={"end": 7})
    assert done["output"] == {"got": 7}
    retry = f"{PATH}/{workflow['id']}/executions/{done['id']}/retry"
    refused = await admin.post(retry, {"from_node": "end"})
    assert (refused.status, list(refused.details)) == (422, ["from_node"])
    assert (await admin.post(retry, {"from_node": "t"})).status == 202


async def test_a_key_that_no_node_has_is_warned_about(admin: Api) -> None:
    workflow = await make_workflow(admin, node("a"))
    strict = {"Prefer": "handling=strict"}
    unknown = {**node("b"), "bogus": 2}
    path = f"{PATH}/{workflow['id']}/nodes/try"
    answer = await admin.post(path, {"node": unknown, "wait": 0})
    assert (answer.status, answer.json()["warnings"]) == (202, ["ignored_field:node.bogus"])
    assert (await admin.post(path, {"node": unknown, "wait": 0}, headers=strict)).status == 422
    checked = await admin.post(f"{PATH}/validate", {"nodes": [unknown]}, headers=strict)
    assert (checked.status, list(checked.details)) == (422, ["nodes.0.bogus"])


async def test_a_repeated_request_runs_the_node_once(service: Service, admin: Api) -> None:
    workflow = await make_workflow(admin, node("a"))
    path, body = f"{PATH}/{workflow['id']}/nodes/try", {"node": node("b"), "wait": 0}
    first, second = [await admin.post(path, body, headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert first.json() == second.json()
    assert len(await executions(admin, workflow)) == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"node": {"id": "a"}}, "node.type"),
        ({"node": {"type": "transform"}}, "node.id"),
        ({"node": node("a", "magic")}, "node.type"),
        ({"node": node("a", set=1, sett=2)}, "node.config.sett"),
        ({"node": node("a", "tool", tool_id="tool_gone")}, "node.config.tool_id"),
        ({"node": node("a", "condition", field="input.x", operator="equals")}, "node.config.value"),
        ({"node": node("a"), "outputs": {"a": 1}}, "outputs.a"),
        ({"node": {"id": ["a"], "type": "transform"}, "outputs": {"a": 1}}, "node.id"),
        ({"node": node("a"), "outputs": {"b" * 65: 1}}, None),
        ({"node": node("a"), "outputs": {"my node": 1}}, None),
        ({"node": node("a"), "outputs": {"": 1}}, None),
        ({"node": "a"}, "node"),
        ({}, "node"),
        ({"node": node("a"), "wait": 61}, "wait"),
    ],
)
async def test_what_cannot_run_is_named(admin: Api, body: Json, field: str | None) -> None:
    workflow = await make_workflow(admin, node("a"))
    answer = await admin.post(f"{PATH}/{workflow['id']}/nodes/try", body)
    assert (answer.status, answer.code) == (422, "validation_error")
    if field is not None:
        assert field in answer.json()["error"]["details"]
    assert await executions(admin, workflow) == []


async def test_only_who_may_change_and_run_workflows_may_try(admin: Api, people: People) -> None:
    workflow = await make_workflow(admin, node("a"))
    viewer, developer = [await people.signed_in(role) for role in (Role.viewer, Role.agent_developer)]
    assert (await _try(viewer, workflow, node("b"), wait=0)).status == 403
    assert (await _try(developer, workflow, node("b"), wait=0)).status == 202
    rights = {"permissions": ["workflows:read", "workflows:execute"]}
    assert (await admin.put("/roles/viewer/permissions", rights)).status == 200
    assert (await _try(viewer, workflow, node("b"), wait=0)).status == 403
