"""Versions: every change keeps the whole agent, and any of them can be compared and brought back."""

import asyncio

import pytest

from retinue.agents import service
from tests.factories.agents import (
    attach_agent,
    attach_tool,
    change_agent,
    make_agent,
    make_direct_sub_agent,
    read_agent,
    versions_of,
)
from tests.factories.tools import make_tool


async def version_of(api, agent: dict, number: int) -> dict:
    answer = await api.get(f"/api/v1/agents/{agent['id']}/versions/{number}")
    assert answer.status == 200, answer
    return answer.json()


async def restore_version(api, agent: dict, number: int) -> dict:
    answer = await api.post(f"/api/v1/agents/{agent['id']}/versions/{number}/restore")
    assert answer.status == 200, answer
    return answer.json()


async def differences(api, agent: dict, number: int, **query) -> dict[str, tuple]:
    answer = await api.get(f"/api/v1/agents/{agent['id']}/versions/{number}/diff", query=query)
    assert answer.status == 200, answer
    return {one["path"]: (one["from"], one["to"]) for one in answer.json()["data"]}


async def test_each_change_makes_one_version_that_says_what_changed(admin) -> None:
    agent = await make_agent(admin)
    await change_agent(admin, agent, system_prompt="Other", temperature=0.1)
    await change_agent(admin, agent, status="published")
    await change_agent(admin, agent, name="Renamed")
    listed = await versions_of(admin, agent)
    assert [(one["version"], one["summary"], one["published"]) for one in listed] == [
        (4, "Changed name.", True),
        (3, "Changed status.", True),
        (2, "Changed system_prompt, temperature.", False),
        (1, "Created.", False),
    ]
    assert {one["created_by"] for one in listed} == {admin.user.id}
    assert set(listed[0]) == {"version", "created_at", "created_by", "summary", "published"}


async def test_a_version_holds_the_whole_agent_as_it_was(admin) -> None:
    agent = await make_agent(admin, name="First", description="d", fallback_models=["m"])
    await change_agent(admin, agent, name="Second", description="", fallback_models=[])
    snapshot = (await version_of(admin, agent, 1))["snapshot"]
    assert snapshot["name"] == "First"
    assert (snapshot["description"], snapshot["fallback_models"]) == ("d", ["m"])
    assert snapshot["tools"] == snapshot["sub_agents"] == []
    assert snapshot["log_settings"]["retention_days"] == 30
    assert snapshot["web_search"]["search_engine"] == "duckduckgo"
    assert "credential_destination" not in snapshot["web_search"]


@pytest.mark.parametrize("number", ["2", "0", "-1", "one", "1.0", "²", "9" * 30])
async def test_a_version_that_does_not_exist_is_not_found(admin, number: str) -> None:
    agent = await make_agent(admin)
    path = f"/api/v1/agents/{agent['id']}/versions/{number}"
    for answer in (
        await admin.get(path),
        await admin.get(f"{path}/diff"),
        await admin.post(f"{path}/restore"),
    ):
        assert (answer.status, answer.code) == (404, "version_not_found")
    answer = await admin.get(f"/api/v1/agents/{agent['id']}/versions/1/diff?against=7")
    assert (answer.status, answer.code) == (404, "version_not_found")


async def test_a_diff_names_each_place_that_differs(admin) -> None:
    agent = await make_agent(admin)
    tool = await make_tool(admin, name="Weather")
    await attach_tool(admin, agent, tool, config_override={"timeout_ms": 1})
    await change_agent(admin, agent, name="Renamed", fallback_models=["m"])
    await admin.patch(
        f"/v1/agents/{agent['id']}/tools/{tool['id']}",
        {"config_override": {"timeout_ms": 2, "retry_count": 1}},
    )
    assert await differences(admin, agent, 3) == {
        "name": ("Support", "Renamed"),
        "fallback_models": ([], ["m"]),
    }
    place = f"tools.{tool['id']}"
    assert await differences(admin, agent, 4, against=2) == {
        "name": ("Support", "Renamed"),
        "fallback_models": ([], ["m"]),
        f"{place}.config_override.timeout_ms": (1, 2),
        f"{place}.config_override.retry_count": (None, 1),
    }
    (path,) = await differences(admin, agent, 1, against=2)
    assert path == place
    assert await differences(admin, agent, 1) == {}


