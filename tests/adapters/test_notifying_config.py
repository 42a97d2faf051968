"""Configurations of channels: what is required, what is filled in, and what is refused key by key."""

import msgspec
import pytest

from retinue.adapters.notifiers import (
    NOTIFIERS,
    InvalidConfig,
    NotificationMessage,
    find_notifier,
    send,
    validate_config,
)
from retinue.adapters.notifiers.message_text import one_line, truncate
from retinue.kit.egress import Egress
from retinue.kit.settings import LOOPBACK
from tests.adapters.notifying_servers import vendors

IDS = (
    "smtp",
    "sendgrid",
    "mailgun",
    "ses",
    "slack_webhook",
    "slack_bot",
    "http",
    "twilio",
    "vonage",
    "in_app",
)


def faults(name, config, egress=None) -> dict[str, str]:
    with pytest.raises(InvalidConfig) as caught:
        validate_config(find_notifier(name), config, egress)
    assert (caught.value.status, caught.value.code) == (422, "invalid_config")
    return dict(caught.value.details)


def test_every_provider_is_found_by_its_names():
    assert tuple(NOTIFIERS) == IDS
    aliases = {"aws_ses": "ses", "slack": "slack_webhook", "webhook": "http", "generic": "http"}
    for name, id in {**aliases, "builtin": "in_app", **dict(zip(IDS, IDS, strict=True))}.items():
        assert find_notifier(name).id == id
    assert find_notifier("fax") is None
    for provider in NOTIFIERS.values():
        described = msgspec.to_builtins(provider.config)
        assert all(key["type"] in {"string", "integer", "object"} for key in described.values())


@pytest.mark.parametrize(
    ("name", "required", "secret"),
    [
        ("smtp", {"host"}, {"password"}),
        ("sendgrid", {"api_key", "from_email"}, {"api_key"}),
        ("mailgun", {"api_key", "domain", "from_email"}, {"api_key"}),
        ("ses", {"access_key_id", "secret_access_key", "from_email"}, {"secret_access_key"}),
        ("slack_webhook", {"webhook_url"}, {"webhook_url"}),
        ("slack_bot", {"bot_token"}, {"bot_token"}),
        ("http", {"url"}, {"secret"}),
        ("twilio", {"account_sid", "auth_token", "from_number"}, {"auth_token"}),
        ("vonage", {"api_key", "api_secret", "from"}, {"api_secret"}),
    ],
)
def test_what_is_missing_is_named_and_a_credential_stands_for_the_secrets(name, required, secret):
    for empty in ({}, dict.fromkeys(required), dict.fromkeys(required, "")):
        assert faults(name, empty) == dict.fromkeys(required, "is required")
    rest = required - secret
    if rest:
        assert set(faults(name, {"credential_id": "cred_1"})) == rest
    assert {key for key, one in NOTIFIERS[name].config.items() if one.secret} == secret


def test_defaults_are_filled_in_and_unknown_keys_kept():
    assert validate_config(NOTIFIERS["in_app"], {"colour": "blue"}) == {"colour": "blue"}
    assert validate_config(NOTIFIERS["smtp"], {"host": "mail.example.com", "port": "25", "x": [1]}) == {
        "host": "mail.example.com",
        "port": 25,
        "encryption": "auto",
        "x": [1],
    }
    ses = {"access_key_id": "A", "secret_access_key": "s", "from_email": "a@example.com"}
    assert validate_config(NOTIFIERS["ses"], ses)["region"] == "us-east-1"
    given = {"url": "https://example.com/hook", "method": "patch", "headers": None}
    assert validate_config(NOTIFIERS["http"], given) == {"url": "https://example.com/hook", "method": "PATCH"}


