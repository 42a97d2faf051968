"""Agents: created, read, listed, changed and deleted."""

from typing import Any

import pytest

from retinue.access.models import Role
from retinue.agents.settings import AgentSettings
from retinue.chat.models import ChatChannel, Conversation
from retinue.embed.models import EmbedKey
from retinue.kit.schema.derived import declared_fields
from tests.factories.agents import agent_body, change_agent, make_agent, read_agent

SUMMARY = {
    "id",
    "name",
    "description",
    "primary_model",
    "status",
    "temperature",
    "created_at",
    "updated_at",
}
MORE = {*(field.name for field in declared_fields(AgentSettings)), "version", "created_by", "published_at"}


async def test_a_new_agent_has_the_defaults_and_is_a_draft(admin) -> None:
    answer = await admin.post("/api/v1/agents", agent_body())
    assert answer.status == 201
    agent = answer.json()
    assert set(agent) == SUMMARY | MORE
    assert agent["id"].startswith("agt_")
    assert agent["description"] == ""
    assert (agent["temperature"], agent["max_tokens"]) == (0.7, 2048)
    assert (agent["status"], agent["version"], agent["published_at"]) == ("draft", 1, None)
    assert agent["created_by"] == admin.user.id


async def test_every_field_is_kept_as_it_was_given(admin) -> None:
    given = {
        "name": "n" * 100,
        "description": "What it does",
        "primary_model": "anything/at-all:v1",
        "fallback_models": ["a/b", "c/d"],
        "system_prompt": "p" * 32_000,
        "temperature": 0,
        "max_tokens": 1_000_000,
        "status": "published",
    }
    made = await make_agent(admin, **given)
    read = await read_agent(admin, made)
    for shown in (made, read):
        assert {name: shown[name] for name in given} == given


async def test_null_for_an_optional_field_of_a_new_agent(admin) -> None:
    optional = ("description", "temperature", "max_tokens", "status", "fallback_models")
    agent = await make_agent(admin, **dict.fromkeys(optional))
    shown = [agent[name] for name in optional]
    assert shown == ["", None, None, "draft", []]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", None),
        ("name", ""),
        ("name", "   "),
        ("name", "n" * 101),
        ("name", 7),
        ("primary_model", None),
        ("primary_model", ""),
        ("primary_model", "m" * 201),
        ("system_prompt", None),
        ("system_prompt", ["x"]),
        ("system_prompt", "p" * 32_001),
        ("temperature", -0.01),
        ("temperature", 1.01),
        ("temperature", "warm"),
        ("max_tokens", 0),
        ("max_tokens", 1_000_001),
        ("max_tokens", 1.5),
        ("status", "archived"),
        ("status", "online"),
        ("fallback_models", ["a"] * 6),
        ("fallback_models", [""]),
    ],
)
async def test_a_field_that_cannot_be_is_named(admin, field: str, value: Any) -> None:
    answer = await admin.post("/api/v1/agents", agent_body(**{field: value}))
    assert (answer.status, answer.code) == (422, "validation_error")
    assert [name.partition(".")[0] for name in answer.details] == [field]


@pytest.mark.parametrize("field", ["name", "primary_model", "system_prompt"])
async def test_what_is_required_must_be_there(admin, field: str) -> None:
    body = agent_body()
    del body[field]
    answer = await admin.post("/api/v1/agents", body)
    assert (answer.status, answer.details) == (422, {field: "is required"})


async def test_the_whole_agent_shows_tools_knowledge_and_sub_agents(admin) -> None:
    agent = await read_agent(admin, await make_agent(admin))
    assert set(agent) == SUMMARY | MORE | {"tools", "knowledge_base", "sub_agents"}
    assert agent["tools"] == agent["sub_agents"] == []
    assert agent["knowledge_base"] == {"enabled": False, "document_count": 0, "chunk_count": 0}


async def test_a_list_carries_exactly_the_summary(admin) -> None:
    for number in range(3):
        await make_agent(admin, name=f"Agent {number}")
    answer = await admin.get("/api/v1/agents?per_page=2")
    listed = answer.json()
    assert [set(item) for item in listed["data"]] == [SUMMARY, SUMMARY]
    assert listed["pagination"] == {"page": 1, "per_page": 2, "total": 3, "total_pages": 2}


