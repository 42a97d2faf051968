"""Subscriptions are made, changed, listed and switched."""

from typing import Any

import pytest

from retinue.access.models import Role
from retinue.events import service
from tests.client import Api
from tests.events.conftest import SUBSCRIPTIONS, emit, read, subscribe, subscription_body
from tests.factories.happenings import audits
from tests.factories.people import People


async def test_a_new_subscription_is_shown_with_its_defaults(admin: Api) -> None:
    made = await subscribe(admin, "form.*", filters={"form_id": "frm_1"})
    assert made == {
        "id": made["id"],
        "event_type": "form.*",
        "action_type": "workflow",
        "action_config": {"workflow_id": "wf_a"},
        "filters": {"form_id": "frm_1"},
        "active": True,
        "workflow_id": "wf_a",
        "trigger_count": 0,
        "failure_count": 0,
        "last_triggered_at": None,
        "last_error": None,
        "created_by": admin.user.id,
        "created_at": made["created_at"],
        "updated_at": made["created_at"],
    }
    assert made["id"].startswith("sub_")
    assert await read(admin, made) == made


async def test_a_changed_subscription_keeps_what_was_not_sent_and_is_audited(
    admin: Api, people: People
) -> None:
    made = await subscribe(admin, "form.*", filters={"form_id": "frm_1"})
    path = f"{SUBSCRIPTIONS}/{made['id']}"
    changes = {"action_config": {"workflow_id": "wf_b", "own": 1}, "filters": None, "active": False}
    changed = (await admin.put(path, changes)).json()
    assert changed.pop("warnings") == ["ignored_field:action_config.own"]
    assert changed == {
        **made,
        **changes,
        "filters": {},
        "workflow_id": "wf_b",
        "updated_at": changed["updated_at"],
    }
    assert (await admin.put(path, {})).json() == changed
    assert [row.metadata["changed"] for row in await audits(people, "system.subscription.updated")] == [
        ["action_config", "active", "filters"]
    ]


async def test_subscriptions_are_listed_by_type_state_action_and_workflow(admin: Api) -> None:
    made = await subscribe(admin, "form.*")
    await admin.put(
        f"{SUBSCRIPTIONS}/{made['id']}", {"action_config": {"workflow_id": "wf_b"}, "active": False}
    )
    other = await subscribe(admin, "order.placed")
    for query, expected in (
        ({}, {made["id"], other["id"]}),
        ({"event_type": "form.*"}, {made["id"]}),
        ({"active": "true"}, {other["id"]}),
        ({"action_type": "workflow"}, {made["id"], other["id"]}),
        ({"action_type": "notification"}, set()),
        ({"workflow_id": "wf_b"}, {made["id"]}),
    ):
        found = (await admin.get(SUBSCRIPTIONS, query=query)).json()
        assert {one["id"] for one in found["data"]} == expected, query
        assert found["total"] == found["pagination"]["total"] == len(expected)
        assert (found["page"], found["per_page"]) == (1, 20)


async def test_a_subscription_is_unknown_to_other_tenants_and_after_it_was_deleted(
    admin: Api, people: People
) -> None:
    path = f"{SUBSCRIPTIONS}/{(await subscribe(admin))['id']}"
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    assert (await stranger.get(path)).status == 404
    assert (await admin.delete(path)).status == 204
    gone = await admin.get(path)
    assert (gone.status, gone.code) == (404, "subscription_not_found")


async def test_what_cannot_work_is_refused_with_its_reason(admin: Api) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"event_type": ""}, "event_type"),
        ({"event_type": "Form.Created"}, "event_type"),
        ({"event_type": "form"}, "event_type"),
        ({"event_type": "form.*.created"}, "event_type"),
        ({"event_type": "form.created\n"}, "event_type"),
        ({"event_type": 7}, "event_type"),
        ({"action_type": "mail"}, "action_type"),
        ({"action_config": {}}, "action_config.workflow_id"),
        ({"action_config": {"workflow_id": ""}}, "action_config.workflow_id"),
        ({"action_config": {"workflow_id": "w" * 65}}, "action_config.workflow_id"),
        ({"action_config": {"workflow_id": 7}}, "action_config.workflow_id"),
        ({"action_config": {"workflow_id": "wf_a", "input": "x" * 70_000}}, "action_config"),
        ({"action_config": "wf_a"}, "action_config"),
        ({"filters": {"a": {"like": 1}}}, "filters.a"),
        ({"filters": {"a": []}}, "filters.a"),
        ({"filters": []}, "filters"),
        ({"active": "yes"}, "active"),
    ]
    wrong = []
    made = await subscribe(admin)
    for change, field in cases:
        answer = await admin.post(SUBSCRIPTIONS, subscription_body(**change))
        if answer.status != 422 or field not in answer.details:
            wrong.append(("create", change, answer))
        answer = await admin.put(f"{SUBSCRIPTIONS}/{made['id']}", change)
        if answer.status != 422 or field not in answer.details:
            wrong.append(("update", change, answer))
    for name in ("event_type", "action_type", "action_config"):
        body = subscription_body()
        del body[name]
        answer = await admin.post(SUBSCRIPTIONS, body)
        if answer.status != 422 or answer.details != {name: "is required"}:
            wrong.append(("missing", name, answer))
    assert wrong == []
    assert await read(admin, made) == made


