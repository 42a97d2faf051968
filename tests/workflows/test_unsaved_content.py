"""Tests of the check of nodes and edges that are not saved."""

from typing import Any

import pytest

from retinue.access.models import Role
from retinue.workflows.models import Workflow, WorkflowVersion
from tests.client import Api
from tests.factories.people import People
from tests.factories.workflows import PATH, edges, make_workflow, node

CHECK = f"{PATH}/validate"
Json = dict[str, Any]


async def _problems(api: Api, nodes: Any, links: Any = ()) -> list[tuple[str | None, str]]:
    answer = await api.post(CHECK, {"nodes": nodes, "edges": links})
    assert answer.status == 200, answer
    found = answer.json()["data"]
    assert found["valid"] == (not found["errors"])
    return [(one["node_id"], one["path"]) for one in found["errors"]]


async def test_content_without_problems_is_valid(admin: Api) -> None:
    assert await _problems(admin, [node("a"), node("b")], edges("a>b")) == []
    answer = await admin.post(CHECK, {})
    assert answer.json() == {"data": {"valid": True, "errors": []}}


@pytest.mark.parametrize(
    ("nodes", "links", "expected"),
    [
        ([node("a", "tool", tool_id="tool_gone")], (), [("a", "nodes.a.config.tool_id")]),
        ([{"id": "a"}], (), [("a", "nodes.a.type")]),
        ([{"id": "a", "type": "magic"}], (), [("a", "nodes.a.type")]),
        ([{"type": "transform"}], (), [(None, "nodes.0.id")]),
        ([node("a"), node("a")], (), [("a", "nodes.a.id")]),
        ([node("a", set=1, sett=2)], (), [("a", "nodes.a.config.sett")]),
        ([node("a")], edges("a>b"), [(None, "edges.0.to")]),
        ([node("a"), node("b")], edges("a>b", "b>a"), [(None, "edges")]),
        ([{"id": 7, "type": ["x"], "config": 1}], [{"from": None}], None),
    ],
)
async def test_problems_name_the_node_and_the_path(
    admin: Api, nodes: list[Json], links: list[Json], expected: list[Any] | None
) -> None:
    found = await _problems(admin, nodes, links)
    assert found
    if expected is not None:
        assert found == expected


async def test_unsaved_content_has_the_problems_of_the_saved(admin: Api) -> None:
    nodes = [
        node("ask", "agent", message="Hello"),
        node("loop", "loop", items=[], node={"type": "tool", "config": {"tool_id": "tool_gone"}}),
        node("sub", "sub_workflow", workflow_id="wf_gone"),
    ]
    links = [{"from": "ask", "to": "nobody"}]
    draft = await make_workflow(admin, *nodes, status="draft")
    path = f"{PATH}/{draft['id']}"
    assert (await admin.put(path, {"edges": links})).status == 200
    saved = (await admin.post(f"{path}/validate", {})).json()
    unsaved = (await admin.post(CHECK, {"nodes": nodes, "edges": links})).json()
    assert unsaved == saved
    assert len(saved["data"]["errors"]) == 4


async def test_nothing_is_stored(admin: Api, people: People) -> None:
    await _problems(admin, [node("a")])
    async with people.context(admin.user.tenant_id) as ctx:
        assert (await ctx.db.count(Workflow), await ctx.db.count(WorkflowVersion)) == (0, 0)


@pytest.mark.parametrize("body", [{"nodes": {}}, {"nodes": [1]}, {"edges": "a>b"}, {"nodes": [{}] * 501}])
async def test_what_is_no_list_of_objects_is_refused(admin: Api, body: Json) -> None:
    answer = await admin.post(CHECK, body)
    assert (answer.status, answer.code) == (422, "validation_error")


async def test_only_who_may_change_workflows_may_ask(people: People) -> None:
    viewer = await people.signed_in(Role.viewer)
    assert (await viewer.post(CHECK, {"nodes": []})).status == 403


async def test_nothing_of_another_tenant_is_seen(admin: Api, people: People) -> None:
    inner = await make_workflow(admin, node("a"))
    content = [node("sub", "sub_workflow", workflow_id=inner["id"])]
    assert await _problems(admin, content) == []
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    assert await _problems(stranger, content) == [("sub", "nodes.sub.config.workflow_id")]
