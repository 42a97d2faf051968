"""Names in place of ids, for every member of a tenant."""

from retinue.access.models import Role
from retinue.users.schemas import MAX_FOUND_NAMES, MAX_NAMES
from tests.factories.agents import make_agent
from tests.factories.machines import make_account
from tests.factories.people import People

PATH = "/users/names"


async def names(api, *ids: str) -> dict[str, tuple[str, str]]:
    answer = await api.get(PATH, query={"ids": ",".join(ids)})
    assert answer.status == 200, answer
    return {one["id"]: (one["name"], one["kind"]) for one in answer.json()["data"]}


async def test_every_member_reads_names_in_the_order_of_the_ids(people: People) -> None:
    ines = await people.user(first_name="Ines", last_name="Novak")
    ops = await people.user(first_name="", last_name="", email="ops@example.com")
    viewer = await people.signed_in(Role.viewer)
    answer = await viewer.get(PATH, query={"ids": f"{ops.id}, {ines.id},{ops.id},usr_unknown,what"})
    assert answer.json() == {
        "data": [
            {"id": ops.id, "name": "ops", "kind": "user"},
            {"id": ines.id, "name": "Ines Novak", "kind": "user"},
        ]
    }


async def test_service_accounts_and_embed_keys_have_names_too(people: People) -> None:
    boss = await people.signed_in(Role.tenant_admin)
    agent = await make_agent(boss)
    account = await make_account(boss, "agents:read", name="Nightly")
    key = await boss.post("/api/v1/embed/api-keys", {"agent_id": agent["id"], "name": "Website"})
    viewer = await people.signed_in(Role.viewer)
    assert await names(viewer, account["id"], key.json()["id"], agent["id"]) == {
        account["id"]: ("Nightly", "service_account"),
        key.json()["id"]: ("Website", "embed_key"),
    }


async def test_names_of_other_tenants_stay_there_but_for_super_administrators(people: People) -> None:
    other = await people.tenant("Other")
    stranger = await people.user("tenant_admin", other, first_name="Sten")
    root = await people.user(Role.super_admin, other, first_name="Rut", last_name="Berg")
    viewer = await people.signed_in(Role.viewer)
    assert await names(viewer, stranger.id, root.id) == {root.id: ("Rut Berg", "user")}


async def test_the_number_of_ids_is_bounded(people: People) -> None:
    viewer = await people.signed_in(Role.viewer)
    for query in ({}, {"ids": " , "}, {"ids": ",".join(f"usr_{n}" for n in range(MAX_NAMES + 1))}):
        refused = await viewer.get(PATH, query=query)
        assert (refused.status, list(refused.details)) == (422, ["ids"])
    assert await names(viewer, *(f"usr_{number}" for number in range(MAX_NAMES))) == {}


async def found(api, search: str) -> list[str]:
    answer = await api.get(PATH, query={"search": search})
    assert answer.status == 200, answer
    return [one["name"] for one in answer.json()["data"]]


async def test_every_member_finds_active_colleagues_by_a_part_of_their_name(people: People) -> None:
    await people.user(first_name="Ines", last_name="Novák")
    await people.user(first_name="Jonas", last_name="Novotny")
    await people.user(first_name="Nora", last_name="Novak", status="inactive")
    await people.user(first_name="", last_name="", email="novella@example.com")
    await people.user("tenant_admin", await people.tenant("Other"), first_name="Nova")
    viewer = await people.signed_in(Role.viewer)
    assert await found(viewer, "NOV") == ["novella", "Ines Novák", "Jonas Novotny"]
    assert await found(viewer, "s novÁ") == ["Ines Novák"]
    assert await found(viewer, "example") == []
    assert await found(viewer, "no%") == []


async def test_a_search_for_names_needs_two_characters_and_no_ids(people: People) -> None:
    viewer = await people.signed_in(Role.viewer)
    for query in ({"search": "n"}, {"search": " n "}, {"search": "nov", "ids": "usr_1"}):
        refused = await viewer.get(PATH, query=query)
        assert (refused.status, list(refused.details)) == (422, ["search"])


async def test_at_most_twenty_colleagues_are_found(people: People) -> None:
    for number in range(MAX_FOUND_NAMES + 1):
        await people.user(first_name=f"Alma {number}")
    viewer = await people.signed_in(Role.viewer)
    assert len(await found(viewer, "alma")) == MAX_FOUND_NAMES
