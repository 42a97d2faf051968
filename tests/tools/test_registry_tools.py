"""The registry through HTTP: what a tool looks like, and how it is made, changed, found and deleted."""

import pytest

from retinue.access.models import Role
from tests.factories.happenings import audits, events, only_event
from tests.factories.tools import change_tool, make_tool, run_tool, tool_body

SUMMARY = {
    "id",
    "name",
    "slug",
    "description",
    "category",
    "tool_type",
    "auth_type",
    "is_enabled",
    "usage_count",
    "last_used_at",
    "requires_approval",
    "created_at",
}
LISTED = SUMMARY | {"packages_status", "has_held_changes", "guarded_count", "last_status"}
RECORD = SUMMARY | {
    "approval",
    "input_schema",
    "output_schema",
    "credential_id",
    "packages_status",
    "packages_error",
    "pinned_packages",
    "created_by",
    "updated_at",
}


@pytest.fixture
async def developer(people):
    return await people.signed_in(Role.agent_developer)


async def test_a_new_tool_is_answered_without_its_configuration(developer) -> None:
    answer = await developer.post("/v1/tools", tool_body(description="Tells the weather"))
    assert answer.status == 201
    tool = answer.json()["data"]
    assert set(tool) == RECORD
    assert tool["id"].startswith("tool_")
    assert tool["slug"] == "weather"
    assert tool["description"] == "Tells the weather"
    assert tool["is_enabled"] is True
    assert (tool["usage_count"], tool["last_used_at"]) == (0, None)
    assert tool["packages_status"] == "none"
    assert tool["created_by"] == developer.user.id


async def test_a_tool_is_read_with_its_configuration_and_never_with_its_secrets(developer) -> None:
    tool = await make_tool(developer, auth_type="bearer", auth_config={"token": "tok-SECRET-1"})
    read = await developer.get(f"/v1/tools/{tool['id']}")
    changed = await developer.put(f"/v1/tools/{tool['id']}", {"name": "Forecast"})
    for answer in (read, changed):
        assert answer.status == 200
        assert set(answer.json()["data"]) == RECORD | {"config"}
        assert b"auth_config" not in answer.body
        assert b"SECRET" not in answer.body
    assert read.json()["data"]["config"] == tool_body()["config"]


async def test_the_list_has_the_fields_of_a_summary_and_no_others(developer) -> None:
    await make_tool(developer)
    answer = await developer.get("/v1/tools")
    assert [set(tool) for tool in answer.json()["data"]] == [LISTED]
    assert answer.json()["pagination"] == {"page": 1, "per_page": 20, "total": 1, "total_pages": 1}


async def _three_tools(developer) -> None:
    await make_tool(developer, name="Alpha", category="crm")
    await make_tool(developer, name="Beta", description="speaks to ALPHA", category="email")
    await make_tool(developer, name="Gamma", tool_type="webhook", config={}, category="crm")


async def _names(developer, **query: str) -> list[str]:
    answer = await developer.get("/v1/tools", query=query)
    assert answer.status == 200, answer
    return [tool["name"] for tool in answer.json()["data"]]


async def test_tools_are_searched_filtered_and_sorted(developer) -> None:
    await _three_tools(developer)
    assert await _names(developer) == ["Gamma", "Beta", "Alpha"]
    assert await _names(developer, sort="name") == ["Alpha", "Beta", "Gamma"]
    assert await _names(developer, search="alpha", sort="name") == ["Alpha", "Beta"]
    assert await _names(developer, category="crm", sort="name") == ["Alpha", "Gamma"]
    assert await _names(developer, tool_type="webhook") == ["Gamma"]
    assert await _names(developer, category="crm", tool_type="rest_api") == ["Alpha"]
    assert await _names(developer, per_page="1", page="2", sort="name") == ["Beta"]


async def test_tools_are_filtered_by_whether_they_are_enabled(developer) -> None:
    await make_tool(developer, name="Alpha")
    await make_tool(developer, name="Delta", is_enabled=False)
    assert await _names(developer, is_enabled="false") == ["Delta"]
    assert await _names(developer, is_enabled="true") == ["Alpha"]


