"""T1: an override wins, but leads a tool's secrets elsewhere only if someone entitled saved it."""

from typing import Any

import pytest

from retinue.agents.models import AgentTool
from retinue.tools.models import ExecutionSource, Tool
from retinue.tools.run.execute import execute
from tests.factories.agents import attach_tool, make_agent
from tests.factories.happenings import audits
from tests.factories.tools import change_tool, make_tool

SECRET = "tok-4711-entered-for-one-host"
BEARER = {"auth_type": "bearer", "auth_config": {"token": SECRET}}


async def run(people, api, agent: dict, tool: dict) -> Any:
    """Run a tool as an agent does: with what its attachment says now."""
    tenant_id = api.user.tenant_id
    async with people.context(tenant_id) as ctx:
        attachment = await ctx.db.find(AgentTool, agent_id=agent["id"], tool_id=tool["id"])
        record = await ctx.db.get(Tool, tool["id"])
    return await execute(
        people.context(tenant_id),
        record,
        {},
        source=ExecutionSource.agent,
        agent_id=agent["id"],
        override=attachment.config_override,
        override_destination=attachment.override_destination,
    )


async def outcome(people, api, agent: dict, tool: dict) -> str:
    finished = await run(people, api, agent, tool)
    return "completed" if finished.error is None else finished.error.code


def saw_secret(server) -> bool:
    return any(SECRET in str(seen.headers) for seen in server.seen)


async def patch(api, agent: dict, tool: dict, override: Any) -> None:
    path = f"/v1/agents/{agent['id']}/tools/{tool['id']}"
    assert (await api.patch(path, {"config_override": override})).status == 200


async def credential(api) -> dict:
    body = {"name": "CRM", "type": "bearer_token", "secrets": {"token": SECRET}}
    answer = await api.post("/v1/credentials", body)
    assert answer.status == 201, answer
    return {"auth_type": "bearer", "auth_config": {"credential_id": answer.json()["data"]["id"]}}


@pytest.fixture(params=["own secret", "credential"])
async def secret(request, admin) -> dict:
    return BEARER if request.param == "own secret" else await credential(admin)


async def test_without_a_secret_an_override_leads_anywhere(people, developer, remote, elsewhere) -> None:
    tool, agent = await make_tool(developer, remote.url), await make_agent(developer)
    await attach_tool(developer, agent, tool, config_override={"base_url": elsewhere.url})
    assert await outcome(people, developer, agent, tool) == "completed"
    assert (len(remote.seen), len(elsewhere.seen)) == (0, 1)


async def test_an_override_at_the_same_place_keeps_the_secret(
    people, admin, developer, remote, secret
) -> None:
    tool, agent = await make_tool(admin, remote.url, **secret), await make_agent(developer)
    override = {"base_url": f"{remote.url}/v2", "endpoints": {"get": {"path": "/other"}}}
    await attach_tool(developer, agent, tool, config_override=override)
    assert await outcome(people, developer, agent, tool) == "completed"
    assert remote.last.target == "/v2/other"
    assert saw_secret(remote)


async def test_an_override_of_someone_not_entitled_is_stored_and_refused_when_run(
    people, admin, developer, remote, elsewhere, secret
) -> None:
    tool, agent = await make_tool(admin, remote.url, **secret), await make_agent(developer)
    override = {"base_url": elsewhere.url}
    made = await attach_tool(developer, agent, tool, config_override=override)
    assert made["config_override"] == override
    assert await outcome(people, developer, agent, tool) == "destination_changed"
    assert elsewhere.seen == []


async def test_an_override_of_someone_entitled_leads_the_secret_there(
    people, admin, developer, remote, elsewhere, secret
) -> None:
    tool, agent = await make_tool(admin, remote.url, **secret), await make_agent(developer)
    await attach_tool(admin, agent, tool, config_override={"base_url": elsewhere.url})
    assert await outcome(people, developer, agent, tool) == "completed"
    assert saw_secret(elsewhere)
    told = (await audits(people, "agent.updated"))[-1].metadata["changes"]
    assert told == ["secret_destination", "tools"]
    other = await make_agent(developer)
    await attach_tool(developer, other, tool, config_override={"base_url": elsewhere.url})
    assert await outcome(people, developer, other, tool) == "destination_changed"


async def test_who_changes_something_else_keeps_what_was_allowed_and_no_more(
    people, admin, developer, remote, elsewhere
) -> None:
    tool, agent = await make_tool(admin, remote.url, **BEARER), await make_agent(developer)
    await attach_tool(admin, agent, tool, config_override={"base_url": elsewhere.url})
    await patch(developer, agent, tool, {"base_url": elsewhere.url, "timeout_ms": 5000})
    assert await outcome(people, developer, agent, tool) == "completed"
    await patch(developer, agent, tool, {"base_url": "http://127.0.0.1:9"})
    assert await outcome(people, developer, agent, tool) == "destination_changed"
    await patch(developer, agent, tool, None)
    assert await outcome(people, developer, agent, tool) == "completed"
    await patch(developer, agent, tool, {"base_url": elsewhere.url})
    assert await outcome(people, developer, agent, tool) == "destination_changed"


async def test_who_saves_an_override_has_not_agreed_to_the_address_another_gave_the_tool(
    people, admin, developer, remote, elsewhere
) -> None:
    tool, agent = await make_tool(admin, remote.url, **BEARER), await make_agent(developer)
    await change_tool(developer, tool, config={"base_url": elsewhere.url})
    await attach_tool(admin, agent, tool, config_override={"timeout_ms": 5000})
    assert await outcome(people, developer, agent, tool) == "destination_changed"
    assert elsewhere.seen == []


async def test_a_tool_that_moves_below_an_override_takes_no_secret_along(
    people, admin, developer, remote, elsewhere
) -> None:
    tool, agent = await make_tool(admin, remote.url, **BEARER), await make_agent(developer)
    await attach_tool(admin, agent, tool, config_override={"timeout_ms": 5000})
    assert await outcome(people, developer, agent, tool) == "completed"
    await change_tool(developer, tool, config={"base_url": elsewhere.url})
    assert await outcome(people, developer, agent, tool) == "destination_changed"
    assert elsewhere.seen == []


async def test_restoring_a_version_opens_no_way_for_someone_not_entitled(
    people, admin, developer, remote, elsewhere
) -> None:
    tool, agent = await make_tool(admin, remote.url, **BEARER), await make_agent(developer)
    await attach_tool(admin, agent, tool, config_override={"base_url": elsewhere.url})
    await patch(admin, agent, tool, None)
    path = f"/api/v1/agents/{agent['id']}/versions/2/restore"
    assert (await developer.post(path)).status == 200
    assert await outcome(people, developer, agent, tool) == "destination_changed"
    assert (await admin.post(path)).status == 200
    assert await outcome(people, developer, agent, tool) == "completed"


async def test_no_version_and_no_event_holds_a_secret(people, admin, remote) -> None:
    tool, agent = await make_tool(admin, remote.url, **BEARER), await make_agent(admin)
    await attach_tool(admin, agent, tool, config_override={"base_url": "http://127.0.0.1:9"})
    for path in ("", "/versions", "/versions/2", "/versions/2/diff"):
        answer = await admin.get(f"/api/v1/agents/{agent['id']}{path}")
        assert SECRET.encode() not in answer.body
    assert all(SECRET not in str(row.metadata) for row in await audits(people, "agent.updated"))
