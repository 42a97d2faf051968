"""Events that a tenant's own webhook delivers into its own incoming webhook: redacted as the events are."""

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from retinue.access.models import Role
from retinue.incoming.models import ReceivedPayload
from retinue.kit.events.models import EventEntry
from tests.adapters.llm_server import provider_server
from tests.chat.speaking import reply_to
from tests.client import Api
from tests.factories.agents import make_agent
from tests.factories.people import People
from tests.factories.providers import add_key_for
from tests.factories.workflows import make_workflow, node
from tests.tools.servers.rest_api import RestApi, rest_api

SAID = "CANARY said in a chat"
HOOKS = "/api/v1/incoming-webhooks"
HEADERS = ("X-Service-Event-Id", "X-Service-Hops")


async def deliver_again(remote: RestApi, api: Api, slug: str) -> list[dict[str, Any]]:
    """Send what our webhook sent to the remote server on to an incoming webhook, as one request each."""
    receipts = []
    for seen in [one for one in remote.seen if one.target == "/hook"]:
        headers = {name: value for name, value in seen.headers.items() if name in HEADERS}
        answer = await api.post(f"/webhooks/in/{slug}", content=seen.body, headers=headers)
        assert answer.status == 200, answer
        receipts.append(answer.json())
    return receipts


@dataclass
class Loop:
    """A chat that a webhook delivered into the incoming webhook `hook`, which starts `workflow`."""

    hook: dict[str, Any]
    received: list[dict[str, Any]]
    workflow: dict[str, Any]

    def path_of(self, receipt: dict[str, Any]) -> str:
        return f"{HOOKS}/{self.hook['id']}/events/{receipt['id']}"


@pytest.fixture
async def owner(people: People) -> Api:
    return await people.signed_in(Role.agent_user)


@pytest.fixture
async def loop(service, people, api, admin, owner):
    async with rest_api() as remote, provider_server() as provider:
        await add_key_for(admin, provider, models=["test-model"])
        outgoing = {"url": f"{remote.url}/hook", "events": ["agent.chat.message"]}
        assert (await admin.post("/api/v1/webhooks", outgoing)).status == 201
        workflow = await make_workflow(admin, node("keep", set={"said": "{{trigger.input.data.content}}"}))
        body = {"name": "Receiver", "slug": "our-own", "workflow_id": workflow["id"]}
        hook = (await admin.post(HOOKS, body)).json()
        agent = await make_agent(admin, primary_model="openai_compatible/test-model")
        await reply_to(owner, agent, SAID)
        await service.runner.drain()
        received = await deliver_again(remote, api, "our-own")
        await service.runner.drain()
        yield Loop(hook.get("data", hook), received, workflow)


def data_of(answer: Any) -> Any:
    assert answer.status == 200, answer
    found = answer.json()
    return found.get("data", found)


async def test_a_viewer_reads_nothing_that_was_said(people, admin, loop):
    viewer = await people.signed_in(Role.viewer)
    paths = [
        f"{HOOKS}/{loop.hook['id']}/events",
        *map(loop.path_of, loop.received),
        "/api/v1/event-log?per_page=100",
        *(f"/api/v1/event-log/{receipt['event_id']}" for receipt in loop.received),
    ]
    assert SAID.encode() in (await admin.get(paths[0])).body
    for path in paths:
        shown = await viewer.get(path)
        assert shown.status == 200, path
        assert b"CANARY" not in shown.body, path
        assert b'"redacted":true' in shown.body, path
    one = data_of(await viewer.get(loop.path_of(loop.received[0])))
    assert (one["payload"], one["redacted"], one["is_payload_omitted"]) == (None, True, False)
    runs = f"/api/v1/workflows/{loop.workflow['id']}/executions"
    started = [f"{runs}/{run['id']}" for run in data_of(await admin.get(runs))]
    assert SAID.encode() in b"".join([(await admin.get(path)).body for path in started])
    assert b"CANARY" not in b"".join([(await viewer.get(path)).body for path in started])


