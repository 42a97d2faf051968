"""The tools of an agent."""

import asyncio
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.agents.models import Agent, AgentTool
from tests.factories.agents import attach_tool, make_agent, read_agent, try_to_attach_tool, versions_of
from tests.factories.happenings import events
from tests.factories.tools import make_tool


async def attachments(api, agent: dict) -> list[dict]:
    answer = await api.get(f"/v1/agents/{agent['id']}/tools")
    assert answer.status == 200, answer
    return answer.json()["data"]


async def patch_attachment(api, agent: dict, tool: dict, **changes: Any) -> dict:
    answer = await api.patch(f"/v1/agents/{agent['id']}/tools/{tool['id']}", changes)
    assert answer.status == 200, answer
    return answer.json()["data"]


async def load_agent(people, agent: dict) -> Agent:
    async with people.context(await tenant_of(people)) as ctx:
        return await ctx.db.get(Agent, agent["id"])


async def tenant_of(people) -> str:
    return (await people.default_tenant()).id


async def test_a_tool_is_attached_and_shown(admin) -> None:
    agent, tool = await make_agent(admin), await make_tool(admin, name="Weather")
    made = await attach_tool(admin, agent, tool)
    assert made == {
        "agent_id": agent["id"],
        "tool_id": tool["id"],
        "is_enabled": True,
        "display_order": 0,
        "config_override": None,
        "requires_approval": False,
        "always_offered": False,
        "attached_at": made["attached_at"],
    }
    assert await attachments(admin, agent) == [
        {
            "tool_id": tool["id"],
            "tool_name": "Weather",
            "tool_type": "rest_api",
            "category": "custom",
            "is_enabled": True,
            "display_order": 0,
            "config_override": None,
            "requires_approval": False,
            "always_offered": False,
            "attached_at": made["attached_at"],
        }
    ]
    assert (await read_agent(admin, agent))["tools"] == [
        {"id": tool["id"], "name": "Weather", "tool_type": "rest_api", "is_enabled": True}
    ]


async def test_attachments_come_in_their_order(admin) -> None:
    agent = await make_agent(admin)
    names = {}
    for name, order in (("a", None), ("b", 7), ("c", None), ("d", 3)):
        tool = await make_tool(admin, name=name)
        names[name] = tool
        await attach_tool(admin, agent, tool, display_order=order)
    found = [(one["tool_name"], one["display_order"]) for one in await attachments(admin, agent)]
    assert found == [("a", 0), ("d", 3), ("b", 7), ("c", 8)]
    await patch_attachment(admin, agent, names["c"], display_order=1)
    assert [one["tool_name"] for one in await attachments(admin, agent)] == ["a", "c", "d", "b"]


async def test_the_same_tool_twice_is_refused(admin) -> None:
    agent, tool = await make_agent(admin), await make_tool(admin)
    await attach_tool(admin, agent, tool)
    answer = await try_to_attach_tool(admin, agent, tool)
    assert (answer.status, answer.code) == (409, "already_attached")
    assert len(await attachments(admin, agent)) == 1


async def test_a_tool_of_nobody_or_of_another_tenant_is_not_found(people, admin) -> None:
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    agent, theirs = await make_agent(admin), await make_tool(stranger)
    for tool in (theirs, {"id": "tool_aaaaaaaaaaaaaaaaaaaaaaaaaa"}):
        answer = await try_to_attach_tool(admin, agent, tool)
        assert (answer.status, answer.code) == (404, "tool_not_found")


async def test_a_tool_that_is_not_attached_is_not_found_below_the_agent(admin) -> None:
    agent, tool = await make_agent(admin), await make_tool(admin)
    path = f"/v1/agents/{agent['id']}/tools/{tool['id']}"
    for answer in (await admin.patch(path, {"is_enabled": False}), await admin.delete(path)):
        assert (answer.status, answer.code) == (404, "tool_not_found")


async def test_a_patch_changes_what_it_names_and_null_removes_the_override(admin) -> None:
    agent, tool = await make_agent(admin), await make_tool(admin)
    await attach_tool(admin, agent, tool, config_override={"timeout_ms": 5})
    changed = await patch_attachment(admin, agent, tool, is_enabled=False)
    assert (changed["is_enabled"], changed["config_override"]) == (False, {"timeout_ms": 5})
    assert (await read_agent(admin, agent))["tools"][0]["is_enabled"] is False
    changed = await patch_attachment(admin, agent, tool, config_override=None)
    assert (changed["is_enabled"], changed["config_override"]) == (False, None)


