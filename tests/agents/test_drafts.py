"""Drafts: changes that are saved, compared and published as a whole, while the agent stays as it is."""

from typing import Any

import pytest

from retinue.access.models import Role
from retinue.kit.text.header_masks import MASK
from tests.agents.drafts import differences, draft_of, path_of, publish, save, try_to_save
from tests.client import Api
from tests.factories import credentials
from tests.factories.agents import (
    attach_agent,
    attach_tool,
    change_agent,
    make_agent,
    make_direct_sub_agent,
    read_agent,
    versions_of,
)
from tests.factories.happenings import events
from tests.factories.people import People
from tests.factories.tools import make_tool

Json = dict[str, Any]


async def test_without_a_stored_draft_the_agent_itself_is_shown(admin: Api) -> None:
    agent = await make_agent(admin, name="Support")
    tool = await make_tool(admin)
    await attach_tool(admin, agent, tool)
    answer = await admin.get(path_of(agent))
    assert answer.status == 200
    assert answer.headers["etag"].startswith('"')
    draft = answer.json()
    newest = (await admin.get(path_of(agent, "/versions/2"))).json()["snapshot"]
    assert draft == {
        "agent_id": agent["id"],
        "based_on": 2,
        "is_stored": False,
        "is_changed": False,
        "snapshot": newest,
        "updated_at": None,
        "updated_by": None,
    }


async def test_a_draft_can_be_sent_back_as_it_was_read(admin: Api) -> None:
    """The console does so, and lets the server refuse what it does not know."""
    agent = await make_agent(admin)
    await attach_tool(admin, agent, await make_tool(admin))
    await attach_agent(admin, agent, await make_agent(admin, name="Helper"))
    await make_direct_sub_agent(admin, agent)
    snapshot = (await draft_of(admin, agent))["snapshot"]
    body, strict = {"snapshot": snapshot}, {"Prefer": "handling=strict"}
    saved = await admin.put(path_of(agent), body, headers=strict)
    assert saved.status == 200, saved
    assert saved.json()["snapshot"] == snapshot


async def save_many_changes(admin: Api, agent: Json) -> tuple[Json, Json, Json]:
    """Save a draft with changes of every kind; return it, the tool and the sub-agent that it adds."""
    tool, helper = await make_tool(admin, name="Weather"), await make_agent(admin, name="Helper")
    saved = await save(
        admin,
        agent,
        system_prompt="Other",
        temperature=None,
        tools=[{"tool_id": tool["id"], "config_override": {"timeout_ms": 7}}],
        sub_agents=[{"id": helper["id"], "delegation_prompt": "Ask it."}],
        web_search={"enabled": True, "max_results": 3},
        log_settings={"retention_days": 7},
    )
    return saved, tool, helper


async def test_saving_a_draft_changes_nothing_of_the_agent(admin: Api, people: People) -> None:
    agent = await make_agent(admin)
    before = await read_agent(admin, agent)
    await save_many_changes(admin, agent)
    assert await read_agent(admin, agent) == before
    assert len(await versions_of(admin, agent)) == 1
    (event,) = await events(people, "system.agent_draft.saved")
    assert event.data["agent_id"] == agent["id"]


async def test_a_saved_draft_has_its_changes_and_takes_the_rest_from_the_agent(admin: Api) -> None:
    agent = await make_agent(admin)
    saved, _, _ = await save_many_changes(admin, agent)
    assert (saved["is_stored"], saved["is_changed"], saved["based_on"]) == (True, True, 1)
    assert saved["updated_by"] == admin.user.id
    snapshot = saved["snapshot"]
    assert (snapshot["system_prompt"], snapshot["temperature"]) == ("Other", None)
    assert (snapshot["name"], snapshot["max_tokens"]) == (agent["name"], 2048)
    assert (snapshot["tools"][0]["name"], snapshot["tools"][0]["display_order"]) == ("Weather", 0)
    assert snapshot["sub_agents"][0]["name"] == "Helper"
    assert (snapshot["web_search"]["max_results"], snapshot["web_search"]["safe_search"]) == (3, True)
    assert snapshot["log_settings"]["log_messages"] is True


async def test_the_differences_of_a_draft_are_what_was_changed_in_it(admin: Api) -> None:
    agent = await make_agent(admin)
    before = await read_agent(admin, agent)
    saved, tool, helper = await save_many_changes(admin, agent)
    assert await differences(admin, agent) == {
        "system_prompt": (before["system_prompt"], "Other"),
        "temperature": (0.7, None),
        f"tools.{tool['id']}": (None, saved["snapshot"]["tools"][0]),
        f"sub_agents.{helper['id']}": (None, saved["snapshot"]["sub_agents"][0]),
        "web_search.enabled": (False, True),
        "web_search.max_results": (5, 3),
        "log_settings.retention_days": (30, 7),
    }


