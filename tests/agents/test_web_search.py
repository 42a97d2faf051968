"""The web search of an agent: its configuration through the API, and what a search then does."""

import asyncio

import pytest

from retinue.access.models import Role
from retinue.adapters.search import ADDRESSES, SearchError, SearchResult
from retinue.agents.models import Agent
from retinue.agents.search_engine import WEB_SEARCH_SPEC, search_web
from retinue.kit.schema.json_schema import compile_schema
from tests.adapters.search_server import CX, KEY, search_server
from tests.factories import credentials
from tests.factories.agents import make_agent
from tests.factories.happenings import events
from tests.factories.people import People
from tests.kit.egress_listener import listening

pytestmark = pytest.mark.either_database

DEFAULT = {
    "enabled": False,
    "search_engine": "duckduckgo",
    "max_results": 5,
    "safe_search": True,
    "read_pages": True,
    "credential_id": None,
    "base_url": None,
    "allowed_domains": [],
    "blocked_domains": [],
    "configured": True,
    "warnings": [],
}


@pytest.fixture
async def engines(monkeypatch):
    """The companies behind all engines."""
    async with search_server() as server:
        for name in ADDRESSES:
            monkeypatch.setitem(ADDRESSES, name, server.url)
        yield server


@pytest.fixture
async def developer(people):
    """May change agents and attach credentials, and may not read secrets."""
    return await people.signed_in(Role.agent_developer)


@pytest.fixture
async def agent(admin):
    return await make_agent(admin)


def path(agent, what="config") -> str:
    return f"/api/v1/agents/{agent['id']}/websearch/{what}"


async def configure(person, agent, **changes) -> dict:
    answer = await person.put(path(agent), changes)
    assert answer.status == 200, answer
    return answer.json()


async def search(people, agent, query="rust") -> list[SearchResult]:
    """Search the web as a turn of the agent does."""
    tenant = await people.default_tenant()
    async with people.context(tenant.id) as ctx:
        found = await ctx.db.get(Agent, agent["id"])
    return await search_web(people.context(tenant.id), found, query)


async def failure(people, agent) -> tuple[str, str]:
    with pytest.raises(SearchError) as caught:
        await search(people, agent)
    return caught.value.code, caught.value.message


async def make_key(person, **more) -> str:
    return (await credentials.create(person, secrets={"api_key": KEY, "cx": CX}, **more))["id"]


async def test_an_agent_searches_nothing_by_default(admin, agent, people) -> None:
    answer = await admin.get(path(agent))
    assert (answer.status, answer.json()) == (200, DEFAULT)
    assert (await failure(people, agent))[0] == "not_configured"


async def test_search_is_switched_on_and_off(admin, agent) -> None:
    for what, enabled in (("enable", True), ("enable", True), ("disable", False), ("disable", False)):
        answer = await admin.post(path(agent, what))
        assert (answer.status, answer.json()) == (200, {**DEFAULT, "enabled": enabled})
        assert (await admin.get(path(agent))).json()["enabled"] is enabled


