"""Channels: what is stored, shown, merged and revealed, and where their secrets may go."""

from typing import Any

import pytest

from retinue.access.models import Role
from retinue.notifications.configs import MASK
from tests.adapters.notifying_servers import CONFIGS, KEY, Vendors
from tests.factories import credentials
from tests.factories.happenings import audits
from tests.factories.notifications import CHANNELS, get_channel, logs_of, make_channel, type_of

SUMMARY = {"id", "name", "type", "provider", "active", "priority", "last_used_at", "last_error", "created_at"}
SECRETS = {
    "smtp": "password",
    "sendgrid": "api_key",
    "mailgun": "api_key",
    "ses": "secret_access_key",
    "slack_webhook": "webhook_url",
    "slack_bot": "bot_token",
    "http": "secret",
    "twilio": "auth_token",
    "vonage": "api_secret",
}
_COMPLETE: dict[str, dict[str, Any]] = {
    **CONFIGS,
    "smtp": {"host": "mail.example.com", "password": KEY},
    "slack_webhook": {"webhook_url": f"https://hooks.slack.com/services/{KEY}"},
    "http": {"url": "https://example.com/hook", "secret": KEY},
}


async def test_every_provider_is_described_with_its_configuration(admin) -> None:
    described = (await admin.get(f"{CHANNELS}/providers")).json()["providers"]
    assert {one["id"]: one["type"] for one in described} == {
        **{provider: type_of(provider) for provider in SECRETS},
        "in_app": "in_app",
    }
    for provider in described:
        for key in provider["config_schema"].values():
            assert {"type", "required"} <= set(key)
            assert key.get("secret") in {None, True}


async def test_the_secret_of_every_provider_is_masked_and_revealed_on_request(people, admin) -> None:
    for provider, secret in SECRETS.items():
        given = _COMPLETE[provider]
        made = await make_channel(admin, provider, {**given, "note": "kept"})
        assert made.pop("warnings") == ["ignored_field:config.note"]
        assert set(made) == SUMMARY | {"config", "updated_at"}
        assert made["config"] == {**given, "note": "kept", secret: MASK}, provider
        read = await admin.get(f"{CHANNELS}/{made['id']}")
        assert read.json() == made
        assert KEY.encode() not in read.body
        revealed = await admin.get(f"{CHANNELS}/{made['id']}/reveal")
        assert revealed.json() == {"id": made["id"], "config": {**given, "note": "kept"}}
        assert revealed.headers["cache-control"] == "no-store"
    rows = await audits(people, "system.channel.revealed")
    assert [row.metadata["keys"] for row in rows] == [[secret] for secret in SECRETS.values()]


async def test_channels_are_listed_in_short_and_by_type(admin) -> None:
    for provider in SECRETS:
        await make_channel(admin, provider, _COMPLETE[provider])
    listed = (await admin.get(CHANNELS)).json()
    assert set(listed) == {"data", "total"}
    assert listed["total"] == len(listed["data"]) == len(SECRETS)
    assert all(set(one) == SUMMARY for one in listed["data"])
    assert (listed["data"][0]["priority"], listed["data"][0]["last_used_at"]) == (0, None)
    only_mail = (await admin.get(CHANNELS, query={"type": "email", "active": "true"})).json()
    assert {one["provider"] for one in only_mail["data"]} == {"smtp", "sendgrid", "mailgun", "ses"}


