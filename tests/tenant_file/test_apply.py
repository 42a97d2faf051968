"""Applying: one transaction, as it was planned, recorded and announced like single requests."""

import asyncio

import msgspec
import pytest

from retinue.access.models import Role
from tests.tenant_file.filled import (
    MANUAL,
    actions,
    apply,
    create,
    export,
    fill,
    make_agent,
    manual_sum,
    plan,
    upload_manual,
)

AGENT = "retinue: 1\nagents:\n  Desk: {primary_model: local/any, system_prompt: You help.}\n"
APPLY = "/api/v1/tenant/apply"


@pytest.fixture
async def api(people):
    return await people.signed_in(Role.tenant_admin, await people.tenant())


async def test_a_plan_stores_nothing_and_says_what_differs(api):
    planned = await plan(api, AGENT)
    assert planned.json()["changes"] == [
        {"section": "agents", "name": "Desk", "action": "create", "diff": []}
    ]
    assert (await api.get("/api/v1/agents")).json()["data"] == []
    assert (await api.get("/api/v1/event-log")).json()["total"] == 0
    assert (await apply(api, AGENT)).json()["applied"] == 1
    changed = await plan(api, AGENT.replace("You help", "You serve"))
    assert changed.json()["changes"][0]["diff"] == [
        {"path": "system_prompt", "from": "You help.", "to": "You serve."}
    ]
    pruned = await plan(api, "retinue: 1\nagents: {}\n", prune=True)
    assert pruned.json()["changes"] == [{"section": "agents", "name": "Desk", "action": "delete", "diff": []}]
    assert (await plan(api, "retinue: 1\nagents: {}\n")).json()["changes"] == []


async def test_sub_agents_have_the_order_of_the_file(api):
    agent, helper = (
        await make_agent(api, "Desk", "You help."),
        await make_agent(api, "Helper", "You look up."),
    )
    path = f"/api/v1/agents/{agent['id']}/sub-agents"
    for name in ("Writer", "Critic"):
        await create(
            api, f"{path}/direct", {"name": name, "primary_model": "local/any", "system_prompt": "x"}
        )
    await create(api, f"{path}/attach", {"agent_id": helper["id"]})
    document = msgspec.yaml.decode(await export(api))
    parts = document["agents"]["Desk"]["sub_agents"]
    assert [part.get("name") for part in parts] == ["Writer", "Critic", None]

    document["agents"]["Desk"]["sub_agents"] = [parts[2], parts[1], parts[0]]
    wanted = msgspec.yaml.encode(document).decode()
    assert (await apply(api, wanted)).json()["applied"] == 1
    listed = (await api.get(path)).json()["data"]
    assert [one["name"] for one in listed] == ["Helper", "Critic", "Writer"]
    assert {one["action"] for one in (await plan(api, wanted)).json()["changes"]} == {"unchanged"}


async def test_a_plan_is_stale_once_something_moved(api):
    planned = (await plan(api, AGENT)).json()
    body = {"document": AGENT, "prune": False, "plan_hash": planned["plan_hash"]}
    for changed in ({**body, "document": AGENT + "tools: {}\n"}, {**body, "prune": True}):
        stale = await api.post(APPLY, changed)
        assert (stale.status, stale.code) == (409, "plan_stale")
    await make_agent(api, "Other", "x")
    assert (await api.post(APPLY, body)).code == "plan_stale"
    planned = (await plan(api, AGENT)).json()
    body["plan_hash"] = planned["plan_hash"]
    assert (await api.post(APPLY, body)).status == 200
    assert (await api.post(APPLY, body)).code == "plan_stale"


async def test_of_two_applies_of_one_plan_only_one_happens(api):
    planned = (await plan(api, AGENT)).json()
    body = {"document": AGENT, "prune": False, "plan_hash": planned["plan_hash"]}
    answers = await asyncio.gather(*(api.post(APPLY, body) for _ in range(4)))
    assert sorted(answer.status for answer in answers) == [200, 409, 409, 409]
    assert len((await api.get("/api/v1/agents")).json()["data"]) == 1


async def test_a_repeated_request_gets_the_first_answer(api):
    planned = (await plan(api, AGENT)).json()
    body = {"document": AGENT, "prune": False, "plan_hash": planned["plan_hash"]}
    headers = {"idempotency-key": "one"}
    first = await api.post(APPLY, body, headers=headers)
    again = await api.post(APPLY, body, headers=headers)
    assert (first.status, again.status) == (200, 200)
    assert first.json() == again.json()
    assert again.headers["idempotent-replayed"] == "true"
    other = await api.post(APPLY, {**body, "prune": True}, headers=headers)
    assert other.code == "idempotency_key_reused"


async def test_nothing_is_changed_if_one_object_fails(api):
    text = AGENT + 'budgets:\n  Bad: {scope: {type: agent, id: "@agents/Nobody"}, limit_usd: 1}\n'
    refused = await plan(api, text)
    assert (refused.status, refused.details) == (
        422,
        {"budgets/Bad: scope.id": "@agents/Nobody does not exist"},
    )
    assert (await api.get("/api/v1/agents")).json()["data"] == []


async def test_a_file_names_nothing_that_it_deletes(api):
    text = AGENT + 'budgets:\n  Desk: {scope: {type: agent, id: "@agents/Desk"}, limit_usd: 1}\n'
    assert actions(await apply(api, text)) == {"create"}
    refused = await plan(api, text.replace("agents:\n  Desk", "agents:\n  Counter"), prune=True)
    assert (refused.status, refused.details) == (
        422,
        {"budgets/Desk: scope.id": "@agents/Desk is not in the file and would be deleted"},
    )
    assert actions(await plan(api, text.replace("Desk", "Counter"), prune=True)) == {"create", "delete"}


