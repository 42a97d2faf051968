"""Each section needs its own keys, and nothing in a file reaches further than its caller."""

import pytest

from retinue.access.catalogue import default_permissions
from retinue.access.models import Role
from retinue.tenant_file.document import SECTION_NAMES
from retinue.tenant_file.parts import to_plain
from retinue.tenant_file.references import READ_KEYS
from retinue.tenant_file.sections import SECTIONS
from retinue.tenant_file.service import read_file
from tests.factories.machines import machine
from tests.tenant_file.filled import CANARY, actions, apply, create, export, fill, make_agent, plan

pytestmark = pytest.mark.either_database

ROLES = [Role.agent_developer, Role.agent_user, Role.viewer]


@pytest.mark.parametrize("role", ROLES, ids=str)
async def test_a_role_gets_and_changes_only_the_sections_of_its_keys(people, role):
    tenant = await people.tenant()
    boss = await people.signed_in(Role.tenant_admin, tenant)
    await fill(boss)
    whole = to_plain(await read_file(await export(boss)))
    caller, held = await people.signed_in(role, tenant), set(default_permissions(role))
    exported = to_plain(await read_file(await export(caller)))
    assert {name for name in SECTION_NAMES if name in exported} == {
        name for name in SECTION_NAMES if READ_KEYS[name] in held
    }
    for name in SECTION_NAMES:
        keys = [READ_KEYS[name], SECTIONS[name].write_key]
        if keys[0] not in held:
            assert f"{name} is left out: this needs the permission {keys[0]}." in exported["warnings"]
        document = {"retinue": 1, name: {}}
        missing = next((key for key in keys if key not in held), None)
        answer = await plan(caller, document)
        applied = await caller.post(
            "/api/v1/tenant/apply", {"document": document, "prune": False, "plan_hash": "x"}
        )
        if missing is None:
            assert (answer.status, applied.status) == (200, 409), (name, answer, applied)
            continue
        for refused in (answer, applied):
            assert (refused.status, refused.details["required"]) == (403, missing), (name, refused)
            assert name in refused.json()["error"]["message"]
    assert to_plain(await read_file(await export(boss))) == whole


async def test_a_service_account_needs_the_key_of_each_thing_it_does(people, admin):
    tenant = await people.default_tenant()
    agent = "retinue: 1\nagents:\n  Desk: {primary_model: local/any, system_prompt: x}\n"
    with_tool = agent.replace("x}", 'x, tools: [{tool: "@tools/t"}]}')
    tool = {"name": "T", "slug": "t", "category": "custom", "tool_type": "rest_api", "auth_type": "none"}
    await create(admin, "/v1/tools", {**tool, "config": {"base_url": "https://a.example"}})
    writer = await machine(admin, "agents:read", "agents:write")
    assert actions(await apply(writer, agent)) == {"create"}
    refused = await plan(writer, "retinue: 1\nagents: {}\n", prune=True)
    assert (refused.status, refused.details["required"]) == (403, "agents:delete")
    refused = await plan(writer, with_tool)
    assert (refused.status, refused.details["required"]) == (403, "tools:read")
    reader = await machine(admin, "agents:read", "agents:write", "tools:read", name="Reader")
    refused = await plan(reader, with_tool)
    assert (refused.status, refused.details["required"]) == (403, "tools:write")
    assert refused.details["object"] == "agents/Desk"
    able = await machine(admin, "agents:read", "agents:write", "tools:read", "tools:write", name="Able")
    assert actions(await apply(able, with_tool)) == {"update"}
    refused = await plan(able, "retinue: 1\ntools: {}\nagents: {}\nservice_accounts: {}\n")
    assert (refused.status, list(refused.details)) == (422, ["service_accounts"])
    del tenant


async def test_references_are_no_way_to_learn_what_exists(people, admin):
    """A name that the caller may not see is refused alike, whether there is such a thing or not."""
    await people.user(email="ada@example.com")
    caller = await machine(admin, "tools:read", "tools:write")
    for name in ("@users/ada@example.com", "@users/nobody@example.com"):
        document = {
            "retinue": 1,
            "tools": {
                "t": {
                    "name": "T", "category": "custom", "tool_type": "rest_api",
                    "config": {"base_url": "https://a.example"},
                    "approval": {"approvers": {"user_ids": [name]}},
                }
            },
        }  # fmt: skip
        refused = await plan(caller, document)
        assert (refused.status, refused.details["required"]) == (403, "admin:users"), name
        document["tools"]["t"] |= {"approval": None, "credential": "@credentials/x"}
        refused = await plan(caller, document)
        assert (refused.status, refused.details["required"]) == (403, "credentials:read")