@pytest.mark.either_database
async def test_what_is_wrong_with_a_channel_is_said(admin) -> None:
    smtp = {"host": "mail.example.com"}
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"type": "email", "provider": "smtp", "config": {}}, "invalid_config", "host"),
        ({"type": "sms", "provider": "smtp", "config": smtp}, "invalid_config", "provider"),
        ({"type": "email", "provider": "pigeon", "config": smtp}, "invalid_config", "provider"),
        ({"type": "email", "provider": "smtp"}, "validation_error", "config"),
        ({"type": "email", "config": smtp}, "validation_error", "provider"),
        ({"type": "mail", "provider": "smtp", "config": smtp}, "validation_error", "type"),
        ({"type": "email", "provider": "smtp", "config": []}, "validation_error", "config"),
        (
            {"type": "webhook", "provider": "http", "config": {"url": "http://a.example"}},
            "invalid_config",
            "url",
        ),
        ({"type": "webhook", "provider": "http", "config": {"url": "https://[::1"}}, "invalid_config", "url"),
        (
            {"type": "email", "provider": "sendgrid", "config": {"credential_id": 7}},
            "invalid_config",
            "credential_id",
        ),
        (
            {"type": "email", "provider": "smtp", "config": {**smtp, "credential_id": "cred_none"}},
            "invalid_config",
            "credential_id",
        ),
        (
            {"type": "email", "provider": "smtp", "config": {**smtp, "password": "p", "credential_id": "c"}},
            "invalid_config",
            "credential_id",
        ),
        (
            {"type": "email", "provider": "smtp", "config": {**smtp, "password": [1], "credential_id": "c"}},
            "invalid_config",
            "credential_id",
        ),
        (
            {"type": "email", "provider": "smtp", "config": {**smtp, "note": "x" * 40_000}},
            "invalid_config",
            "config",
        ),
        ({"type": "email", "provider": "smtp", "config": smtp, "name": " "}, "validation_error", "name"),
        (
            {"type": "email", "provider": "smtp", "config": smtp, "priority": -1},
            "validation_error",
            "priority",
        ),
    ]
    for body, code, field in cases:
        answer = await admin.post(CHANNELS, {"name": "Mine", **body})
        assert (answer.status, answer.code, list(answer.details)) == (422, code, [field]), (body, answer)
    made = await admin.post(CHANNELS, {"name": "Inside", "type": "in_app"})
    assert (made.status, made.json()["provider"], made.json()["config"]) == (201, "in_app", {})
    alias = await admin.post(
        CHANNELS,
        {"name": "Chat", "type": "team_chat", "provider": "slack", "config": _COMPLETE["slack_webhook"]},
    )
    assert alias.json()["provider"] == "slack_webhook"
    for type, found in {"in_app": 1, "team_chat": 1, "sms": 0}.items():
        answer = await admin.get(f"{CHANNELS}/active/{type}")
        assert (answer.status, answer.json()["total"]) == (200, found)
    assert (await admin.get(f"{CHANNELS}/active/fax")).status == 422


MAIL_CONFIG = {"host": "mail.example.com", "username": "robot", "password": KEY}


async def test_an_update_merges_by_key_and_the_mask_changes_nothing(people, admin) -> None:
    path = f"{CHANNELS}/{(await make_channel(admin, 'smtp', MAIL_CONFIG))['id']}"
    answer = await admin.put(path, {"config": {"password": MASK, "from_name": "Us"}, "priority": 3})
    assert answer.status == 200, answer
    assert answer.json()["config"] == {**MAIL_CONFIG, "password": MASK, "from_name": "Us"}
    revealed = (await admin.get(f"{path}/reveal")).json()["config"]
    assert revealed == {**MAIL_CONFIG, "from_name": "Us"}
    answer = await admin.put(path, {"config": {"from_name": None, "password": "other"}, "active": False})
    assert (answer.json()["active"], answer.json()["priority"]) == (False, 3)
    assert (await admin.get(f"{path}/reveal")).json()["config"] == {**MAIL_CONFIG, "password": "other"}
    changed = [row.metadata["changed"] for row in await audits(people, "system.channel.updated")]
    assert changed == [["config", "priority"], ["active", "config"]]


async def test_an_update_changes_neither_provider_nor_type_and_is_checked(people, admin) -> None:
    path = f"{CHANNELS}/{(await make_channel(admin, 'smtp', MAIL_CONFIG))['id']}"
    refused = {
        "provider": {"provider": "sendgrid"},
        "type": {"type": "sms"},
        "host": {"config": {"host": None}},
        "port": {"config": {"port": 70_000}},
    }
    for field, body in refused.items():
        answer = await admin.put(path, body)
        assert (answer.status, list(answer.details)) == (422, [field]), answer
    assert (await admin.put(path, {"provider": "smtp", "type": "email"})).status == 200
    assert await audits(people, "system.channel.updated") == [], "nothing was changed"


async def test_a_deleted_channel_is_not_found(admin) -> None:
    path = f"{CHANNELS}/{(await make_channel(admin, 'smtp', MAIL_CONFIG))['id']}"
    assert (await admin.delete(path)).status == 204
    assert (await admin.get(path)).code == "channel_not_found"


