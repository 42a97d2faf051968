"""Replacing secrets: by key, all at once, in parallel, and never moving what the caller does not know."""

import asyncio

import pytest

from tests.factories.credentials import CANARY, PATH, SECRETS, create, get, grant, reveal, trail
from tests.factories.happenings import only_event

ELSEWHERE = "db.attacker.example"


async def put_secrets(person, id, secrets, **more):
    return await person.put(f"{PATH}/{id}/secrets", {"secrets": secrets, **more})


async def test_given_keys_replace_and_null_removes(owner, people, clock) -> None:
    made = await create(owner, "ssh")
    clock.advance(5)
    answer = await put_secrets(
        owner, made["id"], {"password": f"{CANARY}-new", "private_key": None, "gone": None}
    )
    assert answer.status == 200
    changed = answer.json()["data"]
    assert changed["secret_keys"] == ["host", "password", "username"]
    assert (changed["version"], changed["is_valid"], changed["last_tested_at"]) == (2, True, None)
    assert changed["rotated_at"] > made["updated_at"]
    kept = {"host": "ssh.example.com", "username": "deploy", "password": f"{CANARY}-new"}
    assert await reveal(owner, made["id"]) == kept
    event = await only_event(people, "system.credential.secrets_updated")
    assert (event["changed"], event["version"]) == (["password", "private_key"], 2)


async def test_without_merge_the_secrets_are_replaced(owner) -> None:
    made = await create(owner, "custom")
    answer = await put_secrets(owner, made["id"], {"only": f"{CANARY}-3"}, merge=False)
    assert answer.json()["data"]["secret_keys"] == ["only"]
    assert await reveal(owner, made["id"]) == {"only": f"{CANARY}-3"}
    assert (await trail(owner, made["id"]))[1]["metadata"]["changed"] == ["anything", "nested", "only"]


async def test_secrets_can_be_sent_with_the_rest(owner) -> None:
    made = await create(owner, "basic_auth")
    body = {"name": "Renamed", "secrets": {"password": f"{CANARY}-other"}}
    changed = (await owner.put(f"{PATH}/{made['id']}", body)).json()["data"]
    assert (changed["name"], changed["version"]) == ("Renamed", 2)
    assert await reveal(owner, made["id"]) == {"username": "ada", "password": f"{CANARY}-other"}
    told = [record["action"] for record in await trail(owner, made["id"])]
    assert told == ["created", "secrets_updated", "updated", "revealed"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "secrets"),
        ({"secrets": None}, "secrets"),
        ({"secrets": {"api_key": None}}, "secrets.api_key"),
        ({"secrets": {"x": 1}, "merge": False}, "secrets.api_key"),
        ({"secrets": {"api_key": 7}}, "secrets.api_key"),
        ({"secrets": {"x": "x" * 70_000}}, "secrets"),
        ({"secrets": {"x": ["many"] * 101}}, "secrets"),
        ({"secrets": {"api_key": "x"}, "merge": "yes"}, "merge"),
    ],
)
async def test_secrets_that_would_not_do_are_refused(owner, body, field) -> None:
    made = await create(owner)
    answer = await owner.put(f"{PATH}/{made['id']}/secrets", body)
    assert (answer.status, list(answer.details)) == (422, [field])
    assert await get(owner, made["id"]) == made


async def test_what_several_people_change_at_once_is_all_kept(owner, developer) -> None:
    made = await create(owner, "custom", secrets={"start": f"{CANARY}-0"})
    changes = [{f"key{number}": f"{CANARY}-{number}"} for number in range(10)]
    answers = await asyncio.gather(
        *(
            put_secrets((owner, developer)[number % 2], made["id"], change)
            for number, change in enumerate(changes)
        )
    )
    assert [answer.status for answer in answers] == [200] * 10
    expected = {"start": f"{CANARY}-0"}
    for change in changes:
        expected |= change
    assert await reveal(owner, made["id"]) == expected
    assert (await get(owner, made["id"]))["version"] == 11


@pytest.mark.parametrize(
    ("type", "moved"),
    [
        ("database", {"host": ELSEWHERE}),
        ("database", {"port": 5433}),
        ("ssh", {"host": ELSEWHERE}),
        ("ssh", {"port": 2222}),
        ("smtp", {"host": ELSEWHERE}),
        ("database", {"ssl_mode": "disable"}),
        ("ssh", {"host_key_fingerprint": "SHA256:another"}),
        ("smtp", {"encryption": "none"}),
        ("oauth2", {"token_url": f"https://{ELSEWHERE}/token"}),
        ("oauth2", {"token_url": None}),
    ],
)
async def test_who_may_not_read_a_secret_cannot_have_it_sent_elsewhere(owner, developer, type, moved) -> None:
    made = await create(owner, type)
    for answer in (
        await put_secrets(developer, made["id"], moved),
        await developer.put(f"{PATH}/{made['id']}", {"secrets": moved}),
    ):
        assert (answer.status, answer.code) == (409, "destination_changed")
    assert await get(owner, made["id"]) == made
    assert (await put_secrets(owner, made["id"], moved)).status == 200