async def test_headers_are_masked_for_those_who_may_only_read(people):
    tenant = await people.tenant()
    boss = await people.signed_in(Role.tenant_admin, tenant)
    config = {"base_url": "https://a.example", "headers": {"X-Key": CANARY}}
    tool = {"name": "T", "slug": "t", "category": "custom", "tool_type": "rest_api", "auth_type": "none"}
    await create(boss, "/v1/tools", {**tool, "config": config})
    viewer = await people.signed_in(Role.viewer, tenant)
    masked = await export(viewer, sections="tools")
    assert CANARY not in masked
    assert CANARY in await export(boss, sections="tools")
    assert actions(await plan(boss, masked)) == {"unchanged"}
    elsewhere = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    refused = await plan(elsewhere, masked)
    assert (refused.status, refused.details) == (
        422,
        {"tools/t: config.headers.X-Key": "is masked. Enter the value itself."},
    )


async def test_no_secret_moves_because_of_a_file(people):
    """Not even for somebody who entered it: the file may be another person's work."""
    api = await people.signed_in(Role.tenant_admin, await people.tenant())
    await fill(api)
    exported = await export(api)
    for old, new, problem in (
        ("https://erp.example/in", "https://evil.example/in", "webhooks/"),
        ("https://tempo.example", "https://evil.example", "trace_exporters/Tempo"),
        ("https://other.example/x", "https://evil.example/x", "subscriptions/"),
    ):
        key = "https://erp.example/in:" if "erp" in old else "\0"
        document = exported.replace(old, new).replace(key.replace(old, new), key)
        document = document.replace(f"@webhooks/{new}", f"@webhooks/{old}")
        refused = await plan(api, document)
        assert refused.status == 422, (old, refused)
        assert problem in next(iter(refused.details))
    moved = exported.replace("https://weather.example", "https://evil.example")
    assert actions(await apply(api, moved)) == {"update", "unchanged"}
    tools = (await api.get("/v1/tools")).json()["data"]
    for tool in tools:
        if tool["slug"] != "ask":
            ran = await api.post(f"/v1/tools/{tool['id']}/execute", {"input": {"endpoint": "get"}})
            assert ran.json()["data"]["error"]["code"] == "destination_changed", ran
    token = exported.replace(
        "api_key_header: X-Weather", "api_key_header: X-Weather\n      token_url: https://e.example"
    )
    refused = await plan(api, token)
    assert list(refused.details) == ["tools/weather: auth_config.token_url"]
    entered = exported.replace("api_key_header: X-Weather", "api_key_header: X-Weather\n      password: x")
    refused = await plan(api, entered)
    assert list(refused.details) == ["tools/weather: auth_config.password"]


async def test_ids_of_another_tenant_are_nobody(people):
    other = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    ids = await fill(other)
    api = await people.signed_in(Role.tenant_admin, await people.tenant())
    agent = {"primary_model": "local/any", "system_prompt": "x"}
    for section, part in (
        ("agents", {**agent, "sub_agents": [{"agent": ids["agent"]}]}),
        ("budgets", {"scope": {"type": "agent", "id": ids["agent"]}, "limit_usd": 1}),
        ("tools", {
            "name": "T", "category": "custom", "tool_type": "rest_api", "auth_type": "api_key",
            "config": {"base_url": "https://a.example"}, "credential": ids["credential"],
        }),
        ("agent_documents", {"agent": ids["agent"], "name": "manual.txt", "sha256": "0" * 64}),
    ):  # fmt: skip
        refused = await plan(api, {"retinue": 1, section: {"x": part}})
        assert refused.status == 422, (section, refused)
        assert next(iter(refused.details)).startswith(f"{section}/x")
    assert (await make_agent(api, "Mine", "x"))["name"] == "Mine"
