"""An MCP server becomes one tool with many functions, and stays as it was agreed to."""

import pytest

from retinue.tools.events import ToolDrifted
from retinue.tools.models import Tool
from tests.factories.happenings import audits, events
from tests.factories.notifications import titles_of
from tests.factories.tools import change_tool, run_tool, try_tool
from tests.tools.servers.mcp_process import CLOSE, FIND, TEXT, listed_tool, mcp_process

KEY = "open-sesame-4711"


@pytest.fixture(scope="module")
def process():
    with mcp_process() as started:
        yield started


@pytest.fixture
def mcp(process):
    process.has_tools(FIND, CLOSE)
    return process


async def import_server(api, url, status=201, *, dry_run=False, **body):
    path = f"/v1/tools/import/mcp?dry_run={str(dry_run).lower()}"
    answer = await api.post(path, {"server_url": url, **body})
    assert answer.status == status, answer
    return answer.json()["data"] if status < 300 else answer


async def config_of(api, tool):
    return (await api.get(f"/v1/tools/{tool['id']}")).json()["data"]["config"]


async def refresh_tool(api, tool, status=200, **body):
    answer = await api.post(f"/v1/tools/{tool['id']}/refresh", body)
    assert answer.status == status, answer
    return answer.json()["data"] if status == 200 else answer


async def count_tools(people, api) -> int:
    async with people.context(api.user.tenant_id) as ctx:
        return await ctx.db.count(Tool)


@pytest.mark.parametrize(("way", "version"), [("changing", "2026-07-28"), ("old-changing", "2025-11-25")])
async def test_a_server_becomes_one_tool_with_a_function_for_each_of_its_tools(admin, mcp, way, version):
    tool = await import_server(admin, mcp.url(way))
    assert (tool["name"], tool["slug"], tool["tool_type"]) == (
        "Changing Workshop",
        "changing-workshop",
        "custom",
    )
    assert (tool["functions"], tool["skipped"]) == (["find-issue", "close_issue"], [])
    config = await config_of(admin, tool)
    assert (config["kind"], config["server_url"], config["protocol_version"]) == (
        "mcp",
        mcp.url(way),
        version,
    )
    assert config["functions"] == {
        "find-issue": {"title": "Find", "description": "Finds an issue.", "input_schema": TEXT},
        "close_issue": {
            "description": "Closes it for good.",
            "input_schema": TEXT,
            "annotations": {"destructiveHint": True},
            "requires_approval": True,
        },
    }
    assert len(config["digest"]) == 64
    assert config["listed_at"].endswith("Z")

    done = await run_tool(admin, tool, {"function": "find-issue", "arguments": {"text": "x"}})
    assert done["output"] == {"called": "find-issue", "text": "x"}


async def test_a_dry_run_shows_the_tool_and_stores_nothing(admin, people, mcp):
    shown = await import_server(admin, mcp.url(), 200, dry_run=True, name="Issues", category="crm")
    assert (shown["name"], shown["slug"], shown["category"]) == ("Issues", "issues", "crm")
    assert shown["functions"] == list(shown["config"]["functions"]) == ["find-issue", "close_issue"]
    assert await count_tools(people, admin) == 0


async def test_a_repeated_request_imports_the_server_once(admin, people, mcp):
    body, headers = {"server_url": mcp.url()}, {"Idempotency-Key": "import-1"}
    first = await admin.post("/v1/tools/import/mcp", body, headers=headers)
    second = await admin.post("/v1/tools/import/mcp", body, headers=headers)
    assert (first.status, second.status) == (201, 201), (first, second)
    assert first.json()["data"]["id"] == second.json()["data"]["id"]
    assert await count_tools(people, admin) == 1


async def test_chosen_functions_are_imported_and_the_others_are_no_difference(admin, mcp):
    tool = await import_server(admin, mcp.url(), tools=["find-issue"])
    assert tool["functions"] == ["find-issue"]
    assert (await refresh_tool(admin, tool))["status"] == "unchanged"
    # The only function need not be named.
    done = await run_tool(admin, tool, {"arguments": {"text": "x"}})
    assert done["output"]["called"] == "find-issue"
    refused = await import_server(admin, mcp.url(), 422, tools=["find-issue", "sell"])
    assert refused.details == {"tools.1": "is not a tool of the server"}


async def test_what_cannot_be_offered_is_skipped_with_the_reason(admin, mcp):
    mcp.has_tools(
        FIND,
        listed_tool("remote", {"type": "object", "properties": {"a": {"$ref": "https://x.example/s"}}}),
        listed_tool("pattern", {"type": "object", "properties": {"a": {"pattern": "(?=a)b"}}}),
        listed_tool("twice", title="first"),
        listed_tool("twice", title="second"),
    )
    tool = await import_server(admin, mcp.url())
    assert tool["functions"] == ["find-issue", "twice"]
    skipped = {part["what"]: part["why"] for part in tool["skipped"]}
    assert set(skipped) == {"remote", "pattern", "twice"}
    assert skipped["twice"] == "another function has the same name"
    assert skipped["remote"].startswith("its input schema ")
    assert (await refresh_tool(admin, tool))["status"] == "unchanged"