async def test_a_replay_quotes_what_the_first_did(service, people, admin, loop):
    viewer = await people.signed_in(Role.viewer)
    answer = await admin.post(f"{loop.path_of(loop.received[0])}/replay")
    assert answer.status == 202, answer
    again = answer.json().get("data", answer.json())
    await service.runner.drain()
    shown = await viewer.get(loop.path_of(again))
    assert (shown.status, data_of(shown)["redacted"]) == (200, True)
    assert b"CANARY" not in (await viewer.get(f"/api/v1/event-log/{again['event_id']}")).body


async def test_the_body_names_the_event_where_a_relay_dropped_the_header(people, api, admin, loop):
    viewer = await people.signed_in(Role.viewer)
    async with people.context((await people.default_tenant()).id) as ctx:
        [event] = [
            one
            for one in await ctx.db.all(EventEntry, type="agent.chat.message")
            if one.data["content"] == SAID
        ]
    body = {"id": event.id, "type": event.type, "tenant_id": event.tenant_id, "data": event.data}
    receipt = (await api.post("/webhooks/in/our-own", body)).json()
    assert data_of(await viewer.get(loop.path_of(receipt)))["payload"] is None
    purged = {**body, "id": "evt_" + "a" * 26}
    receipt = (await api.post("/webhooks/in/our-own", purged)).json()
    assert data_of(await viewer.get(loop.path_of(receipt)))["payload"] is None


async def test_what_others_send_is_shown_to_everyone(people, api, admin, loop):
    viewer = await people.signed_in(Role.viewer)
    for body in (
        {"order": 17},
        {"id": "evt_" + "a" * 26, "tenant_id": "ten_of_another", "type": "agent.chat.message"},
        {"id": 7, "type": None},
        [1, 2],
    ):
        receipt = (await api.post("/webhooks/in/our-own", body)).json()
        shown = data_of(await viewer.get(loop.path_of(receipt)))
        assert shown["payload"] == body
        assert "redacted" not in shown


async def test_a_large_payload_is_left_out_as_well(people, api, loop):
    viewer = await people.signed_in(Role.viewer)
    async with people.context((await people.default_tenant()).id) as ctx:
        event = (await ctx.db.all(EventEntry, type="agent.chat.message"))[0]
    body = {"id": event.id, "data": "CANARY" * 20_000}
    receipt = (await api.post("/webhooks/in/our-own", content=msgspec.json.encode(body))).json()
    assert b"CANARY" not in (await viewer.get(loop.path_of(receipt))).body
    async with people.context((await people.default_tenant()).id) as ctx:
        stored = await ctx.db.get(ReceivedPayload, receipt["id"])
    assert stored is not None
    assert stored.conversation_ids == [event.subject_id]


async def test_a_viewer_reads_no_names_of_files_of_others(service, people, admin, owner):
    viewer = await people.signed_in(Role.viewer)
    name = "CANARY diagnosis.txt"
    uploaded = await owner.post("/api/v1/files", files={"file": (name, b"x", "text/plain")})
    assert uploaded.status == 201, uploaded
    file_id = uploaded.json()["data"]["file_id"]
    assert (await owner.delete(f"/api/v1/files/{file_id}")).status == 204
    shared = {"file": ("handbook.txt", b"y", "text/plain")}
    await admin.post("/api/v1/files", files=shared, fields={"purpose": "knowledge"})
    log = "/api/v1/event-log?per_page=100"
    events = [one for one in data_of(await viewer.get(log)) if one["type"].startswith("system.file.")]
    assert [(one["type"], one["data"]["filename"], one.get("redacted")) for one in events] == [
        ("system.file.uploaded", "handbook.txt", None),
        ("system.file.deleted", None, True),
        ("system.file.uploaded", None, True),
    ]
    held = data_of(await admin.get("/roles/agent_user/permissions"))["permissions"]
    await admin.put("/roles/agent_user/permissions", {"permissions": [*held, "events:read"]})
    for reader in (admin, owner):
        assert name.encode() in (await reader.get(log)).body, "whose it is, and who reads all"
    other = await people.signed_in(Role.agent_user)
    assert b"CANARY" not in (await other.get(log)).body
