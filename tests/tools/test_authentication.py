"""Tests of a tool's authentication: each `auth_type`, credentials of the vault, and refusals."""

import asyncio
import base64
import json

import pytest

from tests.tools.authentication import KEY, basic, hook, run_and_capture
from tests.tools.servers.rest_api import CLIENT_ID, CLIENT_SECRET, scripted_config

pytestmark = pytest.mark.either_database


@pytest.mark.parametrize(
    ("auth_type", "auth_config", "headers", "target"),
    [
        ("none", None, {}, "/hook"),
        ("api_key", {"api_key_value": KEY}, {"x-api-key": KEY}, "/hook"),
        ("api_key", {"api_key": KEY}, {"x-api-key": KEY}, "/hook"),
        ("api_key", {"api_key_value": KEY, "api_key_header": "X-My-Key"}, {"x-my-key": KEY}, "/hook"),
        (
            "api_key",
            {"api_key_value": KEY, "api_key_header": "key", "api_key_location": "query"},
            {},
            f"/hook?key={KEY}",
        ),
        ("bearer", {"token": KEY}, {"authorization": f"Bearer {KEY}"}, "/hook"),
        (
            "basic",
            {"username": "ada", "password": "p:ä4711"},
            {"authorization": basic("ada", "p:ä4711")},
            "/hook",
        ),
        ("basic", {"username": "ada"}, {"authorization": basic("ada", "")}, "/hook"),
        (
            "custom",
            {"headers": {"X-My-Key": KEY, "Authorization": f"Token {KEY}"}, "query": {"t": "a b&c"}},
            {"x-my-key": KEY, "authorization": f"Token {KEY}"},
            "/hook?t=a+b%26c",
        ),
    ],
)
async def test_each_way_of_being_let_in(tools, remote, auth_type, auth_config, headers, target):
    assert await run_and_capture(tools, remote, auth_type, auth_config) == (headers, target)


@pytest.mark.parametrize(
    ("auth_type", "auth_config", "code", "names"),
    [
        ("api_key", {"api_key_header": "X-Key"}, "not_configured", "api_key_value"),
        ("api_key", None, "not_configured", "api_key_value"),
        ("bearer", {"api_key": KEY}, "not_configured", "token"),
        ("basic", {"password": KEY}, "not_configured", "username"),
        ("oauth2", {"client_id": "x", "client_secret": KEY}, "not_configured", "token_url"),
        ("custom", {"other": KEY}, "not_configured", "headers"),
        ("bearer", {"token": "a\r\nX-Evil: 1"}, "auth_error", "control character"),
    ],
)
async def test_what_is_missing_is_said_and_nothing_is_sent(
    tools, remote, auth_type, auth_config, code, names
):
    done = await tools.run("webhook", hook(remote), auth_type=auth_type, auth_config=auth_config)
    assert (done["status"], done["error"]["code"]) == ("failed", code)
    assert names in done["error"]["message"]
    assert remote.seen == []


async def test_what_was_sent_does_not_come_back(tools, remote):
    forms = [
        ("api_key", {"api_key_value": KEY}),
        ("bearer", {"token": KEY}),
        ("basic", {"username": "ada", "password": KEY}),
        ("custom", {"headers": {"Authorization": f"Token {KEY}"}, "query": {"t": KEY}}),
        ("api_key", {"api_key_value": KEY, "api_key_location": "query"}),
    ]
    encoded = base64.b64encode(f"ada:{KEY}".encode()).decode()
    for auth_type, auth_config in forms:
        done = await tools.run("webhook", hook(remote), auth_type=auth_type, auth_config=auth_config)
        assert done["status"] == "completed"
        assert KEY not in json.dumps(done)
        assert encoded not in json.dumps(done)
        assert "***" in json.dumps(done)


OWN_TOKEN = pytest.mark.one_service("each process asks for a tool's token itself, and keeps it")
OAUTH = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "scope": "read write"}


def secured_config(remote, **more):
    return scripted_config(remote, **more) | {"endpoints": {"only": {"path": "/secured"}}}


def oauth(remote, **more):
    return {"auth_type": "oauth2", "auth_config": {**OAUTH, "token_url": f"{remote.url}/token", **more}}


