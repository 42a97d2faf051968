"""Drafts: changes of a workflow are saved and published as a whole, while the workflow stays as it is."""

from typing import Any

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.text.header_masks import MASK
from tests.client import Api, Response
from tests.factories.happenings import only_event
from tests.factories.people import People
from tests.factories.workflows import PATH, edges, execute, make_workflow, node, run

Json = dict[str, Any]


def path_of(workflow: Json) -> str:
    return f"{PATH}/{workflow['id']}/draft"


async def save(api: Api, workflow: Json, tag: str | None = None, **content: Any) -> Response:
    headers = {"If-Match": tag} if tag else {}
    return await api.put(path_of(workflow), {"content": content}, headers=headers)


async def read(api: Api, workflow: Json) -> Json:
    return (await api.get(f"{PATH}/{workflow['id']}")).json()["data"]


async def publish(api: Api, workflow: Json, **body: Any) -> Response:
    return await api.post(f"{PATH}/{workflow['id']}/publish", {"from_draft": True, **body})


async def test_without_a_stored_draft_the_workflow_itself_is_shown(admin: Api) -> None:
    workflow = await make_workflow(admin, node("a"))
    answer = await admin.get(path_of(workflow))
    assert answer.status == 200
    assert answer.headers["etag"].startswith('"')
    draft = answer.json()["data"]
    content = draft.pop("content")
    assert draft == {
        "workflow_id": workflow["id"],
        "is_stored": False,
        "is_changed": False,
        "is_outdated": False,
        "updated_at": None,
        "updated_by": None,
    }
    assert content == {name: workflow[name] for name in content}


async def test_a_saved_draft_changes_nothing_that_runs(admin: Api, people: People) -> None:
    workflow = await make_workflow(admin, node("a"))
    before = await read(admin, workflow)
    draft = (await save(admin, workflow, nodes=[node("a"), node("b")], name="Longer")).json()["data"]
    assert (draft["is_stored"], draft["is_changed"], draft["is_outdated"]) == (True, True, False)
    assert [one["id"] for one in draft["content"]["nodes"]] == ["a", "b"]
    assert draft["content"]["edges"] == before["edges"]
    assert await read(admin, workflow) == before
    assert (await only_event(people, "system.workflow_draft.saved"))["workflow_id"] == workflow["id"]


async def test_publishing_the_draft_makes_one_version_and_ends_it(admin: Api, service: Service) -> None:
    workflow = await make_workflow(admin, node("a"))
    await save(admin, workflow, nodes=[node("a"), node("b")])
    await save(admin, workflow, edges=edges("a>b"))
    state = (await publish(admin, workflow)).json()["data"]
    assert (state["status"], state["version"]) == ("published", 2)
    assert not (await admin.get(path_of(workflow))).json()["data"]["is_stored"]
    assert {one["node_id"] for one in (await run(service, admin, workflow))["nodes"]} == {"a", "b"}


async def test_a_workflow_that_was_never_published_is_published_with_its_draft(admin: Api) -> None:
    workflow = await make_workflow(admin, node("a"), status="draft")
    await save(admin, workflow, name="Ready")
    assert (await publish(admin, workflow)).json()["data"]["status"] == "published"
    assert (await read(admin, workflow))["name"] == "Ready"
    assert (await execute(admin, workflow)).status == 202


async def test_a_draft_may_be_incomplete_until_it_is_published(admin: Api) -> None:
    workflow = await make_workflow(admin, node("a"))
    assert (await save(admin, workflow, nodes=[{"id": "a", "type": "agent", "config": {}}])).status == 200
    refused = await publish(admin, workflow)
    assert refused.status == 422
    assert "nodes.a.config.agent_id" in refused.details
    assert (await admin.get(path_of(workflow))).json()["data"]["is_stored"]
    assert (await read(admin, workflow))["version"] == 1


async def test_a_change_beside_the_draft_is_not_undone_unasked(admin: Api) -> None:
    workflow = await make_workflow(admin, node("a"))
    await save(admin, workflow, name="Drafted")
    await admin.put(f"{PATH}/{workflow['id']}", {"description": "Written meanwhile."})
    assert (await admin.get(path_of(workflow))).json()["data"]["is_outdated"]
    refused = await publish(admin, workflow)
    assert (refused.status, refused.code) == (412, "version_conflict")
    assert (await publish(admin, workflow, force=True)).status == 200
    now = await read(admin, workflow)
    assert (now["name"], now["description"]) == ("Drafted", "")


async def test_of_two_who_edit_the_draft_the_second_is_told(admin: Api) -> None:
    workflow = await make_workflow(admin, node("a"))
    seen = (await admin.get(path_of(workflow))).headers["etag"]
    first = await save(admin, workflow, seen, name="First")
    assert first.status == 200
    refused = await save(admin, workflow, seen, name="Second")
    assert (refused.status, refused.code) == (412, "version_conflict")
    assert (await save(admin, workflow, first.headers["etag"], name="Second")).status == 200


async def test_a_discarded_draft_is_gone_and_discarding_again_succeeds(admin: Api, people: People) -> None:
    workflow = await make_workflow(admin, node("a"))
    await save(admin, workflow, name="Drafted")
    for _ in range(2):
        assert (await admin.delete(path_of(workflow))).status == 204
    assert (await admin.get(path_of(workflow))).json()["data"]["content"]["name"] == "Flow"
    refused = await publish(admin, workflow)
    assert (refused.status, refused.code) == (404, "draft_not_found")
    assert (await only_event(people, "system.workflow_draft.discarded"))["name"] == "Flow"


async def test_values_of_headers_stay_hidden_and_survive_being_sent_back(admin: Api, people: People) -> None:
    secret = node("a", "tool", tool_id="tool_x", input={"headers": {"Authorization": "Bearer s3cret"}})
    workflow = await make_workflow(admin, secret, status="draft")
    viewer = await people.signed_in(Role.viewer, await people.default_tenant())
    shown = (await viewer.get(path_of(workflow))).json()["data"]["content"]["nodes"]
    assert shown[0]["config"]["input"]["headers"] == {"Authorization": MASK}
    await save(admin, workflow, nodes=shown)
    stored = (await admin.get(path_of(workflow))).json()["data"]
    assert stored["content"]["nodes"][0]["config"]["input"]["headers"] == {"Authorization": "Bearer s3cret"}
    assert not stored["is_changed"]


async def test_moving_a_node_beside_a_draft_asks_nobody(admin: Api) -> None:
    workflow = await make_workflow(admin, node("a"))
    await save(admin, workflow, name="Drafted")
    assert (await admin.put(f"{PATH}/{workflow['id']}", {"ui": {"a": 1}})).status == 200
    assert not (await admin.get(path_of(workflow))).json()["data"]["is_outdated"]
    assert (await publish(admin, workflow)).status == 200
