"""Tools that are let in with a credential of the vault instead of secrets of their own."""

import base64

import pytest

from tests.tools.authentication import KEY, basic, hook, run_and_capture
from tests.tools.servers.rest_api import CLIENT_ID, CLIENT_SECRET

pytestmark = pytest.mark.either_database


def credential_config(credential, **options):
    return {"credential_id": credential, **options}


@pytest.mark.parametrize(
    ("type", "secrets", "auth_type", "options", "headers", "target"),
    [
        ("api_key", {"api_key": KEY}, "api_key", {}, {"x-api-key": KEY}, "/hook"),
        ("api_key", {"api_key": KEY}, "none", {}, {"x-api-key": KEY}, "/hook"),
        ("api_key", {"api_key": KEY}, "bearer", {}, {"authorization": f"Bearer {KEY}"}, "/hook"),
        ("api_key", {"api_key": KEY}, "api_key", {"api_key_header": "X-My-Key"}, {"x-my-key": KEY}, "/hook"),
        (
            "api_key",
            {"api_key": KEY},
            "api_key",
            {"api_key_header": "k", "api_key_location": "query"},
            {},
            f"/hook?k={KEY}",
        ),
        ("bearer_token", {"token": KEY}, "bearer", {}, {"authorization": f"Bearer {KEY}"}, "/hook"),
        ("bearer_token", {"token": KEY}, "custom", {}, {"authorization": f"Bearer {KEY}"}, "/hook"),
        ("bearer_token", {"token": KEY}, "api_key", {}, {"x-api-key": KEY}, "/hook"),
        ("oauth2", {"access_token": KEY}, "oauth2", {}, {"authorization": f"Bearer {KEY}"}, "/hook"),
        (
            "basic_auth",
            {"username": "ada", "password": KEY},
            "basic",
            {},
            {"authorization": basic("ada", KEY)},
            "/hook",
        ),
        (
            "custom",
            {"headers": {"X-My-Key": KEY}, "query": {"t": 7}, "other": "kept"},
            "custom",
            {},
            {"x-my-key": KEY},
            "/hook?t=7",
        ),
    ],
)
async def test_each_type_of_credential_lets_a_tool_in(
    tools, remote, type, secrets, auth_type, options, headers, target
):
    credential = await tools.credential(type, secrets)
    assert await run_and_capture(tools, remote, auth_type, credential_config(credential, **options)) == (
        headers,
        target,
    )


@pytest.mark.parametrize(
    ("type", "secrets"),
    [
        ("database", {"host": "127.0.0.1", "password": KEY}),
        ("ssh", {"host": "127.0.0.1", "username": "ada", "password": KEY}),
        ("smtp", {"host": "127.0.0.1", "password": KEY}),
        ("custom", {"anything": KEY}),
    ],
)
async def test_a_credential_that_cannot_let_a_call_in_fails_the_run(tools, remote, type, secrets):
    credential = await tools.credential(type, secrets)
    done = await tools.run(
        "webhook", hook(remote), auth_type="custom", auth_config=credential_config(credential)
    )
    assert (done["status"], remote.seen) == ("failed", [])
    assert done["error"]["code"] in {"auth_error", "destination_changed"}


async def test_what_a_credential_holds_does_not_come_back(tools, remote):
    credential = await tools.credential("basic_auth", {"username": "ada", "password": KEY})
    done = await tools.run(
        "webhook", hook(remote), auth_type="basic", auth_config=credential_config(credential)
    )
    shown = str(done)
    assert done["output"]["body"]["headers"]["authorization"] == "Basic ***"
    assert KEY not in shown
    assert base64.b64encode(f"ada:{KEY}".encode()).decode() not in shown


async def test_an_access_rule_for_another_keeps_a_tool_out(tools, admin, remote):
    credential = await tools.credential("bearer_token", {"token": KEY})
    tool = await tools.make(
        "webhook", hook(remote), auth_type="bearer", auth_config=credential_config(credential)
    )
    assert (await tools.execute(tool))["status"] == "completed"
    rules = f"/v1/credentials/{credential}/access"
    other = {"integration_type": "tool", "integration_id": "tool_other"}
    assert (await admin.post(rules, other)).status == 201
    done = await tools.execute(tool)
    assert (done["status"], done["error"]["code"]) == ("failed", "credential_access_denied")
    assert (await admin.post(rules, {**other, "integration_id": tool["id"]})).status == 201
    assert (await tools.execute(tool))["status"] == "completed"
    assert len(remote.seen) == 2


async def test_a_credential_that_has_expired_is_not_used(tools, remote, clock):
    credential = await tools.credential("bearer_token", {"token": KEY}, expires_at=clock.ahead(60))
    tool = await tools.make(
        "webhook", hook(remote), auth_type="bearer", auth_config=credential_config(credential)
    )
    clock.advance(61)
    done = await tools.execute(tool)
    assert (done["status"], done["error"]["code"], remote.seen) == ("failed", "auth_error", [])


async def test_an_oauth2_credential_gets_its_token_from_the_vault(tools, remote):
    secrets = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "token_url": f"{remote.url}/token"}
    credential = await tools.credential("oauth2", secrets)
    config = {"base_url": remote.url, "endpoints": {"only": {"path": "/secured"}}}
    tool = await tools.make("rest_api", config, auth_type="oauth2", auth_config=credential_config(credential))
    for _ in range(2):
        done = await tools.execute(tool)
        assert done["output"]["body"] == {"ok": True, "given": "***"}, done
    assert remote.tokens_issued == 1


async def test_a_token_of_the_vault_that_is_refused_is_renewed_once(tools, remote):
    secrets = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "token_url": f"{remote.url}/token"}
    credential = await tools.credential("oauth2", secrets)
    config = {"base_url": remote.url, "endpoints": {"only": {"path": "/secured"}}}
    tool = await tools.make("rest_api", config, auth_type="oauth2", auth_config=credential_config(credential))
    await tools.execute(tool)
    remote.revoke_tokens()
    done = await tools.execute(tool)
    assert (done["status"], done["attempts"], remote.tokens_issued) == ("completed", 2, 2), done


async def test_a_static_token_that_is_refused_is_not_asked_for_again(tools, remote):
    credential = await tools.credential("oauth2", {"access_token": KEY})
    config = {"base_url": remote.url, "endpoints": {"only": {"path": "/secured"}}}
    tool = await tools.make("rest_api", config, auth_type="oauth2", auth_config=credential_config(credential))
    done = await tools.execute(tool)
    assert (done["error"]["code"], remote.tokens_issued) == ("http_error", 0)
