"""Agents as files, and templates."""

from typing import Any

from retinue.access.models import Role
from tests.client import Api
from tests.factories.agents import attach_tool, make_agent, read_agent
from tests.factories.people import People
from tests.factories.tools import make_tool

PATH = "/api/v1/agents"


async def export_agent(api: Api, agent: dict[str, Any]) -> dict[str, Any]:
    answer = await api.get(f"{PATH}/{agent['id']}/export")
    assert answer.status == 200, answer
    return answer.json()


async def test_an_agent_survives_the_way_through_a_file(admin: Api) -> None:
    tool = await make_tool(admin, name="Orders")
    agent = await make_agent(admin, name="Clerk", temperature=0.25, description="Helps")
    await attach_tool(admin, agent, tool, config_override={"headers": {"X-Key": "sk-very-secret"}})
    file = await export_agent(admin, agent)
    assert "sk-very-secret" not in str(file)
    answer = await admin.post(f"{PATH}/import", file)
    assert answer.status == 201, answer
    copy = answer.json()["agent"]
    same = ("name", "description", "primary_model", "system_prompt", "temperature", "max_tokens", "timeouts")
    assert {name: copy[name] for name in same} == {name: agent[name] for name in same}
    assert (copy["status"], copy["id"] == agent["id"]) == ("draft", False)
    assert [one["id"] for one in (await read_agent(admin, copy))["tools"]] == [tool["id"]]
    assert any("settings of the tool" in text for text in answer.json()["warnings"])
    again = await export_agent(admin, copy)
    assert again["agent"] == file["agent"]


async def test_what_is_missing_elsewhere_is_named(admin: Api, people: People) -> None:
    tool = await make_tool(admin, name="Orders")
    agent = await make_agent(admin, primary_model="nobody/model")
    await attach_tool(admin, agent, tool)
    file = await export_agent(admin, agent)
    elsewhere = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    answer = await elsewhere.post(f"{PATH}/import", file)
    assert answer.status == 201, answer
    assert f"There is no tool {tool['slug']} here." in answer.json()["warnings"]
    wrong = {**file, "format": "other/1"}
    assert (await elsewhere.post(f"{PATH}/import", wrong)).status == 422
    viewer = await people.signed_in(Role.viewer)
    assert (await viewer.post(f"{PATH}/import", file)).status == 403


async def test_every_template_makes_an_agent(admin: Api) -> None:
    templates = (await admin.get(f"{PATH}/templates")).json()["data"]
    assert len(templates) >= 8
    assert len({one["id"] for one in templates}) == len(templates)
    for one in templates:
        body = {name: one[name] for name in ("name", "description", "system_prompt", "temperature")}
        file = {"format": "retinue.agent/1", "agent": {**body, "primary_model": "any/model"}}
        answer = await admin.post(f"{PATH}/import", {**file, "web_search": {"enabled": one["web_search"]}})
        assert answer.status == 201, answer