async def test_a_patch_that_changes_nothing_makes_no_version(admin) -> None:
    agent, tool = await make_agent(admin), await make_tool(admin)
    await attach_tool(admin, agent, tool, config_override={"timeout_ms": 5})
    before = await versions_of(admin, agent)
    await patch_attachment(admin, agent, tool, is_enabled=True, config_override={"timeout_ms": 5})
    await patch_attachment(admin, agent, tool)
    assert await versions_of(admin, agent) == before


@pytest.mark.parametrize(
    ("override", "field"),
    [
        ("text", "config_override"),
        ([], "config_override"),
        ({"timeout_ms": "soon"}, "config_override.timeout_ms"),
        ({"base_url": "no url"}, "config_override.base_url"),
        ({"endpoints": {"get": {"method": "BREW"}}}, "config_override.endpoints.get.method"),
        ({"endpoints": {"get": 7}}, "config_override.endpoints"),
        ({"x": "y" * 17_000}, "config_override"),
    ],
)
async def test_an_override_that_cannot_be_is_named(admin, override: Any, field: str) -> None:
    agent, tool = await make_agent(admin), await make_tool(admin)
    answer = await try_to_attach_tool(admin, agent, tool, config_override=override)
    assert (answer.status, answer.code) == (422, "validation_error")
    assert [name for name in answer.details if name.startswith(field)]
    await attach_tool(admin, agent, tool)
    path = f"/v1/agents/{agent['id']}/tools/{tool['id']}"
    assert (await admin.patch(path, {"config_override": override})).status == 422
    assert (await attachments(admin, agent))[0]["config_override"] is None


async def test_every_change_of_attachments_is_a_version(people, admin) -> None:
    agent, tool = await make_agent(admin), await make_tool(admin, name="Weather")
    await attach_tool(admin, agent, tool)
    await patch_attachment(admin, agent, tool, is_enabled=False)
    assert (await admin.delete(f"/v1/agents/{agent['id']}/tools/{tool['id']}")).status == 204
    assert [one["summary"] for one in await versions_of(admin, agent)] == [
        "Detached tool Weather.",
        "Changed tool Weather.",
        "Attached tool Weather.",
        "Created.",
    ]
    assert [event.data["changes"] for event in await events(people, "agent.updated")] == [["tools"]] * 3
    assert (await load_agent(people, agent)).tool_count == 0


async def test_a_deleted_tool_leaves_every_agent_and_their_counts_are_right(people, admin) -> None:
    tool, other = await make_tool(admin, name="Gone"), await make_tool(admin)
    agents = [await make_agent(admin) for _ in range(3)]
    for agent in agents:
        await attach_tool(admin, agent, tool)
    await attach_tool(admin, agents[0], other)
    assert (await admin.delete(f"/v1/tools/{tool['id']}")).status == 204
    assert [(await load_agent(people, agent)).tool_count for agent in agents] == [1, 0, 0]
    assert [len(await attachments(admin, agent)) for agent in agents] == [1, 0, 0]
    for agent in agents:
        assert (await versions_of(admin, agent))[0]["summary"] == "Tool Gone was deleted."


async def test_a_tool_attached_and_deleted_at_once_leaves_no_count_behind(people, admin) -> None:
    agents = [await make_agent(admin) for _ in range(4)]
    for _ in range(3):
        tool = await make_tool(admin)
        deleting = admin.delete(f"/v1/tools/{tool['id']}")
        answers = await asyncio.gather(
            *(try_to_attach_tool(admin, agent, tool) for agent in agents[:2]),
            deleting,
            *(try_to_attach_tool(admin, agent, tool) for agent in agents[2:]),
        )
        assert {answer.status for answer in answers} <= {201, 204, 404}
    async with people.context(await tenant_of(people)) as ctx:
        assert await ctx.db.count(AgentTool) == 0
        assert {agent.tool_count for agent in await ctx.db.all(Agent)} == {0}


async def test_parallel_attaching_of_one_tool_attaches_it_once(people, admin) -> None:
    agent, tool = await make_agent(admin), await make_tool(admin)
    answers = await asyncio.gather(*(try_to_attach_tool(admin, agent, tool) for _ in range(6)))
    assert sorted(answer.status for answer in answers) == [201] + [409] * 5
    assert (await load_agent(people, agent)).tool_count == 1


async def test_an_agent_has_so_many_tools_and_no_more(people, admin, monkeypatch) -> None:
    monkeypatch.setattr("retinue.agents.attachments.MAX_TOOLS", 2)
    agent = await make_agent(admin)
    for _ in range(2):
        await attach_tool(admin, agent, await make_tool(admin))
    answer = await try_to_attach_tool(admin, agent, await make_tool(admin))
    assert (answer.status, answer.code) == (409, "too_many_attached")