@pytest.mark.parametrize(
    ("input", "field"),
    [
        ({}, "input.function"),
        ({"function": "sell", "arguments": {}}, "input.function"),
        ({"function": "find-issue"}, "input.arguments.text"),
        ({"function": "find-issue", "arguments": "x"}, "input.arguments"),
        ({"function": "find-issue", "arguments": {"text": 7}}, "input.arguments.text"),
    ],
)
async def test_input_that_was_not_agreed_to_is_refused(admin, mcp, input, field):
    tool = await import_server(admin, mcp.url())
    answer = await try_tool(admin, tool, input)
    assert (answer.status, list(answer.details)) == (422, [field])


async def test_a_server_that_wants_a_key_is_imported_with_it(admin, mcp):
    refused = await import_server(admin, mcp.url("locked"), 502)
    assert (refused.code, refused.details) == ("mcp_failed", {"kind": "auth_error"})
    assert "Set auth_type and auth_config" in refused.json()["error"]["message"]
    tool = await import_server(
        admin, mcp.url("locked"), auth_type="api_key", auth_config={"api_key_value": KEY}, tools=["echo"]
    )
    done = await run_tool(admin, tool, {"arguments": {"text": KEY}})
    assert done["output"] == {"result": "***"}
    await change_tool(admin, tool, auth_config={"api_key_value": "wrong-4711"})
    assert (await refresh_tool(admin, tool, 502)).details == {"kind": "auth_error"}


async def test_a_credential_of_the_vault_lists_the_server(admin, people, tools, mcp):
    credential_id = await tools.credential("api_key", {"api_key": KEY})
    tool = await import_server(
        admin, mcp.url("locked"), auth_type="api_key", auth_config={"credential_id": credential_id}
    )
    assert tool["credential_id"] == credential_id
    assert (await refresh_tool(admin, tool))["status"] == "unchanged"
    uses = await audits(people, "system.credential.used")
    assert {"tool_id": tool["id"]} in [use.metadata["via"] for use in uses]


@pytest.mark.parametrize(
    ("url", "status", "code"),
    [
        ("http://127.0.0.1:1/mcp", 502, "mcp_failed"),
        ("http://169.254.169.254/mcp", 422, "ssrf_blocked"),
        ("nowhere", 422, "validation_error"),
        ("", 422, "validation_error"),
    ],
)
async def test_a_server_that_cannot_be_listed_is_not_imported(admin, people, url, status, code):
    refused = await import_server(admin, url, status)
    assert refused.code == code
    assert await count_tools(people, admin) == 0


async def test_a_server_without_tools_and_something_else_than_a_server_are_refused(admin, mcp, remote):
    mcp.has_tools()
    refused = await import_server(admin, mcp.url(), 422)
    assert list(refused.details) == ["server_url"]
    refused = await import_server(admin, remote.url, 502)
    assert refused.details == {"kind": "protocol_error"}


def drift(mcp) -> None:
    """Let the server widen a function, drop another and offer a new one."""
    wider = {**TEXT, "properties": {**TEXT["properties"], "limit": {"type": "integer"}}}
    mcp.has_tools(
        listed_tool("find-issue", wider, title="Find", description="Now sends mail."), listed_tool("new")
    )


async def test_a_difference_is_held_until_somebody_agrees(admin, mcp):
    tool = await import_server(admin, mcp.url())
    agreed = await config_of(admin, tool)
    drift(mcp)
    held = await refresh_tool(admin, tool)
    assert held["status"] == "held"
    assert (held["diff"]["added"], held["diff"]["removed"]) == (["new"], ["close_issue"])
    assert held["diff"]["changed"] == [
        {"name": "find-issue", "path": "description", "from": "Finds an issue.", "to": "Now sends mail."},
        {
            "name": "find-issue",
            "path": "input_schema.properties.limit",
            "from": None,
            "to": {"type": "integer"},
        },
    ]
    assert await config_of(admin, tool) == agreed
    removed = await run_tool(admin, tool, {"function": "close_issue", "arguments": {"text": "x"}})
    assert removed["error"]["code"] == "tool_removed"
    (listed,) = (await admin.get("/v1/tools?needs_look=true")).json()["data"]
    assert (listed["id"], listed["has_held_changes"]) == (tool["id"], True)
    assert (await admin.get("/v1/tools?needs_look=false")).json()["data"] == []
    await refresh_tool(admin, tool, accept=True)
    assert (await admin.get("/v1/tools?needs_look=true")).json()["data"] == []


