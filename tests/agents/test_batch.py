"""Many operations in one request."""

from typing import Any

import pytest

from retinue.access.models import Role
from retinue.kit import failpoints
from tests.client import Api, Response
from tests.factories.agents import agent_body, attach_agent, change_agent, make_agent, read_agent, versions_of
from tests.factories.happenings import events

BATCH = "/v1/agents/batch"


async def send_batch(api: Api, *operations: dict[str, Any], **more: Any) -> Response:
    return await api.post(BATCH, {"operations": list(operations), **more})


async def names(api: Api) -> list[str]:
    return sorted(one["name"] for one in (await api.get("/api/v1/agents?per_page=100")).json()["data"])


def create(name: str = "New", **more: Any) -> dict[str, Any]:
    return {"op": "create", "data": agent_body(name=name), **more}


async def send_every_kind(admin: Api, atomic: bool) -> tuple[list[str], Response]:
    """Send one operation of each kind, and return the ids of the agents that were there before as well."""
    ids = [(await make_agent(admin, name=str(number)))["id"] for number in range(4)]
    answer = await send_batch(
        admin,
        create("Made", ref="a"),
        {"op": "update", "id": ids[0], "data": {"name": "Renamed"}, "ref": 7},
        {"op": "delete", "id": ids[1]},
        {"op": "publish", "id": ids[2]},
        {"op": "archive", "id": ids[3]},
        atomic=atomic,
    )
    assert answer.status == 200, answer
    return ids, answer


@pytest.mark.parametrize("atomic", [False, True])
async def test_all_kinds_of_operation_are_carried_out_in_order(admin, atomic: bool) -> None:
    ids, answer = await send_every_kind(admin, atomic)
    body = answer.json()
    assert body["summary"] == {"total": 5, "succeeded": 5, "failed": 0}
    data = body["data"]
    assert [item["index"] for item in data] == [0, 1, 2, 3, 4]
    assert [item["status"] for item in data] == [201, 200, 204, 200, 200]
    assert [item["ref"] for item in data] == ["a", 7, None, None, None]
    assert all(item["success"] and "error" not in item for item in data)
    assert [item["id"] for item in data][1:] == ids
    assert await names(admin) == ["2", "3", "Made", "Renamed"]


@pytest.mark.parametrize("atomic", [False, True])
async def test_the_result_of_an_operation_is_the_agent_it_leaves(admin, atomic: bool) -> None:
    _, answer = await send_every_kind(admin, atomic)
    made, _, deleted, published, archived = answer.json()["data"]
    whole = await read_agent(admin, made)
    assert made["result"] == {name: value for name, value in whole.items() if name in made["result"]}
    assert deleted["result"] is None
    assert [one["result"]["status"] for one in (published, archived)] == ["published", "archived"]


async def send_with_failures(admin: Api) -> dict[str, Any]:
    """Send four operations that fail between two that do not, and return the body of the answer."""
    agent = await make_agent(admin, name="Old")
    archived = await change_agent(admin, await make_agent(admin, name="Archived"), status="archived")
    answer = await send_batch(
        admin,
        create(),
        {"op": "update", "id": "agt_aaaaaaaaaaaaaaaaaaaaaaaaaa", "data": {"name": "x"}, "ref": "r"},
        {"op": "create", "data": {"name": "", "primary_model": "m"}},
        {"op": "publish", "id": archived["id"]},
        {"op": "delete"},
        {"op": "update", "id": agent["id"], "data": {"name": "Renamed"}},
    )
    assert answer.status == 207, answer
    return answer.json()


async def test_one_failure_leaves_the_others_alone(people, admin) -> None:
    body = await send_with_failures(admin)
    assert body["summary"] == {"total": 6, "succeeded": 2, "failed": 4}
    assert [item["status"] for item in body["data"]] == [201, 404, 422, 409, 422, 200]
    assert await names(admin) == ["Archived", "New", "Renamed"]
    assert len(await events(people, "agent.created")) == 3


async def test_each_operation_that_failed_says_why(admin) -> None:
    _, missing, incomplete, archived, nameless, _ = (await send_with_failures(admin))["data"]
    assert [one["error"]["code"] for one in (missing, incomplete, archived, nameless)] == [
        "agent_not_found",
        "validation_error",
        "invalid_transition",
        "validation_error",
    ]
    assert set(incomplete["error"]["details"]) == {"data.name", "data.system_prompt"}
    assert nameless["error"]["details"] == {"id": "is required"}
    assert (missing["ref"], missing["id"]) == ("r", "agt_aaaaaaaaaaaaaaaaaaaaaaaaaa")
    assert "result" not in missing