async def test_a_channel_that_is_switched_off_can_be_tested(admin, companies: Vendors) -> None:
    right = await make_channel(admin, "sendgrid", CONFIGS["sendgrid"], active=False)
    answer = await admin.post(f"{CHANNELS}/{right['id']}/test")
    assert answer.status == 200, answer
    assert set(answer.json()) == {"success", "message", "delivery_time_ms"}
    assert answer.json()["success"] is True
    assert companies.last.json["personalizations"][0]["to"] == [{"email": admin.user.email}]


async def test_a_failed_test_says_what_the_provider_said_and_is_logged(admin, companies: Vendors) -> None:
    wrong = await make_channel(admin, "sendgrid", {**CONFIGS["sendgrid"], "api_key": f"wrong-{KEY}"})
    answer = await admin.post(f"{CHANNELS}/{wrong['id']}/test")
    assert (answer.status, answer.json()["success"]) == (200, False)
    assert "expired, or revoked" in answer.json()["message"]
    assert (await get_channel(admin, wrong["id"]))["last_error"] == answer.json()["message"]
    (listed,) = (await admin.get(CHANNELS)).json()["data"]
    assert (listed["last_error"], listed["last_used_at"] is None) == (answer.json()["message"], False)
    (log,) = await logs_of(admin, wrong["id"])
    assert (log["status"], log["error_code"], log["is_test"]) == ("failed", "delivery_failed", True)


async def test_a_test_of_text_messages_needs_a_phone_number(admin, companies: Vendors) -> None:
    number = await make_channel(admin, "twilio", CONFIGS["twilio"])
    answer = await admin.post(f"{CHANNELS}/{number['id']}/test")
    assert answer.json()["success"] is False
    assert "phone number" in answer.json()["message"]
    await admin.put(f"{CHANNELS}/{number['id']}", {"config": {"to_number": "+491711234567"}})
    assert (await admin.post(f"{CHANNELS}/{number['id']}/test")).json()["success"] is True


async def test_a_test_of_an_unknown_channel_is_refused(admin) -> None:
    assert (await admin.post(f"{CHANNELS}/nch_none/test")).code == "channel_not_found"


async def test_a_test_in_another_tenant_reaches_the_caller(people, admin) -> None:
    elsewhere = {"X-Tenant-ID": (await people.tenant("Other")).id}
    inside = await admin.post(CHANNELS, {"name": "Inside", "type": "in_app"}, headers=elsewhere)
    answer = await admin.post(f"{CHANNELS}/{inside.json()['id']}/test", headers=elsewhere)
    assert (answer.status, answer.json()["success"]) == (200, True)
    assert (await admin.get("/api/v1/notifications/unread/count")).json() == {"count": 1}


WITHOUT_KEY = {name: value for name, value in CONFIGS["sendgrid"].items() if name != "api_key"}


