"""Credentials through HTTP: made, listed, read, changed and deleted, and never shown."""

import pytest

from retinue.access.models import Role
from retinue.credentials.kinds import KINDS
from retinue.credentials.models import AccessRule
from tests.factories.credentials import CANARY, PATH, SECRETS, body_of, create, get, grant, reveal, trail
from tests.factories.happenings import only_event

LISTED = {
    "id",
    "name",
    "type",
    "description",
    "is_valid",
    "last_tested_at",
    "last_used_at",
    "created_at",
    "updated_at",
    # What the console lists besides.
    "destinations",
    "expires_at",
}
MORE = {
    "metadata",
    "secret_keys",
    "masked",
    "version",
    "rotated_at",
    "created_by",
}


@pytest.mark.parametrize("type", SECRETS)
async def test_a_credential_of_each_type_is_kept_and_not_shown(owner, type) -> None:
    made = await create(owner, type, description="for the shop", metadata={"team": "sales"})
    assert set(made) == LISTED | MORE
    assert made == await get(owner, made["id"])
    assert made["id"].startswith("cred_")
    assert (made["type"], made["description"], made["metadata"]) == (type, "for the shop", {"team": "sales"})
    assert (made["is_valid"], made["version"], made["created_by"]) == (True, 1, owner.user.id)
    assert [made[name] for name in ("last_tested_at", "last_used_at", "rotated_at", "expires_at")] == [
        None
    ] * 4
    assert made["secret_keys"] == sorted(SECRETS[type])
    assert set(made["masked"]) == set(SECRETS[type])
    assert await reveal(owner, made["id"]) == SECRETS[type]


async def test_of_a_long_secret_the_last_four_characters_are_shown(owner) -> None:
    made = await create(
        owner, "custom", secrets={"long": "0123456789abcdef", "short": "0123456789abcde", "n": 7}
    )
    assert made["masked"] == {"long": "••••cdef", "short": "••••", "n": "••••"}


async def test_a_list_has_the_fields_of_the_specification_and_two_more(owner) -> None:
    await create(owner)
    answer = await owner.get(PATH)
    (listed,) = answer.json()["data"]
    assert set(listed) == LISTED
    assert answer.json()["pagination"] == {"page": 1, "per_page": 20, "total": 1, "total_pages": 1}


