"""Sub-agents: templates that are attached, and direct ones that live with their parent."""

import asyncio
import itertools
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.agents.models import Agent, AgentTool, AgentVersion, SubAgent
from tests.client import Api
from tests.factories.agents import (
    agent_body,
    attach_agent,
    attach_tool,
    change_agent,
    make_agent,
    make_direct_sub_agent,
    read_agent,
    try_to_attach_agent,
    versions_of,
)
from tests.factories.happenings import events
from tests.factories.tools import make_tool


async def sub_agents(api: Api, agent: dict[str, Any]) -> list[dict[str, Any]]:
    answer = await api.get(f"/api/v1/agents/{agent['id']}/sub-agents")
    assert answer.status == 200, answer
    return answer.json()["data"]


def below(agent: dict[str, Any], sub: dict[str, Any], kind: str = "") -> str:
    return f"/api/v1/agents/{agent['id']}/sub-agents/{kind}{sub['id']}"


async def count_sub_agents(people, api: Api) -> dict[str, int]:
    """Return the stored count of sub-agents of each agent, compared with the real one."""
    async with people.context(api.user.tenant_id) as ctx:
        agents = await ctx.db.all(Agent)
        for agent in agents:
            assert agent.sub_agent_count == await ctx.db.count(SubAgent, parent_id=agent.id), agent.name
        return {agent.name: agent.sub_agent_count for agent in agents}


async def test_an_agent_is_attached_under_its_own_id(admin) -> None:
    parent, child = await make_agent(admin, name="Parent"), await make_agent(admin, name="Child")
    made = await attach_agent(admin, parent, child)
    assert made == {
        "id": child["id"],
        "name": "Child",
        "relationship_type": "template",
        "is_enabled": True,
        "delegation_prompt": "",
    }
    assert await sub_agents(admin, parent) == [made]
    assert (await read_agent(admin, parent))["sub_agents"] == [
        {"id": child["id"], "name": "Child", "relationship_type": "template"}
    ]


async def test_a_direct_sub_agent_is_shown_with_its_parent_and_nowhere_else(admin) -> None:
    parent = await make_agent(admin, name="Parent")
    made = await make_direct_sub_agent(admin, parent, temperature=0.3)
    assert made["relationship_type"] == "direct"
    assert (made["primary_model"], made["temperature"]) == ("openai/gpt-4o-mini", 0.3)
    assert made["system_prompt"] == agent_body()["system_prompt"]
    assert await sub_agents(admin, parent) == [made]
    listed = (await admin.get("/api/v1/agents")).json()
    assert [one["name"] for one in listed["data"]] == ["Parent"]
    assert listed["pagination"]["total"] == 1
    path = f"/api/v1/agents/{made['id']}"
    for answer in (
        await admin.get(path),
        await admin.put(path, {"name": "x"}),
        await admin.delete(path),
        await admin.get(f"{path}/versions"),
        await admin.get(f"/v1/agents/{made['id']}/tools"),
        await try_to_attach_agent(admin, await make_agent(admin), made),
    ):
        assert (answer.status, answer.code) == (404, "agent_not_found")


@pytest.mark.parametrize("field", ["name", "primary_model", "system_prompt"])
async def test_a_direct_sub_agent_needs_what_an_agent_needs(admin, field: str) -> None:
    parent, body = await make_agent(admin), agent_body()
    del body[field]
    answer = await admin.post(f"/api/v1/agents/{parent['id']}/sub-agents/direct", body)
    assert (answer.status, answer.details) == (422, {field: "is required"})


async def test_a_direct_sub_agent_is_changed_through_its_parent(admin) -> None:
    parent = await make_agent(admin)
    made = await make_direct_sub_agent(admin, parent)
    changes = {
        "name": "Renamed",
        "primary_model": "other",
        "system_prompt": "Other",
        "delegation_prompt": "Ask",
        "temperature": 0.9,
        "max_tokens": 10,
        "is_enabled": False,
    }
    answer = await admin.put(below(parent, made, "direct/"), changes)
    assert (answer.status, answer.json()) == (200, {**made, **changes})
    assert await sub_agents(admin, parent) == [{**made, **changes}]
    answer = await admin.put(below(parent, made, "direct/"), {"temperature": None, "delegation_prompt": None})
    assert (answer.json()["temperature"], answer.json()["delegation_prompt"]) == (None, "")


