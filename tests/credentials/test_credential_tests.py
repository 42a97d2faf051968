"""A test of a credential really asks its counterpart, tells what came of it, and shows no secret."""

import asyncio
import base64
import socket

import pytest

from retinue.credentials import connection_test
from tests.credentials.token_server import token_server
from tests.factories.credentials import (
    CANARY,
    PATH,
    SECRETS,
    create,
    get,
    grant,
    reveal,
    run_failing_test,
    run_test,
    trail,
)
from tests.factories.people import People
from tests.kit.egress_listener import listening, reply

pytestmark = pytest.mark.either_database


@pytest.fixture
async def api_server():
    """Knows one key, however it is sent, and answers any other with what it got."""
    good = (
        f"X-API-Key: {SECRETS['api_key']['api_key']}",
        f"X-Shop-Key: {SECRETS['api_key']['api_key']}",
        f"Authorization: Bearer {SECRETS['bearer_token']['token']}",
        f"Authorization: Bearer {SECRETS['oauth2']['access_token']}",
        "Authorization: Basic "
        + base64.b64encode(f"ada:{SECRETS['basic_auth']['password']}".encode()).decode(),
    )

    async def answer(writer) -> None:
        head = listener.heads[-1]
        is_known = any(f"{line}\r\n" in head for line in good)
        writer.write(reply(head.encode(), 200 if is_known else 401, Connection="close"))
        await writer.drain()

    async with listening(answer) as listener:
        yield listener


@pytest.mark.parametrize("type", ["api_key", "bearer_token", "basic_auth", "oauth2"])
async def test_a_key_is_shown_to_the_test_url(owner, api_server, type) -> None:
    secrets = SECRETS[type] if type != "oauth2" else {"access_token": SECRETS["oauth2"]["access_token"]}
    made = await create(owner, type, secrets=secrets, metadata={"test_url": f"{api_server.url}/me?x=1"})
    result = await run_test(owner, made)
    assert (result["success"], result["checked"]) == (True, "connection")
    assert result["latency_ms"] >= 0
    assert api_server.heads[0].startswith("GET /me?x=1 HTTP/1.1\r\n")
    shown = await get(owner, made["id"])
    assert (shown["is_valid"], shown["last_tested_at"]) == (True, result["tested_at"])
    record = (await trail(owner, made["id"]))[-1]
    assert (record["action"], record["success"], record["reason"]) == ("tested", True, None)


async def test_the_header_of_a_key_can_be_named(owner, api_server) -> None:
    metadata = {"test_url": api_server.url, "header_name": "X-Shop-Key"}
    assert (await run_test(owner, await create(owner, metadata=metadata)))["success"] is True
    assert "X-API-Key" not in api_server.heads[0]


@pytest.mark.parametrize("type", ["api_key", "bearer_token", "basic_auth"])
async def test_a_refused_key_makes_the_credential_invalid_until_others_are_entered(
    owner, api_server, type
) -> None:
    wrong = dict.fromkeys(SECRETS[type], f"{CANARY}-wrong")
    made = await create(owner, type, secrets=wrong, metadata={"test_url": api_server.url})
    assert await run_failing_test(owner, made) == ("connection", "auth_error")
    assert (await get(owner, made["id"]))["is_valid"] is False
    record = (await trail(owner, made["id"]))[-1]
    assert (record["action"], record["success"], record["reason"]) == ("tested", False, "auth_error")
    await owner.put(f"{PATH}/{made['id']}/secrets", {"secrets": SECRETS[type]})
    shown = await get(owner, made["id"])
    assert (shown["is_valid"], shown["last_tested_at"]) == (True, None)
    assert (await run_test(owner, made))["success"] is True


async def test_a_key_that_no_header_can_carry_is_not_sent(owner, api_server) -> None:
    secrets = {"api_key": f"{CANARY}\r\nHost: attacker.example"}
    made = await create(owner, secrets=secrets, metadata={"test_url": api_server.url})
    assert await run_failing_test(owner, made) == ("connection", "auth_error")
    assert api_server.connections == 0