async def test_a_list_is_filtered_searched_sorted_and_paged(owner) -> None:
    for name, type in [("Shop key", "api_key"), ("CRM login", "basic_auth"), ("crm key", "api_key")]:
        await create(owner, type, name=name)

    async def names(**query: object) -> list[str]:
        answer = await owner.get(PATH, query=query)
        assert answer.status == 200, answer
        return [listed["name"] for listed in answer.json()["data"]]

    assert await names() == ["crm key", "CRM login", "Shop key"]
    assert await names(type="api_key") == ["crm key", "Shop key"]
    assert await names(search="crm") == ["crm key", "CRM login"]
    assert await names(sort="name") == ["CRM login", "Shop key", "crm key"]
    assert await names(sort="created_at", page=2, per_page=2) == ["crm key"]
    assert await names(search="100%") == []
    answer = await owner.get(PATH, query={"per_page": 1000})
    assert answer.json()["pagination"]["per_page"] == 100


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"sort": "secrets"}, "sort"),
        ({"type": "password"}, "type"),
        ({"page": 0}, "page"),
        ({"per_page": "x"}, "per_page"),
    ],
)
async def test_a_list_refuses_what_it_does_not_know(owner, query, field) -> None:
    answer = await owner.get(PATH, query=query)
    assert (answer.status, list(answer.details)) == (422, [field])


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "  "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": 7}, "name"),
        ({"type": "password"}, "type"),
        ({"description": "x" * 1001}, "description"),
        ({"secrets": f"sk-{CANARY}"}, "secrets"),
        ({"secrets": {}}, "secrets.api_key"),
        ({"secrets": {"api_key": None}}, "secrets.api_key"),
        ({"type": "custom", "secrets": {}}, "secrets"),
        ({"type": "custom", "secrets": {"x": None}}, "secrets"),
        ({"secrets": {"other": f"{CANARY}-1"}}, "secrets.api_key"),
        ({"secrets": {"api_key": ""}}, "secrets.api_key"),
        ({"secrets": {"api_key": [CANARY]}}, "secrets.api_key"),
        ({"secrets": {"api_key": "x", "more": "x" * 70_000}}, "secrets"),
        ({"secrets": {"api_key": "x", **{f"k{n}": 1 for n in range(50)}}}, "secrets"),
        ({"secrets": {"api_key": "x", "deep": [[[[[[[[1]]]]]]]]}}, "secrets"),
        ({"metadata": []}, "metadata"),
        ({"metadata": {"x": "x" * 20_000}}, "metadata"),
        ({"metadata": {"deep": [[[[[[[[1]]]]]]]]}}, "metadata"),
        ({"metadata": {"test_url": 7}}, "metadata.test_url"),
        ({"metadata": {"test_url": "ftp://example.com"}}, "metadata.test_url"),
        ({"metadata": {"test_url": "http://example.com/"}}, "metadata.test_url"),
        ({"metadata": {"test_url": "https://169.254.169.254/"}}, "metadata.test_url"),
        ({"metadata": {"header_name": "Host"}}, "metadata.header_name"),
        ({"metadata": {"header_name": "X: Y"}}, "metadata.header_name"),
        ({"metadata": {"allowed_hosts": "example.com"}}, "metadata.allowed_hosts"),
        ({"metadata": {"allowed_hosts": ["example.com", "no host"]}}, "metadata.allowed_hosts.1"),
        ({"metadata": {"db_type": "oracle"}}, "metadata.db_type"),
        ({"metadata": {"db_type": "sqlite"}}, "metadata.db_type"),
        ({"expires_at": "tomorrow"}, "expires_at"),
        ({"expires_at": ""}, "expires_at"),
        ({"expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
        ({"expires_at": "0001-01-01T00:00:00+23:59"}, "expires_at"),
    ],
)
async def test_what_cannot_be_kept_is_refused_by_its_field(owner, change, field) -> None:
    answer = await owner.post(PATH, body_of() | change)
    assert (answer.status, answer.code, list(answer.details)) == (422, "validation_error", [field])
    assert (await owner.get(PATH)).json()["pagination"]["total"] == 0


@pytest.mark.parametrize(
    ("type", "secrets", "missing"),
    [
        ("basic_auth", {"username": "ada"}, ["secrets.password"]),
        ("basic_auth", {"x": 1}, ["secrets.username", "secrets.password"]),
        ("bearer_token", {"x": 1}, ["secrets.token"]),
        ("database", {"password": "x"}, ["secrets.host"]),
        ("database", {"host": "h", "port": "5432"}, ["secrets.port"]),
        ("database", {"host": "h", "port": 70_000}, ["secrets.port"]),
        ("database", {"host": "h", "port": True}, ["secrets.port"]),
        ("database", {"host": "h", "ssl_mode": "maybe"}, ["secrets.ssl_mode"]),
        ("ssh", {"host": "h"}, ["secrets.username"]),
        ("smtp", {"username": "x"}, ["secrets.host"]),
        ("smtp", {"host": "h", "encryption": "rot13"}, ["secrets.encryption"]),
        ("oauth2", {"client_secret": "x"}, ["secrets.client_id"]),
        ("oauth2", {"client_id": "x", "scopes": "read"}, ["secrets.scopes"]),
    ],
)
async def test_each_type_says_what_it_lacks(owner, type, secrets, missing) -> None:
    answer = await owner.post(PATH, body_of(type, secrets=secrets))
    assert (answer.status, list(answer.details)) == (422, missing)


