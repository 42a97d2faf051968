"""Tests of a plan's warnings: secrets that would not be sent, ambiguous names, missing objects."""

from typing import Any

import pytest

from retinue.access.models import Role
from tests.client import Api
from tests.factories.agents import make_agent
from tests.factories.tools import make_tool

PLAN, EXPORT = "/api/v1/tenant/plan", "/api/v1/tenant/export"
KEY = {"name": "Weather key", "type": "api_key", "secrets": {"api_key": "k-123456"}}
MODEL = {"primary_model": "openai/gpt-4o", "system_prompt": "You help."}


def tool(url: str, **more: Any) -> dict[str, Any]:
    config = {"base_url": url, "endpoints": {"get": {"method": "GET", "path": "/now"}}}
    shown = {"name": "Weather", "category": "custom", "tool_type": "rest_api", "config": config}
    return {**shown, "auth_type": "api_key", "credential": "@credentials/Weather key", **more}


async def make_credential(api: Api, **more: Any) -> dict[str, Any]:
    answer = await api.post("/v1/credentials", {**KEY, **more})
    assert answer.status == 201, answer
    found = answer.json()
    return found.get("data", found)


async def plan(api: Api, **sections: Any) -> Any:
    return await api.post(PLAN, {"document": {"retinue": 1, **sections}})


async def warnings_of(api: Api, **sections: Any) -> list[str]:
    answer = await plan(api, **sections)
    assert answer.status == 200, answer
    return answer.json()["warnings"]


async def test_a_plan_warns_of_every_credential_that_may_not_go_to_its_address(admin):
    await make_credential(admin, metadata={"allowed_hosts": ["https://weather.example"]})
    good, bad = tool("https://weather.example"), tool("https://elsewhere.example")
    channel = {"type": "webhook", "provider": "http", "config": {"url": "https://third.example/in"}}
    found = await warnings_of(
        admin,
        tools={"good": good, "bad": bad},
        notification_channels={"Post": {**channel, "credential": "@credentials/Weather key"}},
    )
    assert [warning.partition(":")[0] for warning in found] == ["tools/bad", "notification_channels/Post"]
    assert "the credential Weather key may not be sent to https://elsewhere.example" in found[0]
    assert "https://third.example" in found[1]


async def test_a_tool_whose_own_secret_was_entered_for_another_address_is_named_also_when_unchanged(admin):
    await make_tool(
        admin, "https://a.example", slug="own", auth_type="bearer", auth_config={"token": "s-123456"}
    )
    exported = (await admin.get(f"{EXPORT}?format=json&sections=tools")).json()["tools"]
    assert await warnings_of(admin, tools=exported) == []
    exported["own"]["config"]["base_url"] = "https://b.example"
    [warning] = await warnings_of(admin, tools=exported)
    assert "entered for https://a.example, not for https://b.example." in warning
    body = {"document": {"retinue": 1, "tools": exported}}
    planned = (await admin.post(PLAN, body)).json()
    applied = await admin.post("/api/v1/tenant/apply", {**body, "plan_hash": planned["plan_hash"]})
    assert applied.status == 200, applied
    assert await warnings_of(admin, tools=exported) == [warning]


async def test_a_credential_for_one_address_may_not_go_to_a_tool_without_one(admin):
    await make_credential(admin, metadata={"allowed_hosts": ["https://weather.example"]})
    script = {
        "name": "Script",
        "category": "custom",
        "tool_type": "function",
        "config": {"code": "return {}"},
        "credential": "@credentials/Weather key",
    }
    [warning] = await warnings_of(admin, tools={"script": script})
    assert "tools/script: the credential Weather key may not be sent to what has no address" in warning


async def test_two_credentials_of_a_name_are_ambiguous(admin):
    await make_credential(admin)
    await make_credential(admin)
    answer = await plan(admin, tools={"weather": tool("https://weather.example")})
    assert answer.status == 422
    assert list(answer.details) == ["tools/weather: credential"]
    assert "is ambiguous: 2 credentials have this name" in answer.details["tools/weather: credential"]


async def test_two_agents_of_a_name_are_ambiguous_where_the_file_does_not_describe_them(admin):
    _, second = [await make_agent(admin, name="Support") for _ in range(2)]
    ask = {"id": "ask", "type": "agent", "config": {"agent_id": "@agents/Support", "message": "Hello"}}
    answer = await plan(admin, workflows={"Greeting": {"nodes": [ask]}})
    assert answer.status == 422
    assert "2 agents have this name" in answer.details["workflows/Greeting: nodes.0.config.agent_id"]
    by_id = {**ask, "config": {**ask["config"], "agent_id": second["id"]}}
    assert (await plan(admin, workflows={"Greeting": {"nodes": [by_id]}})).status == 200
    both = {"Support": MODEL, "Support #2": {**MODEL, "name": "Support"}}
    assert await warnings_of(admin, agents=both, workflows={"Greeting": {"nodes": [ask]}}) == []
    [warning] = await warnings_of(admin, agents={"Support": MODEL})
    assert "agents/Support is ambiguous: 2 objects have this name" in warning


async def test_a_partial_export_names_one_of_several_by_its_id_and_can_be_planned_again(admin):
    agents = [await make_agent(admin, name="Support") for _ in range(2)]
    nodes = [{"id": "ask", "type": "agent", "config": {"agent_id": agents[1]["id"], "message": "Hello"}}]
    made = await admin.post("/api/v1/workflows", {"name": "Greeting", "nodes": nodes})
    assert made.status == 201, made
    exported = (await admin.get(f"{EXPORT}?format=json&sections=workflows")).json()["workflows"]
    assert exported["Greeting"]["nodes"][0]["config"]["agent_id"] == agents[1]["id"]
    answer = await plan(admin, workflows=exported)
    assert [change["action"] for change in answer.json()["changes"]] == ["unchanged"]


async def test_everything_that_is_missing_is_listed_at_once(admin):
    answer = await plan(
        admin,
        tools={"weather": tool("https://weather.example"), "other": tool("https://o.example")},
        agents={
            "Support": {
                **MODEL,
                "description": "@agents/Text stays text",
                "tools": [{"tool": "@tools/weather"}, {"tool": "@tools/nothing"}],
                "sub_agents": [{"agent": "@agents/Nobody"}],
            }
        },
        subscriptions={
            "Tell": {
                "event_type": "agent.created",
                "action_type": "notification",
                "action_config": {"channel_id": "@notification_channels/Mail", "title": "New"},
            }
        },
    )
    assert answer.status == 422
    assert answer.details == {
        "tools/other: credential": "@credentials/Weather key does not exist",
        "tools/weather: credential": "@credentials/Weather key does not exist",
        "agents/Support: tools.1.tool": "@tools/nothing does not exist",
        "agents/Support: sub_agents.0.agent": "@agents/Nobody does not exist",
        "subscriptions/Tell: action_config.channel_id": "@notification_channels/Mail does not exist",
    }


@pytest.mark.either_database
async def test_all_missing_permissions_are_named_at_once(people):
    answer = await plan(await people.signed_in(Role.viewer), tools={}, webhooks={}, agents={})
    assert answer.status == 403
    message = answer.json()["error"]["message"]
    for needed in ("tools:write for tools", "webhooks:write for webhooks", "agents:write for agents"):
        assert needed in message