async def test_only_what_is_named_changes(admin, agent) -> None:
    given = {
        "enabled": True,
        "search_engine": "searxng",
        "max_results": 20,
        "safe_search": False,
        "read_pages": True,
        "base_url": "https://search.example/searx/",
        "allowed_domains": ["Example.com.", "example.com", "b.example"],
        "blocked_domains": ["c.example"],
    }
    kept = {
        **DEFAULT,
        **given,
        "base_url": "https://search.example/searx",
        "allowed_domains": ["example.com", "b.example"],
    }
    assert await configure(admin, agent, **given) == kept
    assert await configure(admin, agent, max_results=1) == {**kept, "max_results": 1}
    assert await configure(admin, agent) == {**kept, "max_results": 1}
    emptied = await configure(admin, agent, base_url=None, allowed_domains=[], blocked_domains=[])
    assert (emptied["base_url"], emptied["allowed_domains"], emptied["configured"]) == (None, [], False)


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("max_results", 0, "max_results"),
        ("max_results", 21, "max_results"),
        ("max_results", 2.5, "max_results"),
        ("max_results", None, "max_results"),
        ("enabled", "yes", "enabled"),
        ("safe_search", 1, "safe_search"),
        ("search_engine", "", "search_engine"),
        ("search_engine", "x" * 65, "search_engine"),
        ("search_engine", None, "search_engine"),
        ("base_url", "ftp://search.example", "base_url"),
        ("base_url", "search.example", "base_url"),
        ("base_url", "https://user:pass@search.example", "base_url"),
        ("base_url", "https://search.example/?q=1", "base_url"),
        ("base_url", "", "base_url"),
        ("allowed_domains", ["https://example.com"], "allowed_domains.0"),
        ("allowed_domains", ["a.example", "*.example.com"], "allowed_domains.1"),
        ("blocked_domains", [""], "blocked_domains.0"),
        ("blocked_domains", ["x.example"] * 101, "blocked_domains"),
        ("blocked_domains", "x.example", "blocked_domains"),
        ("credential_id", "cred_nothere", "credential_id"),
        ("credential_id", 7, "credential_id"),
    ],
)
async def test_what_cannot_be_is_refused_by_its_field(admin, agent, field, value, named) -> None:
    answer = await admin.put(path(agent), {"max_results": 7, field: value})
    assert (answer.status, answer.code, list(answer.details)) == (422, "validation_error", [named])
    assert (await admin.get(path(agent))).json() == DEFAULT


@pytest.mark.parametrize("name", ["x", "altavista", "Ünï cödé 🦆", "e" * 64])
async def test_an_engine_nobody_knows_is_kept_and_does_not_run(admin, agent, people, name) -> None:
    shown = await configure(admin, agent, search_engine=name, enabled=True)
    assert (shown["search_engine"], shown["configured"]) == (name, False)
    assert name in shown["warnings"][0]
    assert (await admin.post(path(agent, "enable"))).status == 200
    assert (await failure(people, agent))[0] == "not_configured"


async def test_a_change_is_a_version_and_an_event_and_the_same_again_is_neither(admin, agent, people) -> None:
    await configure(admin, agent, max_results=9)
    await configure(admin, agent, max_results=9)
    await admin.post(path(agent, "disable"))
    found = await events(people, "agent.updated")
    assert [(entry.data["version"], entry.data["changes"]) for entry in found] == [(2, ["web_search"])]


async def test_two_who_change_different_fields_do_not_undo_each_other(admin, agent) -> None:
    changes = ({"max_results": 9}, {"safe_search": False}, {"search_engine": "brave"}, {"enabled": True})
    await asyncio.gather(*(configure(admin, agent, **change) for change in changes))
    shown = (await admin.get(path(agent))).json()
    assert {name: shown[name] for change in changes for name in change} == {
        "max_results": 9,
        "safe_search": False,
        "search_engine": "brave",
        "enabled": True,
    }


@pytest.mark.parametrize("role", [Role.agent_user, Role.viewer])
async def test_who_may_only_read_agents_changes_nothing(people, agent, role) -> None:
    reader = await people.signed_in(role)
    assert (await reader.get(path(agent))).status == 200
    for answer in (
        await reader.put(path(agent), {"max_results": 1}),
        await reader.post(path(agent, "enable")),
        await reader.post(path(agent, "disable")),
    ):
        assert (answer.status, answer.code) == (403, "forbidden")


async def test_another_tenants_agent_and_credential_are_not_there(people, admin, agent) -> None:
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    assert (await stranger.get(path(agent))).code == "agent_not_found"
    assert (await stranger.post(path(agent, "enable"))).status == 404
    theirs = await credentials.create(stranger)
    answer = await admin.put(path(agent), {"credential_id": theirs["id"]})
    assert (answer.status, answer.details) == (422, {"credential_id": "there is no such credential"})


async def test_an_agent_finds_pages_without_a_key(admin, agent, people, engines) -> None:
    await configure(admin, agent, enabled=True, max_results=2, blocked_domains=["en.wikipedia.org"])
    found = await search(people, agent)
    assert [page.url for page in found] == ["https://blog.rust-lang.org/1", "https://users.rust-lang.org/t/1"]