async def test_restoring_brings_back_fields_tools_and_sub_agents(admin) -> None:
    agent = await make_agent(admin, name="First", temperature=0.1)
    tool, other = await make_tool(admin, name="One"), await make_tool(admin, name="Two")
    helper = await make_agent(admin, name="Helper")
    await attach_tool(admin, agent, tool, config_override={"timeout_ms": 7}, is_enabled=False)
    await attach_agent(admin, agent, helper, delegation_prompt="Ask it.")
    direct = await make_direct_sub_agent(admin, agent, name="Inner", system_prompt="Before")
    wanted = await read_agent(admin, agent)
    target = wanted["version"]
    path = f"/api/v1/agents/{agent['id']}"

    await change_agent(admin, agent, name="Second", temperature=0.9, status="published")
    await admin.put(
        f"{path}/sub-agents/direct/{direct['id']}", {"system_prompt": "After", "is_enabled": False}
    )
    await admin.delete(f"{path}/sub-agents/{helper['id']}")
    await admin.delete(f"/v1/agents/{agent['id']}/tools/{tool['id']}")
    await attach_tool(admin, agent, other)
    before = await read_agent(admin, agent)

    back = await restore_version(admin, agent, target)
    assert back["warnings"] == []
    assert back["restored_version"] == target
    assert back["version"] == before["version"] + 1
    for name in ("name", "temperature", "tools"):
        assert back[name] == wanted[name], name
    assert sorted(one["name"] for one in back["sub_agents"]) == ["Helper", "Inner"]
    assert back["status"] == "published"
    newest = (await version_of(admin, agent, back["version"]))["snapshot"]
    then = (await version_of(admin, agent, target))["snapshot"]
    assert {**newest, "status": "draft"} | {"sub_agents": None} == then | {"sub_agents": None}
    by_id = {one["id"]: one for one in newest["sub_agents"]}
    assert by_id == {one["id"]: one for one in then["sub_agents"]}
    assert (await versions_of(admin, agent))[0]["summary"] == f"Restored version {target}."


async def test_a_deleted_direct_sub_agent_comes_back_with_its_version(admin) -> None:
    agent = await make_agent(admin)
    direct = await make_direct_sub_agent(admin, agent, system_prompt="Kept")
    path = f"/api/v1/agents/{agent['id']}/sub-agents"
    assert (await admin.delete(f"{path}/{direct['id']}")).status == 204
    back = await restore_version(admin, agent, 2)
    assert back["warnings"] == []
    assert (await admin.get(path)).json()["data"] == [direct]


async def test_what_is_gone_is_left_out_and_named(admin) -> None:
    agent = await make_agent(admin)
    gone, kept = await make_tool(admin, name="Gone"), await make_tool(admin, name="Kept")
    helper = await make_agent(admin, name="Helper")
    await attach_tool(admin, agent, gone)
    await attach_tool(admin, agent, kept)
    await attach_agent(admin, agent, helper)
    target = (await read_agent(admin, agent))["version"]
    await admin.delete(f"/v1/tools/{gone['id']}")
    await admin.delete(f"/api/v1/agents/{helper['id']}")
    back = await restore_version(admin, agent, target)
    assert [one["name"] for one in back["tools"]] == ["Kept"]
    assert back["sub_agents"] == []
    assert back["warnings"] == [
        f"Tool Gone ({gone['id']}) no longer exists.",
        f"Sub-agent Helper ({helper['id']}) no longer exists.",
    ]


async def test_a_restore_closes_no_cycle(admin) -> None:
    upper, lower = await make_agent(admin, name="Upper"), await make_agent(admin, name="Lower")
    await attach_agent(admin, upper, lower)
    await admin.delete(f"/api/v1/agents/{upper['id']}/sub-agents/{lower['id']}")
    await attach_agent(admin, lower, upper)
    back = await restore_version(admin, upper, 2)
    assert back["sub_agents"] == []
    assert back["warnings"] == [f"Sub-agent Lower ({lower['id']}) now delegates to this agent."]


async def test_an_override_that_no_longer_fits_is_left_out_and_named(admin) -> None:
    agent = await make_agent(admin)
    tool = await make_tool(admin, name="Changing")
    await attach_tool(admin, agent, tool, config_override={"url": "x", "headers": {"A": 1}})
    await admin.patch(f"/v1/agents/{agent['id']}/tools/{tool['id']}", {"config_override": None})
    answer = await admin.put(f"/v1/tools/{tool['id']}", {"tool_type": "webhook"})
    assert answer.status == 200
    back = await restore_version(admin, agent, 2)
    assert back["warnings"] == [
        f"The override of tool Changing ({tool['id']}) no longer fits its configuration."
    ]
    answer = await admin.get(f"/v1/agents/{agent['id']}/tools")
    assert answer.json()["data"][0]["config_override"] is None


async def test_parallel_updates_all_count_and_each_is_a_version(admin) -> None:
    agent = await make_agent(admin)
    fields = [{"description": f"d{number}"} for number in range(4)]
    fields += [{"temperature": number / 10} for number in range(4)]
    path = f"/api/v1/agents/{agent['id']}"
    answers = await asyncio.gather(*(admin.put(path, body) for body in fields))
    assert [answer.status for answer in answers] == [200] * 8
    listed = await versions_of(admin, agent)
    assert [one["version"] for one in listed] == list(range(9, 0, -1))
    newest = (await version_of(admin, agent, 9))["snapshot"]
    assert {name: newest[name] for name in ("description", "temperature")} == {
        name: (await read_agent(admin, agent))[name] for name in ("description", "temperature")
    }


async def test_only_so_many_versions_are_kept(admin, monkeypatch) -> None:
    monkeypatch.setattr(service, "MAX_VERSIONS", 3)
    agent = await make_agent(admin)
    for number in range(5):
        await change_agent(admin, agent, name=f"Name {number}")
    assert [one["version"] for one in await versions_of(admin, agent)] == [6, 5, 4]