async def test_omitted_fields_keep_what_the_draft_says(admin: Api) -> None:
    agent = await make_agent(admin)
    await save(admin, agent, system_prompt="One", web_search={"enabled": True})
    saved = await save(admin, agent, name="Two", web_search={"max_results": 9})
    assert (saved["snapshot"]["system_prompt"], saved["snapshot"]["name"]) == ("One", "Two")
    assert (saved["snapshot"]["web_search"]["enabled"], saved["snapshot"]["web_search"]["max_results"]) == (
        True,
        9,
    )


async def test_a_snapshot_can_be_sent_back_and_changes_nothing(admin: Api) -> None:
    agent = await make_agent(admin)
    await attach_tool(admin, agent, await make_tool(admin), config_override={"timeout_ms": 7})
    await attach_agent(admin, agent, await make_agent(admin, name="Helper"))
    await make_direct_sub_agent(admin, agent, name="Inner")
    shown = await draft_of(admin, agent)
    saved = await save(admin, agent, **shown["snapshot"])
    assert (saved["is_stored"], saved["is_changed"]) == (True, False)
    assert saved["snapshot"] == shown["snapshot"]


@pytest.mark.parametrize(
    ("sent", "place"),
    [
        ({"name": " "}, "snapshot.name"),
        ({"temperature": 2}, "snapshot.temperature"),
        ({"system_prompt": None}, "snapshot.system_prompt"),
        ({"fallback_models": ["m"] * 6}, "snapshot.fallback_models"),
        ({"web_search": {"max_results": 0}}, "snapshot.web_search.max_results"),
        ({"web_search": {"allowed_domains": ["a b"]}}, "snapshot.web_search.allowed_domains.0"),
        ({"web_search": {"credential_id": "crd_none"}}, "snapshot.web_search.credential_id"),
        ({"log_settings": {"retention_days": -1}}, "snapshot.log_settings.retention_days"),
        ({"tools": [{"tool_id": "tool_none"}]}, "snapshot.tools.0.tool_id"),
        ({"sub_agents": [{"id": "agt_none"}]}, "snapshot.sub_agents.0.id"),
        ({"sub_agents": [{"relationship_type": "direct"}]}, "snapshot.sub_agents.0.agent"),
        (
            {
                "sub_agents": [
                    {"relationship_type": "direct", "agent": {"name": "Inner", "system_prompt": "p"}}
                ]
            },
            "snapshot.sub_agents.0.agent.primary_model",
        ),
    ],
)
async def test_a_draft_is_checked_like_the_agent(admin: Api, sent: Json, place: str) -> None:
    agent = await make_agent(admin)
    answer = await try_to_save(admin, agent, **sent)
    assert (answer.status, answer.code) == (422, "validation_error"), answer
    assert list(answer.details) == [place]
    assert (await draft_of(admin, agent))["is_stored"] is False


async def test_overrides_duplicates_and_cycles_are_refused_where_they_stand(admin: Api) -> None:
    upper, lower = await make_agent(admin, name="Upper"), await make_agent(admin, name="Lower")
    tool = await make_tool(admin)
    await attach_agent(admin, upper, lower)
    one = {"tool_id": tool["id"]}
    for agent, sent, place in (
        (lower, {"sub_agents": [{"id": upper["id"]}]}, "snapshot.sub_agents.0.id"),
        (lower, {"sub_agents": [{"id": lower["id"]}]}, "snapshot.sub_agents.0.id"),
        (upper, {"sub_agents": [{"id": lower["id"]}, {"id": lower["id"]}]}, "snapshot.sub_agents.1.id"),
        (upper, {"tools": [one, one]}, "snapshot.tools.1.tool_id"),
        (
            upper,
            {"tools": [{**one, "config_override": {"timeout_ms": -1}}]},
            "snapshot.tools.0.config_override.timeout_ms",
        ),
    ):
        answer = await try_to_save(admin, agent, **sent)
        assert (answer.status, list(answer.details)) == (422, [place]), answer


async def test_a_draft_cannot_name_what_another_tenant_has(admin: Api, people: People) -> None:
    other = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    agent = await make_agent(admin)
    tool, theirs = await make_tool(other), await make_agent(other)
    for sent in ({"tools": [{"tool_id": tool["id"]}]}, {"sub_agents": [{"id": theirs["id"]}]}):
        answer = await try_to_save(admin, agent, **sent)
        assert answer.status == 422, answer
    assert (await other.get(path_of(agent))).status == 404
    assert (await try_to_save(other, agent, name="X")).status == 404