@pytest.mark.parametrize("engine", ["brave", "google", "google_pse", "serper", "tavily"])
async def test_an_agent_searches_with_a_key_of_the_vault(admin, agent, people, engines, engine) -> None:
    assert (await configure(admin, agent, search_engine=engine, enabled=True))["configured"] is False
    assert (await failure(people, agent))[0] == "not_configured"
    credential = await make_key(admin)
    assert (await configure(admin, agent, credential_id=credential))["configured"] is True
    assert len(await search(people, agent)) == 3
    used = (await credentials.trail(admin, credential))[-1]
    assert (used["action"], used["via"]["agent_id"]) == ("used", agent["id"])


async def test_google_needs_the_id_of_its_engine_beside_the_key(admin, agent, people, engines) -> None:
    plain = await credentials.create(admin, secrets={"api_key": KEY})
    shown = await configure(admin, agent, search_engine="google", credential_id=plain["id"], enabled=True)
    assert shown["configured"] is False
    assert "lacks cx" in shown["warnings"][0]
    assert (await failure(people, agent))[0] == "not_configured"
    assert engines.requests == []


async def test_a_credential_of_another_type_cannot_be_chosen(admin, agent) -> None:
    server = await credentials.create(admin, "ssh")
    answer = await admin.put(path(agent), {"credential_id": server["id"]})
    assert (answer.status, list(answer.details)) == (422, ["credential_id"])


async def test_a_login_is_for_a_server_of_ones_own(admin, agent, people, engines) -> None:
    login = await credentials.create(admin, "basic_auth")
    chosen = {"search_engine": "brave", "credential_id": login["id"], "enabled": True}
    assert (await configure(admin, agent, **chosen))["configured"] is False
    assert (await failure(people, agent))[0] == "not_configured"
    assert engines.requests == []
    assert (await configure(admin, agent, search_engine="searxng", base_url=engines.url))[
        "configured"
    ] is True
    await search(people, agent)
    assert engines.last.headers["authorization"].startswith("Basic ")


async def test_a_key_does_not_follow_an_address_moved_by_who_does_not_know_it(
    admin, developer, agent, people, engines
) -> None:
    chosen = {"search_engine": "searxng", "base_url": engines.url, "credential_id": await make_key(admin)}
    assert (await configure(admin, agent, enabled=True, **chosen))["configured"] is True
    async with listening() as evil:
        moved = await configure(developer, agent, base_url=evil.url)
        assert (moved["base_url"], moved["configured"]) == (evil.url, False)
        assert evil.url in moved["warnings"][0]
        # Whoever changes something else has not agreed to the address.
        assert (await configure(admin, agent, max_results=3))["configured"] is False
        assert (await admin.post(path(agent, "enable"))).json()["configured"] is False
        code, message = await failure(people, agent)
        assert (code, "another destination" in message, evil.connections) == ("not_configured", True, 0)
        assert (await configure(developer, agent, base_url=engines.url))["configured"] is True
    assert len(await search(people, agent)) == 3


async def test_naming_the_engine_does_not_agree_to_an_address_of_someone_else(
    admin, developer, agent, people
) -> None:
    await configure(admin, agent, search_engine="brave", credential_id=await make_key(admin), enabled=True)
    async with listening() as evil:
        await configure(developer, agent, base_url=evil.url)
        assert (await configure(admin, agent, search_engine="searxng"))["configured"] is False
        assert (await failure(people, agent), evil.connections)[0][0] == "not_configured"
        assert (await configure(admin, agent, base_url=evil.url))["configured"] is True


async def test_a_key_is_not_lent_to_an_engine_by_who_does_not_know_it(
    admin, developer, agent, engines
) -> None:
    credential = await make_key(admin)
    chosen = {"search_engine": "brave", "credential_id": credential}
    assert (await configure(developer, agent, **chosen))["configured"] is False
    own = await make_key(developer)
    assert (await configure(developer, agent, credential_id=own))["configured"] is True
    assert (await configure(admin, agent, credential_id=credential))["configured"] is True