async def test_all_or_none_leaves_nothing_behind_when_one_fails(people, admin) -> None:
    agent, parent = await make_agent(admin, name="Old"), await make_agent(admin, name="Parent")
    await attach_agent(admin, parent, agent)
    before = await versions_of(admin, agent)
    told = len(await events(people, "agent.updated"))
    answer = await send_batch(
        admin,
        create(),
        {"op": "delete", "id": agent["id"]},
        {"op": "publish", "id": "agt_aaaaaaaaaaaaaaaaaaaaaaaaaa"},
        create("Later"),
        atomic=True,
    )
    assert (answer.status, answer.code) == (422, "batch_failed")
    data = answer.details["data"]
    assert [item["status"] for item in data] == [424, 424, 404, 424]
    assert [item["error"]["code"] for item in data] == [
        "not_carried_out",
        "not_carried_out",
        "agent_not_found",
        "not_carried_out",
    ]
    assert answer.details["summary"] == {"total": 4, "succeeded": 0, "failed": 4}
    assert await names(admin) == ["Old", "Parent"]
    assert await versions_of(admin, agent) == before
    assert len((await read_agent(admin, parent))["sub_agents"]) == 1
    assert len(await events(people, "agent.updated")) == told
    assert len(await events(people, "agent.created")) == 2


async def test_a_later_operation_sees_what_an_earlier_one_did(admin) -> None:
    agent = await make_agent(admin)
    operations = [
        {"op": "publish", "id": agent["id"]},
        {"op": "archive", "id": agent["id"]},
        {"op": "update", "id": agent["id"], "data": {"status": "draft"}},
        {"op": "delete", "id": agent["id"]},
        {"op": "update", "id": agent["id"], "data": {}},
    ]
    answer = await send_batch(admin, *operations)
    assert [item["status"] for item in answer.json()["data"]] == [200, 200, 200, 204, 404]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "operations"),
        ({"operations": []}, "operations"),
        ({"operations": None}, "operations"),
        ({"operations": [create()] * 101}, "operations"),
        ({"items": [create()] * 101}, "operations"),
        ({"operations": [{"op": "explode"}]}, "operations.0.op"),
        ({"operations": [{}]}, "operations.0.op"),
        ({"operations": [create()], "atomic": "yes"}, "atomic"),
        ({"operations": ["create"]}, "operations.0"),
    ],
)
async def test_what_is_no_batch_is_refused_as_a_whole(admin, body: dict[str, Any], field: str) -> None:
    answer = await admin.post(BATCH, body)
    assert (answer.status, answer.code) == (422, "validation_error")
    assert list(answer.details) == [field]
    assert await names(admin) == []


async def test_items_is_another_name_of_operations(admin) -> None:
    answer = await admin.post(BATCH, {"items": [create()]})
    assert (answer.status, answer.json()["summary"]["succeeded"]) == (200, 1)


async def test_each_operation_needs_its_own_permission(people, admin) -> None:
    answer = await admin.put("/roles/viewer/permissions", {"permissions": ["agents:read", "agents:write"]})
    assert answer.status == 200, answer
    agent = await make_agent(admin, name="Old")
    viewer = await people.signed_in(Role.viewer)
    answer = await send_batch(viewer, create(), {"op": "delete", "id": agent["id"]})
    assert answer.status == 207
    refused = answer.json()["data"][1]
    assert (refused["status"], refused["error"]["code"]) == (403, "forbidden")
    assert refused["error"]["details"] == {"required": "agents:delete", "your_role": "viewer"}
    assert await names(admin) == ["New", "Old"]


async def test_another_tenants_agents_are_not_found(people, admin) -> None:
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    theirs = await make_agent(stranger)
    for op in ("update", "delete", "publish", "archive"):
        answer = await send_batch(admin, {"op": op, "id": theirs["id"], "data": {"name": "x"}})
        assert [item["status"] for item in answer.json()["data"]] == [404]
    assert (await read_agent(stranger, theirs))["version"] == 1


async def test_a_hundred_operations_cost_as_much_as_one(admin) -> None:
    async def spent(body: dict[str, Any]) -> int:
        before = int((await admin.get("/api/v1/agents")).headers["x-ratelimit-remaining"])
        after = int((await admin.post(BATCH, body)).headers["x-ratelimit-remaining"])
        return before - after

    one = await spent({"operations": [create()]})
    assert one == await spent({"operations": [create()] * 100, "atomic": True})
    assert len(await names(admin)) == 100


async def test_the_same_batch_sent_again_is_carried_out_once(admin) -> None:
    headers = {"Idempotency-Key": "once"}
    body = {"operations": [create(), {"op": "delete", "id": "agt_x"}]}
    first = await admin.post(BATCH, body, headers=headers)
    again = await admin.post(BATCH, body, headers=headers)
    assert first.status == again.status == 207
    assert first.body == again.body
    assert await names(admin) == ["New"]


async def test_a_batch_that_was_cut_off_goes_on_where_it_was(admin) -> None:
    kept = await make_agent(admin, name="Kept")
    operations = [
        create("One"),
        {"op": "delete", "id": kept["id"]},
        {"op": "update", "id": "agt_none", "data": {}},
        create("Two"),
    ]

    async def post() -> Response:
        return await admin.post(BATCH, {"operations": operations}, headers={"Idempotency-Key": "once"})

    failpoints.arm("after_step:2:error")
    assert (await post()).status == 500
    failpoints.arm("")
    assert await names(admin) == ["One"]
    answer = await post()
    assert [item["status"] for item in answer.json()["data"]] == [201, 204, 404, 201]
    assert answer.json()["data"][0]["result"]["name"] == "One"
    assert await names(admin) == ["One", "Two"]