@pytest.mark.parametrize(
    ("name", "key", "values"),
    [
        ("smtp", "host", ["a b", "ü.example", "h/x", "a\r\nb", 5, "-", "x" * 300]),
        ("smtp", "port", [0, 65536, "x", True, 1.5, -1, "٢٥"]),
        ("smtp", "encryption", ["rot13", 1, []]),
        ("smtp", "from_email", ["a", "a@b, c@d", "A <a@b>", "a@b\r\nBcc: c@d", "jürgen@example.org"]),
        ("smtp", "from_name", ["a\r\nBcc: x", "a\u2028b", {}, "\ud800"]),
        ("smtp", "username", ["a\nb"]),
        ("mailgun", "domain", ["../x", "a/b", "a b", "ü", ".."]),
        ("mailgun", "region", ["mars"]),
        ("ses", "region", ["us-east-1.evil.example/", "eu", "US EAST", "a@b"]),
        ("ses", "access_key_id", ["a/b", "a b", "a,b"]),
        ("twilio", "account_sid", ["../../x", "a/b"]),
        ("slack_webhook", "webhook_url", ["ftp://x", "x", "http://u:p@h/", "https://h\\@x/", "https://a b/"]),
        ("http", "method", ["TRACE", "CONNECT", "GET /", 1]),
        (
            "http",
            "headers",
            [
                [],
                "x",
                {"a": 1},
                {"Host": "x"},
                {"Content-Length": "1"},
                {"X-Service-Signature": "x"},
                {"webhook-id": "x"},
                {"a\r\nb": "c"},
                {"a": "b\r\nc"},
                {f"h{number}": "x" for number in range(51)},
                {"a": "x" * 9000},
            ],
        ),
        ("http", "secret", ["whsec_not base64", "a\nb", 5]),
    ],
)
def test_a_bad_value_is_refused_with_its_key(name, key, values):
    good = {
        "host": "mail.example.com",
        "api_key": "k",
        "domain": "example.com",
        "from_email": "a@example.com",
    }
    good |= {"access_key_id": "A", "secret_access_key": "s", "url": "https://example.com/", "auth_token": "t"}
    good |= {"account_sid": "AC1", "from_number": "+15005550006"}
    wanted = {name: good[name] for name in NOTIFIERS[name].config if name in good}
    for value in values:
        assert set(faults(name, {**wanted, key: value})) == {key}, value


async def test_plain_http_and_private_hosts_are_for_the_operator_to_allow():
    async with Egress() as closed, Egress(LOOPBACK) as open_here:
        for name, key in (("http", "url"), ("slack_webhook", "webhook_url")):
            for url in (
                "http://example.com/",
                "http://127.0.0.1:9/",
                "https://169.254.169.254/",
                "https://h:22/",
            ):
                assert set(faults(name, {key: url}, closed)) == {key}
            assert faults(name, {key: "http://example.com/"}, open_here) == {key: "The URL must be https."}
            validate_config(NOTIFIERS[name], {key: "http://127.0.0.1:9/"}, open_here)
            validate_config(NOTIFIERS[name], {key: "https://example.com/"}, closed)
        plain = {"host": "mail.example.com", "encryption": "none"}
        assert set(faults("smtp", plain, closed)) == {"encryption"}
        validate_config(NOTIFIERS["smtp"], {**plain, "host": "localhost"}, open_here)
    assert faults("http", ["url"]) == {"config": "must be an object"}
    assert set(faults("slack_bot", {"credential_id": 5})) == {"credential_id"}


async def test_a_credential_that_brought_no_secret_is_missed_before_anything_is_sent():
    async with vendors() as companies:
        config = {"credential_id": "cred_1", "from_email": "a@example.com"}
        with pytest.raises(InvalidConfig) as caught:
            await send(
                companies.outside(),
                NOTIFIERS["sendgrid"],
                config,
                NotificationMessage("a@example.com", "s", "t"),
            )
        assert caught.value.details == {"api_key": "is required"}
        assert companies.requests == []


def test_texts_are_cut_with_a_mark_and_never_inside_an_escape():
    assert one_line(" a\r\n\tb\u2028c \x00") == "a b c"
    assert one_line("x=?y and =?utf-8?B?YQ0K?=") == "x=?y and = ?utf-8?B?YQ0K?="
    assert len(one_line("ü" * 900)) == 500

    def doubled(text):
        return "".join(character * 2 for character in text)

    assert truncate("abc", 6, "!", escape=doubled) == "aabbcc"
    assert truncate("abcd", 6, "!", escape=doubled) == "aabb!"
    assert truncate("x" * 10, 5, "...") == "xx..."
    assert truncate("x" * 10, 2, "...") == "..."