@pytest.mark.parametrize("status", [204, 302, 403, 404, 500])
async def test_only_a_good_answer_is_a_success(owner, status) -> None:
    async with listening(reply(b"", status, Location=f"https://elsewhere.example/?{CANARY}")) as server:
        made = await create(owner, metadata={"test_url": server.url})
        result = await run_test(owner, made)
    expected = {204: None, 403: "auth_error"}.get(status, "http_error")
    assert (result["error"] or {}).get("code") == expected


async def test_a_server_that_is_not_there_or_says_nothing_is_told_apart(owner, monkeypatch) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        gone = await create(owner, metadata={"test_url": f"http://127.0.0.1:{silent.getsockname()[1]}"})
        assert await run_failing_test(owner, gone) == ("connection", "network_error")
        silent.listen()
        monkeypatch.setattr(connection_test, "_ATTEMPT_TIMEOUT_SECONDS", 0.1)
        assert await run_failing_test(owner, gone) == ("connection", "timeout")
        monkeypatch.setattr(connection_test, "_ATTEMPT_TIMEOUT_SECONDS", 5)
        monkeypatch.setattr(connection_test, "_MAX_TEST_SECONDS", 0.1)
        assert await run_failing_test(owner, gone) == ("connection", "timeout")


@pytest.mark.parametrize("type", ["api_key", "bearer_token", "basic_auth", "custom"])
async def test_without_a_counterpart_only_the_form_is_known(owner, type) -> None:
    made = await create(owner, type)
    result = await run_test(owner, made)
    assert (result["success"], result["checked"]) == (True, "format")
    assert (await get(owner, made["id"]))["last_tested_at"] == result["tested_at"]


async def test_a_secret_is_not_sent_where_someone_else_moved_the_test(owner, developer, api_server) -> None:
    made = await create(owner)
    async with listening(reply(b"thank you")) as attacker:
        moved = await developer.put(f"{PATH}/{made['id']}", {"metadata": {"test_url": attacker.url}})
        assert moved.status == 200
        for person in (developer, owner):
            assert await run_failing_test(person, made) == ("connection", "destination_changed")
        assert attacker.connections == 0
    record = (await trail(owner, made["id"]))[-1]
    assert (record["action"], record["reason"]) == ("tested", "destination_changed")
    await owner.put(f"{PATH}/{made['id']}", {"metadata": {}})
    await owner.put(f"{PATH}/{made['id']}", {"metadata": {"test_url": api_server.url}})
    assert (await run_test(developer, made))["success"] is True


async def test_a_test_goes_nowhere_that_outgoing_calls_may_not_go(make_service) -> None:
    people = People(await make_service(egress_allow=("api.example.com",)))
    owner = await people.super_admin()
    async with listening(reply()) as canary:
        for secrets in (
            {"host": "127.0.0.1", "port": canary.port, "username": "x"},
            {"host": "localhost", "port": canary.port, "username": "x"},
            {"host": "169.254.169.254", "port": 80, "username": "x"},
        ):
            made = await create(owner, "database", secrets=secrets)
            assert await run_failing_test(owner, made) == ("connection", "ssrf_blocked")
        secrets = {"client_id": "x", "client_secret": f"{CANARY}-1", "token_url": canary.url}
        made = await create(owner, "oauth2", secrets=secrets)
        assert await run_failing_test(owner, made) == ("token", "ssrf_blocked")
    assert canary.connections == 0


async def test_an_expired_credential_fails_its_test(owner, api_server, clock) -> None:
    made = await create(owner, metadata={"test_url": api_server.url}, expires_at=clock.ahead(60))
    clock.advance(61)
    result = await run_test(owner, made)
    assert (result["error"]["code"], api_server.connections) == ("auth_error", 0)
    assert "expired" in result["message"]