@pytest.mark.parametrize("type", [name for name in SECRETS if name != "custom"])
async def test_each_type_takes_the_least_and_keeps_what_it_does_not_know(owner, type) -> None:
    kind = KINDS[type]
    least = {name: SECRETS[type][name] for name, key in kind.keys.items() if key.required}
    least = least or {kind.any_of[0]: "x"}
    made = await create(owner, type, secrets={**least, "more": {"of": ["it"]}})
    assert await reveal(owner, made["id"]) == {**least, "more": {"of": ["it"]}}


@pytest.mark.parametrize("field", ["name", "description", "metadata"])
async def test_a_secret_beside_the_secrets_is_refused(owner, field) -> None:
    """It would be shown to everyone who may see the credential."""
    secret = "hunter2-hunter2"
    shown = {"note": [f"key: {secret}"]} if field == "metadata" else f"key: {secret}"
    answer = await owner.post(PATH, body_of(secrets={"api_key": secret}) | {field: shown})
    assert (answer.status, list(answer.details)) == (422, [field])
    assert secret not in answer.body.decode()
    made = await create(owner, secrets={"api_key": secret})
    answer = await owner.put(f"{PATH}/{made['id']}", {field: shown})
    assert (answer.status, list(answer.details)) == (422, [field])
    made = await create(owner, "custom", **{"secrets": {"pin": "12345678"}, field: shown})
    answer = await owner.put(f"{PATH}/{made['id']}/secrets", {"secrets": {"key": secret}})
    assert (answer.status, list(answer.details)) == (422, [field])


async def test_everything_beside_the_secrets_can_be_changed(owner, people, clock) -> None:
    made = await create(owner, metadata={"old": 1})
    clock.advance(60)
    expires_at = clock.ahead(86_400)
    body = {
        "name": "New",
        "description": "text",
        "metadata": {"new": 2},
        "expires_at": expires_at,
        "type": "api_key",
    }
    answer = await owner.put(f"{PATH}/{made['id']}", {**body, "is_valid": False, "version": 9, "masked": {}})
    changed = answer.json()["data"]
    assert answer.status == 200
    assert changed == {**made, **body, "updated_at": changed["updated_at"]}
    assert changed["updated_at"] > made["updated_at"]
    event = await only_event(people, "system.credential.updated")
    assert sorted(event["changed"]) == ["description", "expires_at", "metadata", "name"]


async def test_an_update_that_changes_nothing_is_not_told(owner, people) -> None:
    made = await create(owner)
    for body in ({}, {"name": made["name"], "description": None, "metadata": None, "expires_at": None}):
        assert (await owner.put(f"{PATH}/{made['id']}", body)).json()["data"] == made
    assert [record["action"] for record in await trail(owner, made["id"])] == ["created"]


async def test_the_type_of_a_credential_stays(owner) -> None:
    made = await create(owner)
    answer = await owner.put(f"{PATH}/{made['id']}", {"type": "bearer_token"})
    assert (answer.status, list(answer.details)) == (422, ["type"])


async def test_an_expired_credential_can_be_described_and_given_more_time(owner, clock) -> None:
    made = await create(owner, expires_at=clock.ahead(60))
    clock.advance(61)
    assert (await get(owner, made["id"]))["is_valid"] is False
    (listed,) = (await owner.get(PATH)).json()["data"]
    assert listed["is_valid"] is False
    answer = await owner.put(f"{PATH}/{made['id']}", {"description": "x", "expires_at": made["expires_at"]})
    assert (answer.status, answer.json()["data"]["is_valid"]) == (200, False)
    answer = await owner.put(f"{PATH}/{made['id']}", {"expires_at": clock.ahead(60)})
    assert (answer.status, answer.json()["data"]["is_valid"]) == (200, True)