async def test_a_direct_sub_agent_of_another_agent_is_copied_not_taken_over(admin: Api) -> None:
    agent, other = await make_agent(admin), await make_agent(admin, name="Other")
    theirs = await make_direct_sub_agent(admin, other, name="Inner", system_prompt="Theirs")
    inner = {"name": "Mine", "primary_model": "m", "system_prompt": "Mine"}
    sent = {"id": theirs["id"], "relationship_type": "direct", "agent": inner}
    (kept,) = (await save(admin, agent, sub_agents=[sent]))["snapshot"]["sub_agents"]
    assert kept["id"] != theirs["id"]
    await publish(admin, agent)
    (own,) = (await admin.get(path_of(agent, "/sub-agents"))).json()["data"]
    assert (own["id"], own["name"], own["temperature"]) == (kept["id"], "Mine", 0.7)
    (untouched,) = (await admin.get(path_of(other, "/sub-agents"))).json()["data"]
    assert untouched == theirs


async def test_if_match_refuses_a_draft_that_somebody_else_saved(admin: Api, people: People) -> None:
    agent = await make_agent(admin)
    colleague = await people.signed_in(Role.agent_developer)
    tag = (await admin.get(path_of(agent))).headers["etag"]
    answer = await try_to_save(colleague, agent, name="Theirs")
    current = answer.headers["etag"]
    assert current == (await admin.get(path_of(agent))).headers["etag"] != tag
    refused = await try_to_save(admin, agent, tag, name="Mine")
    assert (refused.status, refused.code) == (412, "version_conflict")
    assert refused.details["current"] == current
    assert refused.details["updated_by"] == colleague.user.id
    assert (await admin.delete(path_of(agent), headers={"if-match": tag})).status == 412
    assert (await try_to_save(admin, agent, current, name="Mine")).status == 200
    assert (await draft_of(admin, agent))["snapshot"]["name"] == "Mine"


async def test_a_discarded_draft_is_gone(admin: Api, people: People) -> None:
    agent = await make_agent(admin)
    await save(admin, agent, name="Drafted")
    for _ in range(2):
        assert (await admin.delete(path_of(agent))).status == 204
    draft = await draft_of(admin, agent)
    assert (draft["is_stored"], draft["snapshot"]["name"]) == (False, agent["name"])
    assert len(await events(people, "system.agent_draft.discarded")) == 1


async def test_publishing_a_draft_makes_one_version_with_the_note(admin: Api, people: People) -> None:
    agent = await make_agent(admin)
    tool, old = await make_tool(admin, name="New"), await make_tool(admin, name="Old")
    await attach_tool(admin, agent, old)
    inner = {"name": "Inner", "primary_model": "m", "system_prompt": "p", "max_tokens": None}
    saved = await save(
        admin,
        agent,
        system_prompt="Drafted",
        tools=[{"tool_id": tool["id"], "requires_approval": True}],
        sub_agents=[{"relationship_type": "direct", "agent": inner, "delegation_prompt": "Ask it."}],
        web_search={"enabled": True},
    )
    published = await publish(admin, agent, note="  Better answers. ")
    assert (published["status"], published["version"], published["warnings"]) == ("published", 3, [])
    assert published["published_at"] is not None
    newest, *_ = await versions_of(admin, agent)
    assert (newest["version"], newest["summary"], newest["published"]) == (3, "Better answers.", True)
    snapshot = (await admin.get(path_of(agent, "/versions/3"))).json()["snapshot"]
    assert snapshot == {**saved["snapshot"], "status": "published"}
    assert (await draft_of(admin, agent))["is_stored"] is False
    assert len(await events(people, "agent.published")) == 1
    assert len(await events(people, "agent.updated")) == 2


async def test_publishing_the_next_draft_makes_the_next_version(admin: Api, people: People) -> None:
    agent = await make_agent(admin)
    await save(admin, agent, system_prompt="Drafted")
    assert (await publish(admin, agent))["version"] == 2
    assert len(await events(people, "agent.published")) == 1
    await save(admin, agent, system_prompt="Again")
    published = await publish(admin, agent)
    assert (published["version"], published["system_prompt"]) == (3, "Again")
    assert (await versions_of(admin, agent))[0]["summary"] == "Published the draft."
    assert len(await events(people, "agent.published")) == 2


async def test_publishing_without_a_body_is_as_before_and_leaves_the_draft(admin: Api) -> None:
    agent = await make_agent(admin)
    await save(admin, agent, name="Drafted")
    answer = await admin.post(path_of(agent, "/publish"))
    assert answer.status == 200
    assert set(answer.json()) == set(agent)
    assert (answer.json()["name"], answer.json()["version"]) == (agent["name"], 2)
    assert (await admin.post(path_of(agent, "/publish"))).json()["version"] == 2
    assert (await draft_of(admin, agent))["is_stored"] is True
    answer = await admin.post(path_of(agent, "/publish"), {"note": "As it is."})
    assert "warnings" not in answer.json()
    assert (await versions_of(admin, agent))[0]["summary"] == "As it is."