async def test_a_token_is_renewed_and_kept(owner) -> None:
    async with token_server() as server:
        made = await create(owner, "oauth2", secrets=server.secrets())
        for number in (1, 2):
            result = await run_test(owner, made)
            assert (result["success"], result["checked"], server.calls) == (True, "token", number)
            kept = await reveal(owner, made["id"])
            assert kept["access_token"] == f"{CANARY}-access-{number}"
            assert kept["refresh_token"] == server.refresh_token


async def test_a_token_that_is_refused_is_explained_without_showing_it(owner) -> None:
    async with token_server() as server:
        made = await create(owner, "oauth2", secrets=server.secrets())
        server.refuse("invalid_grant", description=f"{server.refresh_token} is unknown")
        result = await run_test(owner, made)
        assert (result["checked"], result["error"]["code"]) == ("token", "invalid_grant")
        assert "*** is unknown" in result["message"]
        # The next test asks again, however short ago this was.
        assert (await run_test(owner, made))["success"] is True


async def test_what_is_found_out_about_old_secrets_says_nothing_about_new_ones(owner) -> None:
    asked, answered = asyncio.Event(), asyncio.Event()

    async def answer(writer) -> None:
        asked.set()
        await answered.wait()
        writer.write(reply(b"", 401, Connection="close"))
        await writer.drain()

    async with listening(answer) as server:
        made = await create(owner, metadata={"test_url": server.url})
        running = asyncio.create_task(run_test(owner, made))
        await asked.wait()
        await owner.put(f"{PATH}/{made['id']}/secrets", {"secrets": {"api_key": f"{CANARY}-new"}})
        answered.set()
        assert (await running)["success"] is False
    shown = await get(owner, made["id"])
    assert (shown["is_valid"], shown["last_tested_at"]) == (True, None)


async def test_access_rules_are_for_integrations_and_do_not_forbid_a_test(owner, api_server) -> None:
    made = await create(owner, metadata={"test_url": api_server.url})
    await grant(owner, made["id"], "tool", "tool_1")
    assert (await run_test(owner, made))["success"] is True


async def test_a_repeated_test_is_one_test(owner, api_server) -> None:
    made = await create(owner, metadata={"test_url": api_server.url})
    headers = {"Idempotency-Key": "once"}
    first, again = [await owner.post(f"{PATH}/{made['id']}/test", headers=headers) for _ in range(2)]
    assert first.json() == again.json()
    assert api_server.connections == 1


async def test_other_secrets_are_tried_and_not_stored(owner, api_server) -> None:
    wrong = dict.fromkeys(SECRETS["api_key"], f"{CANARY}-wrong")
    made = await create(owner, "api_key", secrets=wrong, metadata={"test_url": f"{api_server.url}/me"})
    path = f"/v1/credentials/{made['id']}/test"
    tried = (await owner.post(path, {"secrets": SECRETS["api_key"]})).json()["data"]
    assert (tried["success"], tried["checked"]) == (True, "connection")
    shown = await get(owner, made["id"])
    assert (shown["last_tested_at"], shown["version"]) == (None, made["version"])
    record = (await trail(owner, made["id"]))[-1]
    assert (record["action"], record["success"]) == ("tested", True)
    assert (await run_test(owner, made))["success"] is False
    still = (await owner.post(path, {"secrets": wrong})).json()["data"]
    assert (still["success"], still["error"]["code"]) == (False, "auth_error")
    assert (await owner.post(path, {"secrets": {"nonsense": 1}})).status == 422


async def test_tried_secrets_go_nowhere_else(owner) -> None:
    made = await create(owner, "database", secrets=SECRETS["database"])
    elsewhere = {**SECRETS["database"], "host": "elsewhere.example"}
    refused = await owner.post(f"/v1/credentials/{made['id']}/test", {"secrets": elsewhere})
    assert (refused.status, refused.code) == (409, "destination_changed")
