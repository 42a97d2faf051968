"""Provider keys: made, read, changed and deleted, and their secret never shown."""

import asyncio

import pytest

from retinue.access.models import Role
from retinue.domains import DOMAINS
from retinue.kit.context import Context
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.references import Reference, Referrer
from retinue.providers.models import ProviderKey
from tests.factories.happenings import events, only_event
from tests.factories.people import People
from tests.factories.providers import PATH, add_key

KEY = "sk-proj-4f3c2b1a09876543210a1b2"
SHAPE = [
    "id",
    "provider",
    "name",
    "key_prefix",
    "base_url",
    "models",
    "is_default",
    "priority",
    "is_active",
    "is_valid",
    "last_tested_at",
    "last_used_at",
    "monthly_budget_usd",
    "created_at",
    "updated_at",
]


async def test_a_key_is_added_and_read_and_never_shown(admin) -> None:
    body = {
        "provider": "openai",
        "name": "Production",
        "api_key": KEY,
        "models": ["gpt-4o", "gpt-4o-mini", "gpt-4o"],
        "priority": 3,
        "monthly_budget_usd": 12.5,
    }
    answer = await admin.post(PATH, body)
    assert answer.status == 201
    made = answer.json()
    assert list(made) == SHAPE
    assert made["id"].startswith("pak_")
    assert made == {
        "id": made["id"],
        "provider": "openai",
        "name": "Production",
        "key_prefix": "sk-…a1b2",
        "base_url": None,
        "models": ["gpt-4o", "gpt-4o-mini"],
        "is_default": False,
        "priority": 3,
        "is_active": True,
        "is_valid": True,
        "last_tested_at": None,
        "last_used_at": None,
        "monthly_budget_usd": 12.5,
        "created_at": made["created_at"],
        "updated_at": made["updated_at"],
    }
    read = await admin.get(f"{PATH}/{made['id']}")
    assert (read.status, read.json()) == (200, made)
    listed = await admin.get(PATH)
    assert listed.json() == {
        "data": [made],
        "pagination": {"page": 1, "per_page": 20, "total": 1, "total_pages": 1},
    }
    for shown in (answer, read, listed):
        assert KEY.encode() not in shown.body


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("sk-proj-4f3c2b1a09876543210a1b2", "sk-…a1b2"),
        ("gsk_aaaaaaaaaaaaaaaaaaaaa9z", "gsk_…aa9z"),
        ("AIzaSyD4f3c2b1a0987654321", "…4321"),
        ("0123456789abcdef", "…cdef"),
        ("0123456789abcde", "…"),
        ("sk-short", "…"),
    ],
)
async def test_of_a_key_its_kind_and_four_characters_are_shown_if_it_is_long(admin, key, shown) -> None:
    assert (await add_key(admin, api_key=key))["key_prefix"] == shown


async def test_keys_are_listed_searched_sorted_and_filtered(admin) -> None:
    for name, provider in (("Beta", "groq"), ("Alpha", "openai"), ("Gamma", "groq")):
        await add_key(admin, name=name, provider=provider, is_active=name != "Gamma")

    async def names(**query: str) -> list[str]:
        answer = await admin.get(PATH, query=query)
        return [key["name"] for key in answer.json()["data"]]

    assert await names() == ["Gamma", "Alpha", "Beta"]
    assert await names(sort="name") == ["Alpha", "Beta", "Gamma"]
    assert await names(search="alp") == ["Alpha"]
    assert await names(provider="groq", sort="name") == ["Beta", "Gamma"]
    assert await names(is_active="false") == ["Gamma"]
    assert (await admin.get(PATH, query={"sort": "api_key"})).details.keys() == {"sort"}
    assert (await admin.get(PATH, query={"provider": "acme"})).status == 422


async def test_a_key_is_changed_field_by_field(admin) -> None:
    made = await add_key(admin, api_key=KEY, name="Old")
    answer = await admin.put(
        f"{PATH}/{made['id']}", {"name": "New", "priority": 7, "is_active": False, "monthly_budget_usd": 5}
    )
    changed = answer.json()
    assert answer.status == 200
    assert {name for name in made if made[name] != changed[name]} == {
        "name",
        "priority",
        "is_active",
        "monthly_budget_usd",
        "updated_at",
    }
    assert changed["monthly_budget_usd"] == 5
    emptied = (await admin.put(f"{PATH}/{made['id']}", {"monthly_budget_usd": None, "models": []})).json()
    assert (emptied["monthly_budget_usd"], emptied["models"]) == (None, None)


async def test_a_change_that_changes_nothing_says_nothing(admin, people) -> None:
    made = await add_key(admin)
    assert (await admin.put(f"{PATH}/{made['id']}", {"provider": "openai", "priority": 0})).json() == made
    assert await events(people, "system.api_key.updated") == []


async def test_another_key_takes_the_place_of_the_first(admin) -> None:
    made = await add_key(admin, api_key=KEY)
    changed = (await admin.put(f"{PATH}/{made['id']}", {"api_key": "sk-" + "x" * 20 + "9999"})).json()
    assert changed["key_prefix"] == "sk-…9999"