async def test_a_list_is_searched_by_name_and_filtered_by_status(admin) -> None:
    await make_agent(admin, name="Alpha", system_prompt="beta")
    await make_agent(admin, name="Beta 100%", status="published")

    async def found(query: str) -> list[str]:
        answer = await admin.get(f"/api/v1/agents?{query}")
        assert answer.status == 200, answer
        return sorted(item["name"] for item in answer.json()["data"])

    assert await found("search=beta") == ["Beta 100%"]
    assert await found("search=%25") == ["Beta 100%"]
    assert await found("status=draft") == ["Alpha"]
    assert await found("status=archived") == []
    assert await found("sort=name") == ["Alpha", "Beta 100%"]
    assert (await admin.get("/api/v1/agents?status=online")).status == 422
    assert (await admin.get("/api/v1/agents?sort=system_prompt")).details.keys() == {"sort"}
    assert (await admin.get("/api/v1/agents?per_page=500")).json()["pagination"]["per_page"] == 100


async def test_an_update_changes_only_what_it_names(admin, clock) -> None:
    agent = await make_agent(admin, description="Old", temperature=0.2)
    clock.advance(60)
    changed = await change_agent(admin, agent, description="New")
    assert changed["description"] == "New"
    assert changed["updated_at"] > agent["updated_at"]
    same = SUMMARY | MORE - {"version"}
    for name in same - {"description", "updated_at", "version"}:
        assert changed[name] == agent[name], name


async def test_null_empties_an_optional_field(admin) -> None:
    given = {"description": "d", "temperature": 0.1, "max_tokens": 5, "fallback_models": ["a"]}
    agent = await make_agent(admin, **given)
    changed = await change_agent(admin, agent, **dict.fromkeys(given))
    assert [changed[name] for name in given] == ["", None, None, []]
    for name in ("name", "primary_model", "system_prompt", "status"):
        answer = await admin.put(f"/api/v1/agents/{agent['id']}", {name: None})
        assert (answer.status, list(answer.details)) == (422, [name])


async def test_the_same_fallback_twice_is_one(admin) -> None:
    agent = await make_agent(admin, fallback_models=["b", "a", "b"])
    assert agent["fallback_models"] == ["b", "a"]


async def test_a_deleted_agent_is_gone_everywhere(admin) -> None:
    agent = await make_agent(admin)
    path = f"/api/v1/agents/{agent['id']}"
    assert (await admin.delete(path)).status == 204
    for answer in (
        await admin.get(path),
        await admin.put(path, {"name": "x"}),
        await admin.delete(path),
        await admin.get(f"{path}/versions"),
        await admin.post(f"{path}/publish"),
        await admin.get(f"/v1/agents/{agent['id']}/tools"),
        await admin.get(f"{path}/sub-agents"),
    ):
        assert (answer.status, answer.code) == (404, "agent_not_found")
    assert (await admin.get("/api/v1/agents")).json()["data"] == []


async def test_a_deleted_agent_takes_its_embed_keys_and_conversations_along(people, admin) -> None:
    agent, kept = await make_agent(admin), await make_agent(admin)
    for one in (agent, kept):
        answer = await admin.post("/api/v1/embed/api-keys", {"agent_id": one["id"], "name": "Site"})
        assert answer.status == 201, answer
    async with people.context(admin.user.tenant_id) as ctx:
        for one in (agent, kept):
            await ctx.db.insert(
                Conversation(
                    agent_id=one["id"], title="Talk", channel=ChatChannel.console, last_message_at=ctx.now
                )
            )
    assert (await admin.delete(f"/api/v1/agents/{agent['id']}")).status == 204
    async with people.context(admin.user.tenant_id) as ctx:
        for record in (EmbedKey, Conversation):
            assert [one.agent_id for one in await ctx.db.all(record)] == [kept["id"]]


async def test_agents_of_two_tenants_do_not_meet(people) -> None:
    mine = await people.signed_in(Role.tenant_admin, await people.tenant("A"))
    theirs = await people.signed_in(Role.tenant_admin, await people.tenant("B"))
    agent = await make_agent(mine, name="CANARY")
    assert (await theirs.get("/api/v1/agents")).json()["data"] == []
    assert (await theirs.put(f"/api/v1/agents/{agent['id']}", {"name": "x"})).status == 404
    assert (await read_agent(mine, agent))["name"] == "CANARY"


async def test_fields_without_effect_are_told(admin) -> None:
    body = agent_body(tools=["tool_1"], web_search={"enabled": True}, version=3)
    answer = await admin.post("/api/v1/agents", body)
    assert answer.status == 201, answer
    agent = answer.json()
    assert agent.pop("warnings") == ["ignored_field:tools", "ignored_field:web_search"]
    shown = await read_agent(admin, agent)
    assert "warnings" not in shown
    path = f"/api/v1/agents/{agent['id']}"
    changed = (await admin.put(path, {"name": "Other", "knowledge": []})).json()
    assert (changed["name"], changed["warnings"]) == ("Other", ["ignored_field:knowledge"])
    assert "warnings" not in (await admin.put(path, {**agent, "name": "As shown"})).json()