@pytest.mark.parametrize(
    "wrong", [{"sort": "auth_config"}, {"category": "nothing"}, {"tool_type": "x"}, {"page": "0"}]
)
async def test_wrong_filters_of_tools_are_named(developer, wrong) -> None:
    answer = await developer.get("/v1/tools", query=wrong)
    assert (answer.status, set(answer.details)) == (422, set(wrong))


@pytest.mark.parametrize(
    ("missing", "status"),
    [
        ("name", 422),
        ("category", 422),
        ("tool_type", 422),
        ("config", 422),
        ("auth_type", 422),
        ("slug", 201),
    ],
)
async def test_what_a_new_tool_must_say(developer, missing, status) -> None:
    body = {key: value for key, value in tool_body(slug="given").items() if key != missing}
    answer = await developer.post("/v1/tools", body)
    assert answer.status == status
    if status == 422:
        assert answer.details == {missing: "is required"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", " "),
        ("name", "x" * 101),
        ("name", None),
        ("slug", "Has Spaces"),
        ("slug", "UPPER"),
        ("slug", "-first"),
        ("slug", "x" * 65),
        ("slug", "line\n"),
        ("category", "kitchen"),
        ("tool_type", "soap"),
        ("auth_type", "magic"),
        ("config", []),
        ("config", None),
        ("auth_config", "token"),
        ("input_schema", True),
        ("is_enabled", "yes"),
        ("description", 7),
    ],
)
async def test_what_a_field_cannot_be_is_refused_under_its_name(developer, field, value) -> None:
    answer = await developer.post("/v1/tools", tool_body(**{field: value}))
    assert (answer.status, answer.code, list(answer.details)) == (422, "validation_error", [field])


async def test_a_slug_is_made_from_the_name_and_numbered_when_it_is_taken(developer) -> None:
    names = ["Café & Weather!", "cafe weather", "天気", "---", "A" * 100, "A" * 100]
    slugs = [(await make_tool(developer, name=name))["slug"] for name in names]
    assert slugs == ["cafe-weather", "cafe-weather-2", "tool", "tool-2", "a" * 56, "a" * 56 + "-2"]


async def test_a_slug_that_is_taken_is_a_conflict(developer, people) -> None:
    await make_tool(developer, slug="mine")
    answer = await developer.post("/v1/tools", tool_body(slug="mine"))
    assert (answer.status, answer.code) == (409, "slug_taken")
    other = await make_tool(developer, slug="other")
    answer = await developer.put(f"/v1/tools/{other['id']}", {"slug": "mine"})
    assert (answer.status, answer.code) == (409, "slug_taken")
    assert (await change_tool(developer, other, slug="other"))["slug"] == "other"
    elsewhere = await people.signed_in(Role.agent_developer, await people.tenant("Elsewhere"))
    assert (await make_tool(elsewhere, slug="mine"))["slug"] == "mine"


async def test_a_configuration_is_merged_by_key_and_endpoints_by_name(developer) -> None:
    tool = await make_tool(
        developer,
        config={
            "base_url": "https://api.example.com",
            "timeout_ms": 5000,
            "note": "kept",
            "endpoints": {"a": {"path": "/a"}, "b": {"path": "/b", "method": "POST"}, "gone": {"path": "/x"}},
        },
    )
    changed = await change_tool(
        developer,
        tool,
        config={
            "timeout_ms": None,
            "retry_count": 2,
            "endpoints": {"b": {"path": "/b2"}, "c": {"path": "/c"}, "gone": None, "never": None},
        },
    )
    assert changed["config"] == {
        "base_url": "https://api.example.com",
        "note": "kept",
        "retry_count": 2,
        "endpoints": {"a": {"path": "/a"}, "b": {"path": "/b2"}, "c": {"path": "/c"}},
    }
    assert changed["updated_at"] > tool["updated_at"]
    assert (await change_tool(developer, tool, config={"endpoints": None}))["config"] == {
        "base_url": "https://api.example.com",
        "note": "kept",
        "retry_count": 2,
    }