@OWN_TOKEN
async def test_a_token_is_asked_for_once_and_kept(tools, remote):
    tool = await tools.make("rest_api", secured_config(remote), **oauth(remote))
    for _ in range(3):
        done = await tools.execute(tool)
        assert done["output"]["body"] == {"ok": True, "given": "***"}
    assert (remote.tokens_issued, len(remote.seen)) == (1, 4)
    assert b"scope=read+write" in remote.seen[0].body
    assert b"grant_type=client_credentials" in remote.seen[0].body


@OWN_TOKEN
async def test_runs_at_the_same_time_share_one_request_for_a_token(tools, remote):
    tool = await tools.make("rest_api", secured_config(remote), **oauth(remote))
    done = await asyncio.gather(*(tools.execute(tool) for _ in range(8)))
    assert {one["status"] for one in done} == {"completed"}
    assert remote.tokens_issued == 1


@OWN_TOKEN
async def test_a_token_is_renewed_a_minute_before_it_ends(tools, remote, clock):
    remote.token_lifetime_s = 300
    tool = await tools.make("rest_api", secured_config(remote), **oauth(remote))
    await tools.execute(tool)
    clock.advance(238)
    await tools.execute(tool)
    assert remote.tokens_issued == 1
    clock.advance(3)
    await tools.execute(tool)
    assert remote.tokens_issued == 2


@OWN_TOKEN
async def test_a_short_lived_token_and_one_without_an_end_are_kept_too(tools, remote, clock):
    for lifetime_s, kept_s, ended_s in ((40, 19, 2), (None, 239, 3)):
        remote.token_lifetime_s, remote.tokens_issued = lifetime_s, 0
        tool = await tools.make("rest_api", secured_config(remote), **oauth(remote))
        await tools.execute(tool)
        clock.advance(kept_s)
        await tools.execute(tool)
        assert remote.tokens_issued == 1
        clock.advance(ended_s)
        await tools.execute(tool)
        assert remote.tokens_issued == 2


@OWN_TOKEN
async def test_a_token_that_is_refused_is_renewed_once(tools, remote):
    tool = await tools.make("rest_api", secured_config(remote), **oauth(remote))
    await tools.execute(tool)
    remote.revoke_tokens()
    done = await tools.execute(tool)
    assert (done["status"], done["attempts"], remote.tokens_issued) == ("completed", 2, 2)
    assert done["output"]["body"]["given"] == "***"
    tool = await tools.make("rest_api", scripted_config(remote), **oauth(remote))
    remote.answers = [(401, {}, b"no")] * 9
    done = await tools.execute(tool)
    assert (done["error"]["details"]["status_code"], done["attempts"], len(remote.answers)) == (401, 2, 7)


@OWN_TOKEN
async def test_runs_that_are_refused_together_renew_together(tools, remote):
    tool = await tools.make("rest_api", secured_config(remote), **oauth(remote))
    await tools.execute(tool)
    remote.revoke_tokens()
    done = await asyncio.gather(*(tools.execute(tool) for _ in range(6)))
    assert {one["status"] for one in done} == {"completed"}
    assert remote.tokens_issued == 2


async def test_another_auth_config_gets_another_token(tools, admin, remote):
    tool = await tools.make("rest_api", secured_config(remote), **oauth(remote))
    await tools.execute(tool)
    changed = oauth(remote, scope="admin")["auth_config"]
    assert (await admin.put(f"/v1/tools/{tool['id']}", {"auth_config": changed})).status == 200
    assert (await tools.execute(tool))["status"] == "completed"
    assert remote.tokens_issued == 2
    assert b"scope=admin" in remote.seen[2].body


async def test_two_tools_do_not_share_a_token(tools, remote):
    for _ in range(2):
        await tools.run("rest_api", secured_config(remote), **oauth(remote))
    assert remote.tokens_issued == 2


async def test_a_401_without_a_token_is_not_tried_again(tools, remote):
    remote.answers = [(401, {}, b"no")]
    done = await tools.run(
        "rest_api", scripted_config(remote), auth_type="bearer", auth_config={"token": KEY}
    )
    assert (done["error"]["code"], done["attempts"]) == ("http_error", 1)


async def test_a_client_that_is_refused_fails_without_telling_its_secret(tools, remote):
    done = await tools.run(
        "rest_api", secured_config(remote), **oauth(remote, client_secret="wrong-4711-secret")
    )
    assert (done["status"], done["error"]["code"]) == ("failed", "auth_error")
    assert "invalid_client" in done["error"]["message"]
    assert "wrong-4711-secret" not in json.dumps(done)
    assert all(seen.target == "/token" for seen in remote.seen)