async def test_a_deleted_credential_is_gone_with_its_rules_and_stays_in_the_audit(owner, people) -> None:
    made = await create(owner)
    assert (await grant(owner, made["id"], "tool", "tool_1")).status == 201
    answer = await owner.delete(f"{PATH}/{made['id']}")
    assert (answer.status, answer.body) == (204, b"")
    for method in ("GET", "DELETE"):
        again = await owner.request(method, f"{PATH}/{made['id']}")
        assert (again.status, again.code) == (404, "credential_not_found")
    async with people.context(owner.user.tenant_id) as ctx:
        assert await ctx.db.count(AccessRule) == 0
    records = await trail(owner, credential_id=made["id"])
    assert [record["action"] for record in records] == ["created", "access_granted", "deleted"]
    assert {record["credential_name"] for record in records} == {made["name"]}


async def test_nothing_depends_on_a_new_credential(owner) -> None:
    made = await create(owner)
    answer = await owner.get(f"{PATH}/{made['id']}/usage")
    usage = answer.json()["data"]
    assert {"tools": [], "channels": [], "api_keys": []}.items() <= usage.items()
    assert not any(usage.values())


async def test_the_types_say_what_each_takes(owner) -> None:
    types = {each["type"]: each for each in (await owner.get(f"{PATH}/types")).json()["data"]}
    assert set(types) == set(SECRETS)
    for name, type in types.items():
        assert set(type) == {"type", "name", "description", "testable", "secret_schema"}
        assert type["testable"] is (name != "custom")
        for key in type["secret_schema"].values():
            assert {"type", "required", "secret", "description"} <= set(key)
    assert types["ssh"]["secret_schema"]["port"] == {
        "type": "integer",
        "required": False,
        "secret": False,
        "description": "Port of the server",
        "default": 22,
        "choices": [],
    }
    assert list(types["oauth2"]["secret_schema"]) == list(SECRETS["oauth2"])


async def test_who_may_do_what(owner, developer, people, tenant) -> None:
    made = await create(owner)
    path = f"{PATH}/{made['id']}"
    body = {"integration_type": "tool", "integration_id": "tool_1"}
    calls = [
        ("GET", PATH, None, 200),
        ("GET", f"{PATH}/types", None, 200),
        ("GET", path, None, 200),
        ("GET", f"{path}/usage", None, 200),
        ("GET", f"{path}/audit", None, 200),
        ("GET", f"{path}/access", None, 200),
        ("POST", f"{path}/access", body, 201),
        ("POST", f"{path}/test", None, 200),
        ("PUT", path, {"name": "Mine"}, 200),
        ("PUT", f"{path}/secrets", {"secrets": {"api_key": f"{CANARY}-another"}}, 200),
        ("GET", f"{path}/reveal", None, 403),
        ("GET", f"{PATH}/audit", None, 403),
        ("DELETE", path, None, 204),
    ]
    for role in (Role.agent_user, Role.viewer):
        outsider = await people.signed_in(role, tenant)
        for method, where, given, _ in [*calls, ("POST", PATH, body_of(), 201)]:
            answer = await outsider.request(method, where, json=given)
            assert (answer.status, answer.code) == (403, "forbidden"), (method, where)
    for method, where, given, status in calls:
        answer = await developer.request(method, where, json=given)
        assert answer.status == status, (method, where, answer)


async def test_another_tenants_credential_is_not_there(owner, people) -> None:
    made = await create(owner)
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    assert (await stranger.get(PATH)).json()["data"] == []
    assert (await stranger.get(f"{PATH}/{made['id']}/reveal")).code == "credential_not_found"
    assert (await stranger.get(f"{PATH}/audit", query={"credential_id": made["id"]})).json()["data"] == []


async def test_a_repeated_creation_makes_one_credential(owner) -> None:
    headers = {"Idempotency-Key": "once"}
    first, again = [await owner.post(PATH, body_of(), headers=headers) for _ in range(2)]
    assert (first.status, again.status) == (201, 201)
    assert first.json() == again.json()
    assert again.headers["idempotent-replayed"] == "true"
    assert (await owner.get(PATH)).json()["pagination"]["total"] == 1
    other = await owner.post(PATH, body_of("custom"), headers=headers)
    assert (other.status, other.code) == (422, "idempotency_key_reused")