async def test_a_rule_for_another_agent_keeps_this_one_out(admin, agent, people, engines) -> None:
    credential = await make_key(admin)
    await configure(admin, agent, search_engine="brave", credential_id=credential, enabled=True)
    assert (await credentials.grant(admin, credential, "agent", "agt_other")).status == 201
    assert (await failure(people, agent))[0] == "not_configured"
    assert (await credentials.grant(admin, credential, "agent", agent["id"])).status == 201
    assert len(await search(people, agent)) == 3


async def test_an_expired_credential_is_said_and_not_used(admin, agent, people, engines, clock) -> None:
    credential = await make_key(admin, expires_at=clock.ahead(60))
    await configure(admin, agent, search_engine="brave", credential_id=credential, enabled=True)
    clock.advance(61)
    shown = (await admin.get(path(agent))).json()
    assert (shown["configured"], shown["warnings"]) == (False, ["The credential has expired."])
    assert (await failure(people, agent))[0] == "not_configured"
    assert engines.requests == []


async def test_a_credential_in_use_is_kept_unless_it_is_forced(admin, agent) -> None:
    credential = await make_key(admin)
    await configure(admin, agent, search_engine="brave", credential_id=credential)
    refused = await admin.delete(f"{credentials.PATH}/{credential}")
    assert (refused.status, refused.code) == (409, "credential_in_use")
    assert refused.details["agents"] == [{"id": agent["id"], "name": agent["name"]}]
    assert (await admin.delete(f"{credentials.PATH}/{credential}?force=true")).status == 204
    shown = (await admin.get(path(agent))).json()
    assert (shown["credential_id"], shown["configured"]) == (None, False)


async def test_what_has_no_effect_is_said(admin, agent) -> None:
    key = await make_key(admin)
    shown = await configure(admin, agent, base_url="https://search.example", credential_id=key)
    assert shown["configured"] is True
    assert [warning.partition(";")[2] for warning in shown["warnings"]] == [
        " base_url is not used.",
        " credential_id is not used.",
    ]
    shown = await configure(admin, agent, search_engine="tavily", base_url=None)
    assert [warning.partition(";")[2] for warning in shown["warnings"]] == [" safe_search is not used."]
    assert "2027" in (await configure(admin, agent, search_engine="google"))["warnings"][0]


@pytest.mark.parametrize("address", ["http://169.254.169.254", "https://10.0.0.1", "http://search.example"])
async def test_an_address_where_calls_may_not_go_is_kept_and_not_called(
    admin, agent, people, address
) -> None:
    shown = await configure(admin, agent, search_engine="searxng", base_url=address, enabled=True)
    assert (shown["base_url"], shown["configured"]) == (address, False)
    assert "cannot be reached" in shown["warnings"][0]
    assert (await failure(people, agent))[0] == "not_configured"


async def test_a_key_that_an_engine_repeats_reaches_nobody(admin, agent, people, engines, capfd) -> None:
    await configure(admin, agent, search_engine="brave", credential_id=await make_key(admin), enabled=True)
    page = engines.pages[0]
    engines.pages = (type(page)(f"Key {KEY}", f"https://example.com/?k={KEY}", f"You sent {KEY}"),)
    found = await search(people, agent)
    assert found == [SearchResult("Key ***", "https://example.com/?k=***", "You sent ***")]
    assert KEY not in "".join(capfd.readouterr())


def test_the_model_may_choose_the_words_and_nothing_else() -> None:
    compile_schema(WEB_SEARCH_SPEC.input_schema, "input_schema")
    assert WEB_SEARCH_SPEC.name == "web_search"
    assert list(WEB_SEARCH_SPEC.input_schema["properties"]) == ["query"]
    assert WEB_SEARCH_SPEC.input_schema["additionalProperties"] is False


async def test_the_operators_searxng_serves_agents_without_one(make_service, engines) -> None:
    service = await make_service(searxng_url=engines.url)
    people = People(service)
    admin = await people.super_admin()
    agent = await make_agent(admin)
    assert (await configure(admin, agent, search_engine="searxng", enabled=True))["configured"] is True
    assert len(await search(people, agent)) == 3
    async with listening() as own:
        await configure(admin, agent, base_url=own.url)
        assert (await failure(people, agent))[0] == "provider_error"
        assert own.connections == 1