async def test_an_update_changes_what_it_names_and_nothing_else(developer, people) -> None:
    schema = {"type": "object", "required": ["city"]}
    tool = await make_tool(developer, input_schema=schema)
    before = (await developer.get(f"/v1/tools/{tool['id']}")).json()["data"]
    changed = await change_tool(developer, tool, is_enabled=False, category="email", description="d")
    assert changed == {
        **before,
        "is_enabled": False,
        "category": "email",
        "description": "d",
        "updated_at": changed["updated_at"],
    }
    assert (await change_tool(developer, tool, input_schema=None))["input_schema"] is None
    assert (await change_tool(developer, tool, description=None))["description"] == ""
    assert (
        await change_tool(developer, tool) == (await developer.get(f"/v1/tools/{tool['id']}")).json()["data"]
    )
    told = [event.data["changed"] for event in await events(people, "system.tool.updated")]
    assert told == [["category", "description", "is_enabled"], ["input_schema"], ["description"]]


async def test_another_type_is_checked_with_the_configuration_that_is_there(developer) -> None:
    tool = await make_tool(developer, config={"url": 7})
    answer = await developer.put(f"/v1/tools/{tool['id']}", {"tool_type": "webhook"})
    assert (answer.status, list(answer.details)) == (422, ["config.url"])
    changed = await change_tool(
        developer, tool, tool_type="webhook", config={"url": "https://example.com/hook"}
    )
    assert (changed["tool_type"], changed["config"]) == ("webhook", {"url": "https://example.com/hook"})


async def test_what_happens_to_a_tool_is_told_and_audited(developer, people) -> None:
    tool = await make_tool(developer, auth_type="bearer", auth_config={"token": "tok-SECRET-1"})
    named = {"tool_id": tool["id"], "name": "Weather"}
    assert await only_event(people, "system.tool.created") == {**named, "tool_type": "rest_api"}
    await change_tool(developer, tool, auth_config={"token": "tok-SECRET-2"})
    assert await only_event(people, "system.tool.updated") == {**named, "changed": ["auth_config"]}
    assert (await developer.delete(f"/v1/tools/{tool['id']}")).status == 204
    assert await only_event(people, "system.tool.deleted") == named
    (row,) = await audits(people, "system.tool.deleted")
    assert row.actor == {"type": "user", "id": developer.user.id}


async def test_a_deleted_tool_takes_its_executions_along(developer, remote) -> None:
    tool = await make_tool(developer, remote.url)
    await run_tool(developer, tool)
    assert (await developer.delete(f"/v1/tools/{tool['id']}")).status == 204
    for path in ("", "/executions", "/stats"):
        answer = await developer.get(f"/v1/tools/{tool['id']}{path}")
        assert (answer.status, answer.code) == (404, "tool_not_found")


async def test_categories_count_the_tools_of_the_tenant(developer, people) -> None:
    await make_tool(developer, category="crm")
    await make_tool(developer, category="crm")
    elsewhere = await people.signed_in(Role.agent_developer, await people.tenant("Elsewhere"))
    await make_tool(elsewhere, category="email")
    answer = await developer.get("/v1/tools/categories")
    categories = answer.json()["data"]
    slugs = " ".join(category["slug"] for category in categories)
    assert slugs == (
        "crm email database analytics automation payment storage social development webhook custom"
    )
    assert all(
        set(category) == {"slug", "name", "description", "icon", "tool_count"} for category in categories
    )
    assert {c["slug"]: c["tool_count"] for c in categories if c["tool_count"]} == {"crm": 2}


async def test_who_may_do_what_with_tools(people, developer) -> None:
    tool = await make_tool(developer)
    for role in (Role.viewer, Role.agent_user):
        person = await people.signed_in(role)
        assert (await person.get(f"/v1/tools/{tool['id']}")).status == 200
        for answer, required in (
            (await person.post("/v1/tools", tool_body()), "tools:write"),
            (await person.put(f"/v1/tools/{tool['id']}", {}), "tools:write"),
            (await person.delete(f"/v1/tools/{tool['id']}"), "tools:write"),
            (await person.post(f"/v1/tools/{tool['id']}/execute", {}), "tools:execute"),
        ):
            assert (answer.status, answer.details) == (403, {"required": required, "your_role": role})