async def test_a_deleted_key_is_gone(admin) -> None:
    made = await add_key(admin)
    answer = await admin.delete(f"{PATH}/{made['id']}")
    assert (answer.status, answer.body) == (204, b"")
    again = await admin.delete(f"{PATH}/{made['id']}")
    assert (again.status, again.code) == (404, "api_key_not_found")


async def test_what_is_done_to_a_key_is_an_event_and_audited_without_the_key(admin, people) -> None:
    made = await add_key(admin, api_key=KEY, name="Main")
    await admin.put(f"{PATH}/{made['id']}", {"name": "Second", "api_key": KEY + "x"})
    await admin.delete(f"{PATH}/{made['id']}")
    common = {"api_key_id": made["id"], "provider": "openai"}
    assert await only_event(people, "system.api_key.created") == {**common, "name": "Main"}
    assert await only_event(people, "system.api_key.updated") == {
        **common,
        "name": "Second",
        "changed": ["api_key", "name"],
        "destination": "https://api.openai.com",
    }
    assert await only_event(people, "system.api_key.deleted") == {**common, "name": "Second"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "provider"),
        ({"provider": "acme"}, "provider"),
        ({"provider": "openai"}, "api_key"),
        ({"provider": "openai", "api_key": ""}, "api_key"),
        ({"provider": "openai", "api_key": "two words"}, "api_key"),
        ({"provider": "openai", "api_key": "sk-x\n"}, "api_key"),
        ({"provider": "openai", "api_key": "sk-x\r\nX-Evil: 1"}, "api_key"),
        ({"provider": "openai", "api_key": "sk-\x7f"}, "api_key"),
        ({"provider": "openai", "api_key": "x" * 4097}, "api_key"),
        ({"provider": "openai", "api_key": KEY, "credential_id": "cred_x"}, "credential_id"),
        ({"provider": "openai", "credential_id": "cred_aaaaaaaaaaaaaaaaaaaaaaaaaa"}, "credential_id"),
        ({"provider": "azure_openai", "api_key": KEY}, "base_url"),
        ({"provider": "bedrock", "api_key": KEY}, "base_url"),
        ({"provider": "openai_compatible"}, "base_url"),
        ({"provider": "ollama", "base_url": "ftp://127.0.0.1"}, "base_url"),
        ({"provider": "ollama", "base_url": "http://user:pw@127.0.0.1/"}, "base_url"),
        ({"provider": "ollama", "base_url": "http://127.0.0.1/?a=1"}, "base_url"),
        ({"provider": "ollama", "base_url": "http://127.0.0.1/#a"}, "base_url"),
        ({"provider": "ollama", "base_url": "localhost"}, "base_url"),
        ({"provider": "ollama", "base_url": "http://a b/"}, "base_url"),
        ({"provider": "local", "api_key": KEY}, "api_key"),
        ({"provider": "local", "base_url": "http://127.0.0.1"}, "base_url"),
        ({"provider": "openai", "api_key": KEY, "name": " "}, "name"),
        ({"provider": "openai", "api_key": KEY, "models": "gpt-4o"}, "models"),
        ({"provider": "openai", "api_key": KEY, "models": ["gpt 4"]}, "models.0"),
        ({"provider": "openai", "api_key": KEY, "models": ["x"] * 501}, "models"),
        ({"provider": "openai", "api_key": KEY, "priority": -1}, "priority"),
        ({"provider": "openai", "api_key": KEY, "priority": 10**9}, "priority"),
        ({"provider": "openai", "api_key": KEY, "priority": 1.5}, "priority"),
        ({"provider": "openai", "api_key": KEY, "monthly_budget_usd": -0.01}, "monthly_budget_usd"),
        ({"provider": "openai", "api_key": KEY, "monthly_budget_usd": 1e12}, "monthly_budget_usd"),
        ({"provider": "openai", "api_key": KEY, "monthly_budget_usd": "5"}, "monthly_budget_usd"),
        ({"provider": "openai", "api_key": KEY, "is_default": "yes"}, "is_default"),
    ],
)
async def test_a_key_that_cannot_work_is_refused(admin, body, field) -> None:
    answer = await admin.post(PATH, body)
    assert (answer.status, answer.code) == (422, "validation_error"), answer
    assert list(answer.details) == [field]
    assert KEY.encode() not in answer.body
    assert (await admin.get(PATH)).json()["data"] == []


@pytest.mark.parametrize(
    ("made", "body", "field"),
    [
        ({}, {"provider": "groq"}, "provider"),
        ({}, {"api_key": None}, "api_key"),
        ({}, {"api_key": "a b"}, "api_key"),
        ({}, {"credential_id": "cred_aaaaaaaaaaaaaaaaaaaaaaaaaa"}, "credential_id"),
        ({"provider": "azure_openai", "base_url": "https://x.example.com"}, {"base_url": None}, "base_url"),
    ],
)
async def test_a_change_that_would_break_a_key_is_refused(admin, made, body, field) -> None:
    key = await add_key(admin, **made)
    answer = await admin.put(f"{PATH}/{key['id']}", body)
    assert (answer.status, list(answer.details)) == (422, [field])
    assert (await admin.get(f"{PATH}/{key['id']}")).json() == key