async def test_subscriptions_are_sorted_by_event_type(admin: Api) -> None:
    await subscribe(admin)
    await subscribe(admin, "other.thing", active=False)
    await subscribe(admin, action_config={"workflow_id": "wf_b"})
    by_name = (await admin.get(SUBSCRIPTIONS, query={"sort": "-event_type"})).json()["data"]
    assert next(found["event_type"] for found in by_name) == "other.thing"
    assert set((await admin.get(SUBSCRIPTIONS, query={"sort": "odd"})).details) == {"sort"}


async def test_the_subscriptions_of_a_workflow_are_switched_together(admin: Api) -> None:
    one = await subscribe(admin)
    two = await subscribe(admin, "other.thing", active=False)
    await subscribe(admin, action_config={"workflow_id": "wf_b"})
    path = "/api/v1/workflows/wf_a/subscriptions"
    off = (await admin.post(f"{path}/deactivate")).json()
    assert (off["workflow_id"], off["active"], off["updated"]) == ("wf_a", False, 1)
    assert sorted(off["subscription_ids"]) == sorted([one["id"], two["id"]])
    assert off["message"] == "1 subscription deactivated."
    assert (await emit(admin))["matched"]["subscriptions"] == 1
    on = (await admin.post(f"{path}/activate")).json()
    assert (on["active"], on["updated"]) == (True, 2)
    assert (await read(admin, two))["active"] is True
    assert (await emit(admin))["matched"]["subscriptions"] == 2


async def test_only_writers_of_the_tenant_switch_its_subscriptions(admin: Api, people: People) -> None:
    await subscribe(admin)
    path = "/api/v1/workflows/wf_a/subscriptions"
    nobody = await admin.post("/api/v1/workflows/anything/subscriptions/activate")
    assert (nobody.status, nobody.json()["updated"], nobody.json()["subscription_ids"]) == (200, 0, [])
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    assert (await stranger.post(f"{path}/deactivate")).json()["updated"] == 0
    viewer = await people.signed_in(Role.viewer)
    assert (await viewer.post(f"{path}/deactivate")).status == 403


async def test_a_test_event_is_counted_marked_and_never_forged(admin: Api) -> None:
    await subscribe(admin, "order.*")
    await subscribe(admin, "*", filters={"data.total": {"gte": 10}})
    await subscribe(admin, "order.cancelled")
    told = await emit(admin, "order.placed", total=7)
    assert told["matched"] == {"subscriptions": 1, "webhooks": 0}
    assert (told["event"]["test"], told["event"]["type"]) == (True, "order.placed")
    assert told["event"]["data"] == {
        "tenant_id": admin.user.tenant_id,
        "actor": {"type": "user", "id": admin.user.id},
        "total": 7,
    }
    assert (await admin.get(f"/api/v1/event-log/{told['event']['id']}")).json() == told["event"]
    assert (await emit(admin, "order.placed", total=10))["matched"]["subscriptions"] == 2
    forged = await emit(
        admin, "order.placed", tenant_id="ten_other", actor={"type": "user", "id": "usr_other"}
    )
    assert forged["event"]["data"]["tenant_id"] == admin.user.tenant_id
    assert forged["event"]["data"]["actor"]["id"] == admin.user.id


async def test_a_strict_test_event_is_checked_against_its_schema(admin: Api) -> None:
    path = "/api/v1/events/test"
    example = (await admin.get("/api/v1/event-types/form.submission.created")).json()["example"]
    strict = {"event_type": "form.submission.created", "data": example, "strict": True}
    assert (await admin.post(path, strict)).status == 202
    broken = await admin.post(path, {**strict, "data": {"form_id": 7}})
    assert broken.status == 422
    assert {"data.form_id", "data.submission_id"} <= broken.details.keys()
    assert (await admin.post(path, {"event_type": "form.submission.created"})).status == 202
    unknown = await admin.post(path, {"event_type": "order.placed", "strict": True})
    assert (unknown.status, list(unknown.details)) == (422, ["event_type"])
    for name in ("", "order", "Order.placed", "order.*", "order.placed\n", "order..placed", 7, None):
        assert (await admin.post(path, {"event_type": name})).status == 422, name
    assert (await admin.post(path, {"event_type": "order.placed", "data": []})).status == 422


async def test_a_tenant_has_at_most_so_many_subscriptions(
    admin: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MAX_SUBSCRIPTIONS", 1)
    await subscribe(admin)
    answer = await admin.post(SUBSCRIPTIONS, subscription_body())
    assert (answer.status, answer.code) == (409, "conflict")