@pytest.mark.parametrize("type", ["database", "ssh", "smtp", "oauth2"])
async def test_who_enters_every_secret_again_may_choose_where_they_go(owner, developer, type) -> None:
    made = await create(owner, type)
    hidden = {name: value for name, value in SECRETS[type].items() if CANARY in str(value)}
    moved = {"token_url": f"https://{ELSEWHERE}/"} if type == "oauth2" else {"host": ELSEWHERE}
    if len(hidden) > 1:
        some = dict(list(hidden.items())[1:])
        assert (await put_secrets(developer, made["id"], {**some, **moved})).code == "destination_changed"
    assert (await put_secrets(developer, made["id"], {**hidden, **moved})).status == 200
    # From here on the developer is who knows them.
    back = {"token_url": "https://a.example/"} if type == "oauth2" else {"host": "a.example"}
    assert (await put_secrets(developer, made["id"], back)).status == 200


async def test_who_made_a_credential_does_not_know_what_another_entered(owner, developer) -> None:
    made = await create(developer, "database")
    assert (await put_secrets(developer, made["id"], {"host": "a.example"})).status == 200
    assert (await put_secrets(owner, made["id"], {"password": f"{CANARY}-production"})).status == 200
    answer = await put_secrets(developer, made["id"], {"host": ELSEWHERE})
    assert (answer.status, answer.code) == (409, "destination_changed")


async def test_who_changed_a_part_does_not_know_the_rest(owner, developer) -> None:
    made = await create(owner, "ssh")
    assert (await put_secrets(developer, made["id"], {"passphrase": f"{CANARY}-phrase"})).status == 200
    assert (await put_secrets(developer, made["id"], {"host": ELSEWHERE})).code == "destination_changed"


async def test_who_may_reveal_by_a_rule_may_move_the_secret(owner, developer) -> None:
    made = await create(owner, "database")
    granted = await grant(owner, made["id"], "user", developer.user.id, permission="reveal")
    assert granted.status == 201
    assert (await put_secrets(developer, made["id"], {"host": "other.example"})).status == 200


async def test_destinations_follow_the_secrets_and_what_stands_beside_them(owner, developer) -> None:
    beside = {
        "test_url": "https://API.example.com:443/me",
        "allowed_hosts": ["a.example", "http://127.0.0.1:8000/x"],
    }
    made = await create(owner, metadata=beside)
    known = ["https://api.example.com", "https://a.example", "http://127.0.0.1:8000"]
    assert made["destinations"] == known
    path = f"{PATH}/{made['id']}"
    # Someone who does not know the secret changes the metadata, and opens no way for it.
    changed = await developer.put(path, {"metadata": {"test_url": f"https://{ELSEWHERE}/"}})
    assert changed.json()["data"]["destinations"] == known
    changed = await developer.put(path, {"metadata": {}})
    assert changed.json()["data"]["destinations"] == known
    changed = await developer.put(path, {"metadata": beside})
    changed = await owner.put(path, {"metadata": {"test_url": "https://b.example/"}})
    assert changed.json()["data"]["destinations"] == ["https://b.example"]
    changed = await developer.put(path, {"metadata": {"test_url": "https://c.example/"}})
    assert changed.json()["data"]["destinations"] == ["https://b.example"]
    # Nor does it open one that someone enters a new secret without having looked there.
    changed = await put_secrets(owner, made["id"], {"api_key": f"{CANARY}-rotated"})
    assert changed.json()["data"]["destinations"] == ["https://b.example"]
    # With a secret of one's own it is one's own choice.
    mine = {"secrets": {"api_key": f"{CANARY}-mine-123"}, "metadata": {"test_url": "https://c.example/"}}
    changed = await developer.put(path, mine)
    assert changed.json()["data"]["destinations"] == ["https://c.example", "https://b.example"]


@pytest.mark.parametrize(
    ("type", "beside", "destinations"),
    [
        ("database", {}, ["postgresql://db.example.com:5432", "mysql://db.example.com:5432"]),
        ("database", {"db_type": "postgres"}, ["postgresql://db.example.com:5432"]),
        ("database", {"db_type": "MariaDB"}, ["mysql://db.example.com:5432"]),
        ("ssh", {}, ["ssh://ssh.example.com:22"]),
        ("smtp", {}, ["smtp://mail.example.com:587"]),
        ("oauth2", {}, []),
        ("api_key", {}, []),
        ("custom", {}, []),
    ],
)
async def test_secrets_that_name_a_server_are_for_that_server(owner, type, beside, destinations) -> None:
    assert (await create(owner, type, metadata=beside))["destinations"] == destinations