async def test_what_needs_no_key_is_added_without_one(admin) -> None:
    for provider, base_url in (
        ("local", None),
        ("ollama", None),
        ("openai_compatible", "http://10.0.0.7:8000/v1/"),
    ):
        key = await add_key(admin, provider=provider, base_url=base_url, api_key=None)
        assert (key["key_prefix"], key["name"]) == ("", provider)
    assert key["base_url"] == "http://10.0.0.7:8000/v1"


async def test_a_provider_has_at_most_one_default(admin) -> None:
    first = await add_key(admin, is_default=True)
    other = await add_key(admin, provider="groq", is_default=True)
    second = await add_key(admin, is_default=True)
    third = await add_key(admin)
    await admin.put(f"{PATH}/{third['id']}", {"is_default": True})
    await admin.put(f"{PATH}/{third['id']}", {"is_default": True})
    keys = {key["id"]: key["is_default"] for key in (await admin.get(PATH)).json()["data"]}
    assert keys == {first["id"]: False, second["id"]: False, third["id"]: True, other["id"]: True}
    await admin.put(f"{PATH}/{third['id']}", {"is_default": False})
    assert not (await admin.get(f"{PATH}/{third['id']}")).json()["is_default"]


async def test_many_defaults_at_once_leave_one(admin) -> None:
    body = {"provider": "openai", "api_key": KEY, "is_default": True}
    first = await asyncio.gather(*(admin.post(PATH, body) for _ in range(5)))
    assert {answer.status for answer in first} <= {201, 409}
    made = [await add_key(admin) for _ in range(5)]
    answers = await asyncio.gather(
        *(admin.put(f"{PATH}/{key['id']}", {"is_default": True}) for key in made),
        *(admin.post(PATH, body) for _ in range(3)),
    )
    assert {answer.status for answer in answers} == {200, 201}
    keys = (await admin.get(PATH)).json()["data"]
    assert [key["is_default"] for key in keys].count(True) == 1


async def test_only_administrators_have_to_do_with_keys(people, admin) -> None:
    made = await add_key(admin)
    tenant = await people.default_tenant()
    for role in (Role.agent_developer, Role.agent_user, Role.viewer):
        person = await people.signed_in(role, tenant)
        assert (await person.get(PATH)).details["required"] == "api_keys:read"
        for answer in (
            await person.post(PATH, {"provider": "openai", "api_key": KEY}),
            await person.put(f"{PATH}/{made['id']}", {"name": "x"}),
            await person.post(f"{PATH}/{made['id']}/test"),
            await person.delete(f"{PATH}/{made['id']}"),
        ):
            assert (answer.status, answer.details["required"]) == (403, "api_keys:write")
    boss = await people.signed_in(Role.tenant_admin, tenant)
    assert (await boss.get(f"{PATH}/{made['id']}")).status == 200


async def test_another_tenants_keys_are_not_there(people, admin) -> None:
    made = await add_key(admin)
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    assert (await stranger.get(PATH)).json()["data"] == []
    for method, body in (("GET", None), ("PUT", {"name": "Mine"}), ("DELETE", None)):
        answer = await stranger.request(method, f"{PATH}/{made['id']}", json=body)
        assert (answer.status, answer.code) == (404, "api_key_not_found")


async def test_the_key_is_sealed_where_it_is_stored(admin, people) -> None:
    made = await add_key(admin, api_key=KEY)
    async with people.context(admin.user.tenant_id) as ctx:
        record = await ctx.db.get(ProviderKey, made["id"])
        assert record.api_key.text(ctx.instance.ring) == KEY
        assert KEY not in repr(record)


async def test_a_key_that_something_depends_on_is_deleted_only_by_force(make_service) -> None:
    detached: list[str] = []

    async def find(ctx: Context, key_id: str) -> list[Referrer]:
        return [Referrer("agt_1", "Support")] if key_id not in detached else []

    async def detach(ctx: Context, key_id: str) -> None:
        detached.append(key_id)

    dependent = Manifest(
        name="dependent",
        references=(Reference(to="provider_key", kind="agents", find=find, detach=detach),),
    )
    admin = await People(await make_service(manifests=(*DOMAINS, dependent))).super_admin()
    made = await add_key(admin)
    answer = await admin.delete(f"{PATH}/{made['id']}")
    assert (answer.status, answer.code) == (409, "api_key_in_use")
    assert answer.details == {"agents": [{"id": "agt_1", "name": "Support"}]}
    assert (await admin.delete(f"{PATH}/{made['id']}?force=nonsense")).status == 422
    assert (await admin.delete(f"{PATH}/{made['id']}?force=true")).status == 204
    assert detached == [made["id"]]