async def test_there_must_be_a_draft_and_the_agent_must_not_be_archived(admin: Api) -> None:
    agent = await make_agent(admin)
    answer = await admin.post(path_of(agent, "/publish"), {"from_draft": True})
    assert (answer.status, answer.code) == (404, "draft_not_found")
    await save(admin, agent, name="Drafted")
    await admin.post(path_of(agent, "/archive"))
    answer = await admin.post(path_of(agent, "/publish"), {"from_draft": True})
    assert (answer.status, answer.code) == (409, "invalid_transition")
    assert (await draft_of(admin, agent))["is_stored"] is True


async def test_a_change_by_somebody_else_since_then_is_a_conflict_unless_forced(
    admin: Api, people: People
) -> None:
    agent = await make_agent(admin)
    colleague = await people.signed_in(Role.agent_developer)
    await save(admin, agent, name="Mine")
    await change_agent(admin, agent, description="My own change is no conflict")
    await change_agent(colleague, agent, system_prompt="Theirs")
    answer = await admin.post(path_of(agent, "/publish"), {"from_draft": True})
    assert (answer.status, answer.code) == (412, "version_conflict")
    assert (answer.details["version"], answer.details["updated_by"]) == (3, colleague.user.id)
    assert answer.details["current"] == (await admin.get(path_of(agent, ""))).headers["etag"]
    rebased = await admin.put(path_of(agent), {"snapshot": {"system_prompt": "Both"}, "based_on": 3})
    assert rebased.json()["based_on"] == 3
    assert (await publish(admin, agent))["system_prompt"] == "Both"
    await save(admin, agent, name="Again")
    await change_agent(colleague, agent, system_prompt="Theirs again")
    assert (await publish(admin, agent, force=True))["system_prompt"] == "Both"
    answer = await admin.put(path_of(agent), {"snapshot": {}, "based_on": 99})
    assert (answer.status, list(answer.details)) == (422, ["based_on"])


async def test_what_is_gone_when_a_draft_is_published_is_named(admin: Api) -> None:
    agent, helper = await make_agent(admin), await make_agent(admin, name="Helper")
    tool = await make_tool(admin, name="Gone")
    await save(admin, agent, tools=[{"tool_id": tool["id"]}], sub_agents=[{"id": helper["id"]}])
    await admin.delete(f"/v1/tools/{tool['id']}")
    await admin.delete(path_of(helper, ""))
    shown = await draft_of(admin, agent)
    assert (await save(admin, agent, tools=shown["snapshot"]["tools"]))["is_changed"] is True
    assert (await publish(admin, agent))["warnings"] == [
        f"Tool Gone ({tool['id']}) no longer exists.",
        f"Sub-agent Helper ({helper['id']}) no longer exists.",
    ]


async def test_a_draft_compares_with_any_version(admin: Api) -> None:
    agent = await make_agent(admin, name="One")
    await change_agent(admin, agent, name="Two")
    await save(admin, agent, name="Three")
    assert await differences(admin, agent) == {"name": ("Two", "Three")}
    assert await differences(admin, agent, against=1) == {"name": ("One", "Three")}
    assert await differences(admin, agent, 1, against="draft") == {"name": ("Three", "One")}
    assert await differences(admin, agent, "draft", against="draft") == {}
    answer = await admin.get(path_of(agent, "/versions/1/diff"), query={"against": "other"})
    assert answer.status == 422


async def test_headers_are_masked_and_a_mask_sent_back_changes_nothing(admin: Api, people: People) -> None:
    agent, tool = await make_agent(admin), await make_tool(admin)
    override = {"headers": {"X-Team": "blue"}}
    await save(admin, agent, tools=[{"tool_id": tool["id"], "config_override": override}])
    viewer = await people.signed_in(Role.viewer)
    shown = await draft_of(viewer, agent)
    assert shown["snapshot"]["tools"][0]["config_override"]["headers"] == {"X-Team": MASK}
    saved = await save(admin, agent, tools=shown["snapshot"]["tools"])
    assert saved["snapshot"]["tools"][0]["config_override"] == override
    assert (await try_to_save(viewer, agent, name="X")).status == 403


async def test_a_credential_that_is_sent_back_needs_no_right_to_it(admin: Api, developer: Api) -> None:
    agent = await make_agent(admin)
    credential = await credentials.create(admin)
    search = {"search_engine": "brave", "credential_id": credential["id"]}
    await save(admin, agent, web_search=search)
    shown = await draft_of(developer, agent)
    saved = await save(developer, agent, **shown["snapshot"])
    assert saved["snapshot"]["web_search"]["credential_id"] == credential["id"]
    await publish(developer, agent)
    config = (await admin.get(path_of(agent, "/websearch/config"))).json()
    assert (config["credential_id"], config["configured"]) == (credential["id"], True), config
