"""One search over the names, ids and descriptions of everything that the caller may see."""

from typing import Any

from retinue.access.models import Role
from retinue.agents.models import Agent
from tests.client import Api
from tests.factories.agents import make_agent
from tests.factories.conversations import some_talk
from tests.factories.people import People
from tests.factories.tools import make_tool

PATH = "/api/v1/search"


async def search(api: Api, q: str, **query: Any) -> list[tuple[str, str]]:
    answer = await api.get(PATH, query={"q": q, **query})
    assert answer.status == 200, answer
    return [(one["type"], one["name"]) for one in answer.json()["data"]]


async def test_names_are_found_best_match_first(admin: Api) -> None:
    await make_agent(admin, name="Prefunder")
    await make_agent(admin, name="Clerk", description="Pays each REFUND")
    await make_agent(admin, name="The refund desk")
    await make_agent(admin, name="Refund clerk")
    assert await search(admin, "refund", types="agent") == [
        ("agent", "Refund clerk"),
        ("agent", "The refund desk"),
        ("agent", "Prefunder"),
        ("agent", "Clerk"),
    ]
    assert await search(admin, " refund ", types="agent", limit=1) == [("agent", "Refund clerk")]


async def test_every_type_is_searched_and_patterns_mean_themselves(admin: Api) -> None:
    await make_agent(admin, name="Straße 100%")
    await make_tool(admin, name="Straßenkarte")
    assert await search(admin, "STRASSE") == [("agent", "Straße 100%"), ("tool", "Straßenkarte")] or set(
        await search(admin, "STRASSE")
    ) == {("agent", "Straße 100%"), ("tool", "Straßenkarte")}
    assert await search(admin, "0%") == [("agent", "Straße 100%")]
    assert await search(admin, "_") == []
    assert ("user", "Ada Lovelace") not in await search(admin, "lovelace", types="agent")


async def test_an_id_or_its_beginning_is_found(admin: Api) -> None:
    agent = await make_agent(admin, name="Clerk")
    await make_agent(admin, name="Other")
    assert await search(admin, agent["id"]) == [("agent", "Clerk")]
    assert await search(admin, agent["id"][:-3]) == [("agent", "Clerk")]


async def talk_with(people: People, person: Api, agent: dict[str, Any], title: str) -> str:
    """Let a person talk with an agent, and return the id of the conversation."""
    async with people.context(person.user.tenant_id) as ctx:
        record = await ctx.db.get(Agent, agent["id"])
        assert record is not None
        return (await some_talk(ctx, record, person.user.id, title)).conversation.id


async def test_a_conversation_is_found_by_its_owner_and_the_administrators(
    admin: Api, people: People
) -> None:
    agent = await make_agent(admin, name="Parcels")
    ada, bob = await people.signed_in(Role.agent_user), await people.signed_in(Role.agent_user)
    viewer = await people.signed_in(Role.viewer)
    conversation_id = await talk_with(people, ada, agent, "Parcels of Ada")
    conversation = ("conversation", "Parcels of Ada")
    assert conversation in await search(admin, "parcels")
    assert conversation in await search(ada, "parcels")
    assert await search(bob, "parcels") == [("agent", "Parcels")]
    assert await search(viewer, "parcels") == [("agent", "Parcels")]
    assert await search(bob, conversation_id) == []
    assert await search(ada, conversation_id) == [conversation]
    hit = (await admin.get(PATH, query={"q": "Parcels of"})).json()["data"][0]
    assert hit["parent_id"] == agent["id"]


async def test_only_who_manages_people_finds_them_and_nobody_finds_another_tenants_things(
    admin: Api, people: People
) -> None:
    await make_agent(admin, name="Parcels")
    assert await search(await people.signed_in(Role.viewer), "lovelace") == []
    assert ("user", "Ada Lovelace") in await search(admin, "lovelace")
    elsewhere = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    assert await search(elsewhere, "parcels") == []


async def test_a_wrong_search_is_refused(admin: Api) -> None:
    for query in ({}, {"q": ""}, {"q": "  "}, {"q": "x", "types": "spoon"}, {"q": "x", "limit": 51}):
        assert (await admin.get(PATH, query=query)).status == 422, query