async def test_what_was_shown_is_accepted_even_if_the_server_has_changed_again(admin, mcp):
    tool = await import_server(admin, mcp.url())
    agreed = await config_of(admin, tool)
    drift(mcp)
    held = await refresh_tool(admin, tool)
    mcp.has_tools(FIND)
    accepted = await refresh_tool(admin, tool, accept=True)
    assert (accepted["status"], accepted["diff"]) == ("accepted", held["diff"])
    config = await config_of(admin, tool)
    assert set(config["functions"]) == {"find-issue", "new"}
    assert config["functions"]["find-issue"]["description"] == "Now sends mail."
    assert config["digest"] != agreed["digest"]
    assert (await refresh_tool(admin, tool))["status"] == "held"


async def test_each_difference_is_told_once_and_what_is_accepted_is_audited(admin, people, service, mcp):
    tool = await import_server(admin, mcp.url())
    drift(mcp)
    await refresh_tool(admin, tool)
    mcp.has_tools(FIND)
    await refresh_tool(admin, tool, accept=True)
    await refresh_tool(admin, tool)
    drifted = await events(people, ToolDrifted.__event__.name)
    assert [event.data["added"] for event in drifted] == [["new"], []]
    assert (await audits(people, "system.tool.updated"))[-1].metadata["changed"] == ["config"]
    await service.runner.drain()
    assert (await titles_of(admin)).count("The server of the tool Changing Workshop has changed") == 2


async def test_single_functions_are_accepted_and_the_others_stay_held(admin, mcp):
    tool = await import_server(admin, mcp.url())
    mcp.has_tools(listed_tool("a"), listed_tool("b", annotations={"destructiveHint": True}), FIND)
    await refresh_tool(admin, tool)
    refused = await refresh_tool(admin, tool, 422, accept=["b", "find-issue"])
    assert refused.details == {"accept.1": "is not among the differences"}
    rest = await refresh_tool(admin, tool, accept=["b"])
    assert (rest["status"], rest["diff"]["added"], rest["diff"]["removed"]) == (
        "held",
        ["a"],
        ["close_issue"],
    )
    functions = (await config_of(admin, tool))["functions"]
    assert functions["b"]["requires_approval"] is True
    assert "a" not in functions
    assert (await refresh_tool(admin, tool, accept=["a", "close_issue"]))["status"] == "accepted"
    assert set((await config_of(admin, tool))["functions"]) == {"find-issue", "b", "a"}
    assert (await refresh_tool(admin, tool, accept=True))["status"] == "unchanged"


async def test_an_approval_that_somebody_requires_survives_a_refresh(admin, mcp):
    tool = await import_server(admin, mcp.url())
    changes = {"functions": {"find-issue": {"requires_approval": True}, "close_issue": None}}
    changed = await change_tool(admin, tool, config=changes)
    assert changed["config"]["functions"]["find-issue"]["title"] == "Find"
    assert changed["config"]["ignored_functions"] == ["close_issue"]
    assert (await refresh_tool(admin, tool))["status"] == "unchanged"
    mcp.has_tools(listed_tool("find-issue", description="Other."), CLOSE)
    await refresh_tool(admin, tool, accept=True)
    functions = (await config_of(admin, tool))["functions"]
    assert functions["find-issue"]["requires_approval"] is True
    assert functions["find-issue"]["description"] == "Other."


async def test_every_night_servers_are_listed_and_each_difference_is_told_once(
    admin, people, service, clock, mcp
):
    tool = await import_server(admin, mcp.url())
    await import_server(admin, mcp.url("json"), name="Unchanged", tools=["echo"])
    mcp.has_tools(FIND)
    for _ in range(2):
        clock.advance(24 * 3600 + 1)
        await service.runner.drain()
    (event,) = await events(people, ToolDrifted.__event__.name)
    assert (event.data["tool_id"], event.data["removed"]) == (tool["id"], ["close_issue"])
    assert event.data["created_by"] == admin.user.id


async def test_a_server_that_says_its_tools_have_changed_is_listed_again(admin, people, service, mcp):
    tool = await import_server(admin, mcp.url("old-sse"))
    assert "learned" not in tool["functions"]
    done = await run_tool(admin, tool, {"function": "learn"})
    assert done["status"] == "completed", done
    await service.runner.drain()
    (event,) = await events(people, ToolDrifted.__event__.name)
    assert event.data["added"] == ["learned"]
    done = await run_tool(admin, tool, {"function": "echo", "arguments": {"text": "x"}})
    assert done["status"] == "completed", done


async def test_only_imported_servers_can_be_refreshed(admin, tools, mcp):
    single = await tools.make("custom", {"kind": "mcp", "server_url": mcp.url("json"), "tool_name": "echo"})
    assert (await refresh_tool(admin, single, 409)).code == "tool_not_refreshable"
    rest = await tools.make("rest_api", {"base_url": mcp.origin})
    assert (await refresh_tool(admin, rest, 409)).code == "tool_not_refreshable"
