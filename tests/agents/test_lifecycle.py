"""The states of an agent and the ways between them."""

import pytest

from tests.factories.agents import change_agent, make_agent, read_agent
from tests.factories.happenings import audits, events, only_event

ALLOWED = {
    "draft": ["published", "archived"],
    "published": ["draft", "archived"],
    "archived": ["draft"],
}


async def brought_to(api, status: str) -> dict:
    agent = await make_agent(api, status="published" if status == "published" else "draft")
    return await change_agent(api, agent, status="archived") if status == "archived" else agent


@pytest.mark.parametrize("start", ALLOWED)
@pytest.mark.parametrize("end", ALLOWED)
async def test_a_state_leads_exactly_where_it_may(admin, start: str, end: str) -> None:
    agent = await brought_to(admin, start)
    answer = await admin.put(f"/api/v1/agents/{agent['id']}", {"status": end, "name": "Renamed"})
    if end in {start, *ALLOWED[start]}:
        assert (answer.status, answer.json()["status"]) == (200, end)
        return
    assert (answer.status, answer.code) == (409, "invalid_transition")
    assert answer.details == {"from": start, "to": end, "allowed": ALLOWED[start]}
    assert (await read_agent(admin, agent))["name"] == agent["name"]


@pytest.mark.parametrize(
    ("start", "action", "outcome"),
    [
        ("draft", "publish", "published"),
        ("published", "publish", "published"),
        ("archived", "publish", "invalid_transition"),
        ("draft", "archive", "archived"),
        ("published", "archive", "archived"),
        ("archived", "archive", "archived"),
        ("archived", "restore", "draft"),
        ("draft", "restore", "draft"),
        ("published", "restore", "agent_not_archived"),
    ],
)
async def test_the_short_ways_do_what_they_say(admin, start: str, action: str, outcome: str) -> None:
    agent = await brought_to(admin, start)
    answer = await admin.post(f"/api/v1/agents/{agent['id']}/{action}")
    if outcome in ALLOWED:
        assert (answer.status, answer.json()["status"]) == (200, outcome)
    else:
        assert (answer.status, answer.code) == (409, outcome)
        assert (await read_agent(admin, agent))["status"] == start


async def test_each_entry_into_published_is_told_and_nothing_else(people, admin, clock) -> None:
    agent = await make_agent(admin, status="published")
    assert agent["published_at"] is not None
    await change_agent(admin, agent, status="published", name="Still published")
    assert len(await events(people, "agent.published")) == 1
    await change_agent(admin, agent, status="draft")
    clock.advance(60)
    again = await change_agent(admin, agent, status="published")
    told = await events(people, "agent.published")
    assert [event.data["version"] for event in told] == [1, again["version"]]
    assert again["published_at"] > agent["published_at"]


async def test_what_happens_to_an_agent_is_an_event_and_audited(people, admin) -> None:
    agent = await make_agent(admin, name="Ada")
    told = {"agent_id": agent["id"], "name": "Ada", "status": "draft", "version": 1, "changes": []}
    assert await only_event(people, "agent.created") == told
    await change_agent(admin, agent, name="Bob", temperature=0.1)
    told |= {"name": "Bob", "version": 2}
    assert await only_event(people, "agent.updated") == {**told, "changes": ["name", "temperature"]}
    await admin.delete(f"/api/v1/agents/{agent['id']}")
    assert await only_event(people, "agent.deleted") == told


async def test_an_update_that_changes_nothing_is_no_event_and_no_version(people, admin) -> None:
    agent = await make_agent(admin)
    same = await change_agent(admin, agent, name=agent["name"], temperature=0.7, status="draft")
    assert same == agent
    assert await events(people, "agent.updated") == await audits(people, "agent.updated") == []