async def channel_with_credential(admin) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a credential and the channel that uses it instead of a key of its own."""
    credential = await credentials.create(admin, secrets={"api_key": KEY})
    config = {**WITHOUT_KEY, "credential_id": credential["id"]}
    return credential, await make_channel(admin, "sendgrid", config)


async def send_test(admin, channel: dict[str, Any]) -> dict[str, Any]:
    return (await admin.post(f"{CHANNELS}/{channel['id']}/test")).json()


@pytest.mark.usefixtures("companies")
async def test_a_credential_of_the_vault_stands_in_for_the_secrets(admin) -> None:
    credential, channel = await channel_with_credential(admin)
    assert channel["config"] == {**WITHOUT_KEY, "credential_id": credential["id"]}
    assert (await send_test(admin, channel))["success"] is True
    (used,) = [one for one in await credentials.trail(admin, credential["id"]) if one["action"] == "used"]
    assert used["via"]["channel_id"] == channel["id"]
    login = {"username": CONFIGS["twilio"]["account_sid"], "password": KEY}
    basic = await credentials.create(admin, "basic_auth", secrets=login)
    texting = {"from_number": "+15005550006", "to": "+491711234567", "credential_id": basic["id"]}
    assert (await send_test(admin, await make_channel(admin, "twilio", texting)))["success"] is True


@pytest.mark.usefixtures("companies")
async def test_a_credential_that_is_for_tools_only_sends_nothing(admin) -> None:
    credential, channel = await channel_with_credential(admin)
    only_tools = await credentials.grant(admin, credential["id"], "tool", "tool_1")
    assert only_tools.status == 201
    answer = await send_test(admin, channel)
    assert not answer["success"]
    assert answer["message"] == "The credential may not be used here. Add an access rule to allow it."


@pytest.mark.usefixtures("companies")
async def test_a_credential_that_a_channel_uses_is_deleted_by_force_only(admin) -> None:
    credential, channel = await channel_with_credential(admin)
    in_use = await admin.delete(f"/v1/credentials/{credential['id']}")
    assert (in_use.code, in_use.details["channels"]) == (
        "credential_in_use",
        [{"id": channel["id"], "name": channel["name"]}],
    )
    assert (await admin.delete(f"/v1/credentials/{credential['id']}?force=true")).status == 204
    assert (await get_channel(admin, channel["id"]))["config"] == WITHOUT_KEY
    answer = await send_test(admin, channel)
    assert (answer["success"], "api_key is required" in answer["message"]) == (False, True)


async def test_secrets_stay_where_they_were_entered_for(people, admin, companies: Vendors) -> None:
    """T2: somebody who may change a channel but not read its secrets cannot redirect them."""
    config = {"url": f"{companies.url}/hook", "secret": KEY}
    channel = await make_channel(admin, "http", config)
    path = f"{CHANNELS}/{channel['id']}"
    granted = ["notification_channels:read", "notification_channels:write"]
    await admin.put("/roles/agent_developer/permissions", {"permissions": granted})
    thief = await people.signed_in(Role.agent_developer)
    elsewhere = f"{companies.url.replace('127.0.0.1', 'localhost')}/hook"
    assert (await thief.put(path, {"config": {"url": elsewhere}})).status == 200
    answer = (await thief.post(f"{path}/test")).json()
    assert (answer["success"], "entered for another destination" in answer["message"]) == (False, True)
    assert companies.requests == []
    assert (await thief.get(f"{path}/reveal")).status == 403
    assert (await thief.put(path, {"config": {"url": elsewhere, "secret": "another-one"}})).status == 200
    assert (await thief.post(f"{path}/test")).json()["success"] is True
    assert (await admin.put(path, {"config": {"url": config["url"]}})).status == 200
    assert (await thief.post(f"{path}/test")).json()["success"] is True


async def _made(admin, path: str, **body: Any) -> str:
    answer = await admin.post(path, body)
    assert answer.status == 201, answer
    made = answer.json()
    return made.get("data", made)["id"]


async def test_what_sends_through_a_channel_is_named_before_it_is_deleted(admin) -> None:
    channel = await make_channel(admin, "smtp", MAIL_CONFIG)
    path, named = f"{CHANNELS}/{channel['id']}/usage", {"channel_id": channel["id"]}
    assert (await admin.get(path)).json() == {"workflows": [], "forms": [], "subscriptions": []}
    fields = [{"id": "mail", "type": "email", "label": "Mail"}]
    settings = {"notifications": {"channel_ids": [channel["id"]]}}
    form = await _made(admin, "/api/v1/forms", name="Contact", fields=fields, settings=settings)
    event_type, notify = "form.submission.created", {"action_type": "notification", "action_config": named}
    subscription = await _made(admin, "/api/v1/event-subscriptions", event_type=event_type, **notify)
    tell = {"id": "tell", "type": "notification", "config": {**named, "title": "Done", "message": "Done."}}
    end = {"id": "end", "type": "end", "config": {"output": "done"}}
    workflow = await _made(admin, "/api/v1/workflows", name="Nightly", nodes=[tell, end])
    assert (await admin.get(path)).json()["workflows"] == [], "it runs only once it is published"
    assert (await admin.post(f"/api/v1/workflows/{workflow}/publish")).status == 200
    assert (await admin.get(path)).json() == {
        "workflows": [{"id": workflow, "name": "Nightly"}],
        "forms": [{"id": form, "name": "Contact"}],
        "subscriptions": [{"id": subscription, "name": event_type}],
    }