async def test_a_template_is_not_changed_as_if_it_were_direct(admin) -> None:
    parent, child = await make_agent(admin), await make_agent(admin)
    await attach_agent(admin, parent, child)
    answer = await admin.put(below(parent, child, "direct/"), {"name": "x"})
    assert (answer.status, answer.code) == (409, "not_a_direct_sub_agent")
    assert (await read_agent(admin, child))["name"] == child["name"]


async def test_delegation_is_patched_for_both_kinds(admin) -> None:
    parent, child = await make_agent(admin), await make_agent(admin)
    await attach_agent(admin, parent, child, delegation_prompt="Before", is_enabled=False)
    direct = await make_direct_sub_agent(admin, parent)
    for sub in (child, direct):
        answer = await admin.patch(below(parent, sub), {"delegation_prompt": "After", "is_enabled": True})
        assert answer.status == 200
        assert (answer.json()["delegation_prompt"], answer.json()["is_enabled"]) == ("After", True)
    assert (await admin.patch(below(parent, child), {"is_enabled": None})).status == 422


async def test_a_sub_agent_of_someone_else_is_not_found(people, admin) -> None:
    parent, other, child = [await make_agent(admin) for _ in range(3)]
    await attach_agent(admin, other, child)
    direct = await make_direct_sub_agent(admin, other)
    for sub in (child, direct, {"id": "agt_aaaaaaaaaaaaaaaaaaaaaaaaaa"}):
        for answer in (
            await admin.patch(below(parent, sub), {}),
            await admin.put(below(parent, sub, "direct/"), {}),
            await admin.delete(below(parent, sub)),
        ):
            assert (answer.status, answer.code) == (404, "sub_agent_not_found")
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    theirs = await make_agent(stranger)
    answer = await try_to_attach_agent(admin, parent, theirs)
    assert (answer.status, answer.code) == (404, "agent_not_found")


async def test_the_same_agent_twice_is_refused(admin) -> None:
    parent, child = await make_agent(admin), await make_agent(admin)
    await attach_agent(admin, parent, child)
    answer = await try_to_attach_agent(admin, parent, child)
    assert (answer.status, answer.code) == (409, "already_attached")


async def test_no_agent_is_below_itself(admin) -> None:
    agents = [await make_agent(admin) for _ in range(4)]
    for upper, lower in itertools.pairwise(agents):
        await attach_agent(admin, upper, lower)
    for lower in agents:
        for upper in agents[: agents.index(lower) + 1]:
            answer = await try_to_attach_agent(admin, lower, upper)
            assert (answer.status, answer.code) == (409, "sub_agent_cycle")
    await attach_agent(admin, agents[0], agents[3])


async def test_a_task_is_handed_on_five_times_and_no_more(admin) -> None:
    agents = [await make_agent(admin) for _ in range(7)]
    for upper, lower in itertools.pairwise(agents[3:]):
        await attach_agent(admin, upper, lower)
    await attach_agent(admin, agents[2], agents[3])
    await attach_agent(admin, agents[1], agents[2])
    answer = await try_to_attach_agent(admin, agents[0], agents[1])
    assert (answer.status, answer.code) == (409, "sub_agents_too_deep")
    answer = await admin.post(f"/api/v1/agents/{agents[6]['id']}/sub-agents/direct", agent_body())
    assert (answer.status, answer.code) == (409, "sub_agents_too_deep")
    await make_direct_sub_agent(admin, agents[5])


@pytest.mark.parametrize("round", range(3))
async def test_two_who_attach_each_other_at_once_do_not_both_succeed(people, admin, round: int) -> None:
    agents = [await make_agent(admin, name=f"{round}-{n}") for n in range(4)]
    await attach_agent(admin, agents[0], agents[1])
    await attach_agent(admin, agents[2], agents[3])
    answers = await asyncio.gather(
        try_to_attach_agent(admin, agents[1], agents[2]), try_to_attach_agent(admin, agents[3], agents[0])
    )
    assert sorted(answer.status for answer in answers) == [201, 409]
    pair = [await make_agent(admin, name=f"pair-{n}") for n in range(2)]
    answers = await asyncio.gather(
        *(try_to_attach_agent(admin, *order) for order in (pair, pair[::-1], pair, pair[::-1]))
    )
    assert [answer.status for answer in answers].count(201) == 1
    await count_sub_agents(people, admin)