async def test_events_and_audit_are_those_of_single_requests(api):
    await fill(api)
    exported = await export(api)
    document = exported.replace("Be brief.", "Be kind.").replace("limit_usd: 12.5", "limit_usd: 13.5")
    before = (await api.get("/api/v1/audit")).json()["pagination"]["total"]
    assert actions(await apply(api, document)) == {"update", "unchanged"}
    rows = (await api.get("/api/v1/audit", query={"per_page": 20})).json()
    fresh = rows["data"][: rows["pagination"]["total"] - before]
    applied = next(row for row in fresh if row["action"] == "tenant.file_applied")
    assert applied["actor"] == {"type": "user", "id": api.user.id}
    assert (applied["metadata"]["updated"], applied["metadata"]["created"]) == (3, 0)
    types = [event["type"] for event in (await api.get("/api/v1/event-log")).json()["data"]]
    assert "agent.updated" in types[:5]
    exports = [row for row in rows["data"] if row["action"] == "tenant.exported"]
    assert exports
    assert (await api.get("/api/v1/audit/verify")).json()["intact"] is True


async def test_documents_are_made_of_uploaded_files_and_replaced_by_their_sum(api):
    text = AGENT + (
        f"agent_documents:\n  Manual:\n    agent: '@agents/Desk'\n    name: manual.txt\n"
        f"    sha256: {manual_sum()}\n    metadata: {{kind: help}}\n"
    )
    refused = await plan(api, text)
    assert list(refused.details) == ["agent_documents/Manual: sha256"]
    await upload_manual(api)
    assert actions(await apply(api, text)) == {"create"}
    assert actions(await plan(api, text, prune=True)) == {"unchanged"}
    (agent,) = (await api.get("/api/v1/agents")).json()["data"]
    (document,) = (await api.get(f"/api/v1/agents/{agent['id']}/documents")).json()["data"]
    assert (document["name"], document["metadata"], document["size_bytes"]) == (
        "manual.txt",
        {"kind": "help"},
        len(MANUAL),
    )
    # One upload makes one document: the file is the document's own now.
    second = text.replace("  Manual:", "  Twin:").replace("agents:\n  Desk", "agents:\n  Desk", 1)
    assert list((await plan(api, second)).details) == ["agent_documents/Twin: sha256"]
    assert actions(await apply(api, text.replace("kind: help", "kind: new"))) == {"unchanged", "update"}
    assert actions(await apply(api, AGENT + "agent_documents: {}\n", prune=True)) == {"unchanged", "delete"}
    assert (await api.get(f"/api/v1/agents/{agent['id']}/documents")).json()["data"] == []


async def test_what_depends_on_each_other_is_created_and_deleted_in_order(api):
    await fill(api)
    exported = await export(api)
    document = msgspec.json.decode(await export(api, format="json"))
    emptied = {name: {} if isinstance(section, dict) else section for name, section in document.items()}
    assert actions(await apply(api, emptied, prune=True)) == {"delete"}
    assert await export(api) == "retinue: 1\n" + "".join(
        f"{name}: {{}}\n" for name in document if name != "retinue"
    )
    await upload_manual(api)
    assert actions(await apply(api, exported)) == {"create"}
    assert await export(api) == exported


async def test_a_new_incoming_webhook_refuses_until_its_secret_is_entered(api):
    part = "{verification: {type: token, header: X-Token}, own_secrets: true}"
    text = f"retinue: 1\nincoming_webhooks:\n  Shop: {part}\n"
    applied = await apply(api, text)
    assert applied.json()["warnings"] == [
        "incoming_webhooks/Shop: enter the secret of its verification in this tenant."
    ]
    (hook,) = (await api.get("/api/v1/incoming-webhooks")).json()["data"]
    path = f"/webhooks/in/{hook['slug']}"
    assert (await api.post(path, {}, headers={"x-token": "guess"})).status == 401
    verification = {"type": "token", "header": "X-Token", "secret": "known"}
    changed = await api.put(f"/api/v1/incoming-webhooks/{hook['id']}", {"verification": verification})
    assert changed.status == 200
    assert actions(await apply(api, text.replace("own_secrets: true", "description: New"))) == {"update"}
    assert (await api.post(path, {}, headers={"x-token": "known"})).status == 200


async def test_a_new_channel_lacks_only_its_secrets(api):
    config = "{from_email: a@example.com}"
    text = (
        f"retinue: 1\nnotification_channels:\n  Mail: {{type: email, provider: sendgrid, config: {config}}}\n"
    )
    assert actions(await apply(api, text)) == {"create"}
    (channel,) = (await api.get("/api/v1/notification-channels")).json()["data"]
    path = f"/api/v1/notification-channels/{channel['id']}"
    assert (await api.post(f"{path}/test", {})).json()["success"] is False
    assert (await api.put(path, {"config": {"api_key": "SG.x"}})).status == 200
    assert actions(await apply(api, text.replace("a@example", "b@example"))) == {"update"}
    shown = (await api.get(path)).json()["config"]
    assert (shown["from_email"], shown["api_key"]) == ("b@example.com", "••••••••")
    secret = await plan(api, text.replace("{from", "{api_key: SG.y, from"))
    assert list(secret.details) == ["notification_channels/Mail: config.api_key"]
    missing = await plan(api, text.replace(config, "{}").replace("Mail", "Other"))
    assert missing.status == 422
    assert (await create(api, "/api/v1/agents", {
        "name": "A", "primary_model": "local/any", "system_prompt": "x"
    }))["name"] == "A"  # fmt: skip
