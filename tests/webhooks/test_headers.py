"""Custom headers of webhooks: sealed where they lie, shown to those who may change them, sent as they are."""

from typing import Any

import pytest

from retinue.access.models import Role
from retinue.kit.db.databases import direct_url
from retinue.kit.text.header_masks import MASK
from tests.canaries import hits, read_everything_stored

TOKEN = "Bearer kGq2-of-the-customer-77xy"
HEADERS = {"Authorization": TOKEN, "X-Team": "the-blue-ones-4711"}
MASKED = dict.fromkeys(HEADERS, MASK)
SECRETS = list(HEADERS.values())


async def read_stored(hooks: Any) -> bytes:
    """Return all stored bytes; the service is stopped, so that no write-ahead log is left."""
    settings = hooks.service.settings
    await hooks.service.stop()
    found = await read_everything_stored(settings.data_dir, direct_url(settings))
    await hooks.restart_stopped()
    return found


async def read_delivery(api: Any, made: dict[str, Any], delivery_id: str) -> dict[str, Any]:
    answer = await api.get(f"/api/v1/webhooks/{made['id']}/executions/{delivery_id}")
    assert answer.status == 200, answer
    return dict(answer.json())


async def test_who_may_change_them_sees_them_and_everyone_else_their_names(hooks, people):
    made = await hooks.make(headers=HEADERS)
    assert made["headers"] == HEADERS
    await hooks.happen()
    await hooks.work()
    (delivery,) = await hooks.deliveries(made)
    expected = {Role.tenant_admin: HEADERS, Role.agent_developer: HEADERS, Role.viewer: MASKED}
    for role, headers in expected.items():
        caller = await people.signed_in(role, await people.default_tenant())
        assert (await caller.get(f"/api/v1/webhooks/{made['id']}")).json()["headers"] == headers
        assert (await caller.get("/api/v1/webhooks")).json()["data"][0]["headers"] == headers
        sent = (await read_delivery(caller, made, delivery["id"]))["request"]["headers"]
        assert {name: sent[name] for name in HEADERS} == headers


async def test_they_are_sent_as_they_are_and_kept_nowhere_in_clear(hooks, receiver):
    made = await hooks.make(headers=HEADERS)
    await hooks.happen()
    await hooks.work()
    assert (await hooks.call(made, "POST", "/test", json={})).json()["success"]
    assert [one.headers["authorization"] for one in receiver.received] == [TOKEN, TOKEN]
    assert hits(await read_stored(hooks), SECRETS) == []


@pytest.mark.parametrize(
    "sent", [MASKED, {"authorization": MASK, "X-Team": MASK}], ids=["as shown", "any case"]
)
async def test_a_mask_that_is_sent_back_changes_nothing(hooks, receiver, sent):
    made = await hooks.make(headers=HEADERS)
    changed = await hooks.call(made, "PUT", "", json={"headers": sent})
    assert changed.status == 200, changed
    await hooks.happen()
    await hooks.work()
    assert receiver.last.headers["authorization"] == TOKEN
    assert receiver.last.headers["x-team"] == HEADERS["X-Team"]


async def test_each_header_is_changed_for_itself(hooks, receiver):
    made = await hooks.make(headers=HEADERS)
    wanted = {"Authorization": MASK, "X-New": "something-else-99"}
    changed = (await hooks.call(made, "PUT", "", json={"headers": wanted})).json()
    assert changed["headers"] == {"Authorization": TOKEN, "X-New": "something-else-99"}
    await hooks.happen()
    await hooks.work()
    assert receiver.last.headers["authorization"] == TOKEN
    assert "x-team" not in receiver.last.headers


async def test_a_mask_that_stands_for_nothing_is_refused(hooks):
    made = await hooks.make(headers=HEADERS)
    answer = await hooks.call(made, "PUT", "", json={"headers": {"X-Unknown": MASK}})
    assert (answer.status, list(answer.details)) == (422, ["headers"])
    body = {"url": made["url"], "events": ["*"], "headers": {"X-A": MASK}}
    assert (await hooks.admin.post("/api/v1/webhooks", body)).status == 422