async def test_removing_a_template_only_detaches_it_and_a_direct_one_is_deleted(people, admin) -> None:
    parent, child = await make_agent(admin, name="Parent"), await make_agent(admin, name="Child")
    await attach_agent(admin, parent, child)
    direct = await make_direct_sub_agent(admin, parent, name="Direct")
    assert await count_sub_agents(people, admin) == {"Parent": 2, "Child": 0, "Direct": 0}
    for sub in (child, direct):
        assert (await admin.delete(below(parent, sub))).status == 204
    assert await count_sub_agents(people, admin) == {"Parent": 0, "Child": 0}
    assert await sub_agents(admin, parent) == []
    assert [one["summary"] for one in await versions_of(admin, parent)][:2] == [
        "Deleted sub-agent Direct.",
        "Detached sub-agent Child.",
    ]


async def test_a_deleted_agent_takes_its_own_along_and_leaves_the_others(people, admin) -> None:
    upper, agent, lower = [await make_agent(admin, name=name) for name in ("Upper", "Gone", "Lower")]
    await attach_agent(admin, upper, agent)
    await attach_agent(admin, agent, lower)
    await make_direct_sub_agent(admin, agent)
    await attach_tool(admin, agent, await make_tool(admin))
    assert (await admin.delete(f"/api/v1/agents/{agent['id']}")).status == 204
    assert await count_sub_agents(people, admin) == {"Upper": 0, "Lower": 0}
    assert (await versions_of(admin, upper))[0]["summary"] == "Sub-agent Gone was deleted."
    assert (await events(people, "agent.updated"))[-1].data["agent_id"] == upper["id"]
    async with people.context(admin.user.tenant_id) as ctx:
        assert await ctx.db.count(AgentTool) == await ctx.db.count(SubAgent) == 0
        assert await ctx.db.count(AgentVersion, agent_id=agent["id"]) == 0


async def test_agents_that_are_attached_and_deleted_at_once_leave_right_counts(people, admin) -> None:
    tool = await make_tool(admin)
    agents = [await make_agent(admin, name=str(n)) for n in range(6)]
    for agent in agents[:4]:
        await attach_tool(admin, agent, tool)
    await attach_agent(admin, agents[0], agents[1])
    answers = await asyncio.gather(
        try_to_attach_agent(admin, agents[1], agents[2]),
        admin.delete(f"/api/v1/agents/{agents[1]['id']}"),
        try_to_attach_agent(admin, agents[3], agents[1]),
        admin.delete(f"/v1/tools/{tool['id']}"),
        change_agent(admin, agents[0], name="Renamed"),
        try_to_attach_agent(admin, agents[4], agents[0]),
        admin.delete(f"/api/v1/agents/{agents[5]['id']}"),
    )
    statuses = [answer.status for answer in answers if not isinstance(answer, dict)]
    assert set(statuses) <= {201, 204, 404}
    await count_sub_agents(people, admin)
    async with people.context(admin.user.tenant_id) as ctx:
        assert {agent.tool_count for agent in await ctx.db.all(Agent)} == {0}


async def test_every_change_of_sub_agents_is_a_version_of_the_parent(people, admin) -> None:
    parent = await make_agent(admin)
    direct = await make_direct_sub_agent(admin, parent, name="Direct", system_prompt="Before")
    await admin.put(below(parent, direct, "direct/"), {"system_prompt": "After"})
    await admin.patch(below(parent, direct), {"is_enabled": True})
    listed = await versions_of(admin, parent)
    assert [one["summary"] for one in listed] == [
        "Changed sub-agent Direct.",
        "Created sub-agent Direct.",
        "Created.",
    ]
    answer = await admin.get(f"/api/v1/agents/{parent['id']}/versions/2")
    assert answer.json()["snapshot"]["sub_agents"][0]["agent"]["system_prompt"] == "Before"
    assert [event.data["changes"] for event in await events(people, "agent.updated")] == [["sub_agents"]] * 2


async def test_an_agent_has_so_many_sub_agents_and_no_more(admin, monkeypatch) -> None:
    monkeypatch.setattr("retinue.agents.sub_agents.MAX_SUB_AGENTS", 1)
    parent = await make_agent(admin)
    await make_direct_sub_agent(admin, parent)
    for answer in (
        await try_to_attach_agent(admin, parent, await make_agent(admin)),
        await admin.post(f"/api/v1/agents/{parent['id']}/sub-agents/direct", agent_body()),
    ):
        assert (answer.status, answer.code) == (409, "too_many_attached")
