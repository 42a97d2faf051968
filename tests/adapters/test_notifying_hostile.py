"""Providers that hang, flood, redirect or give secrets away: always ProviderRefused, never a secret in it."""

import base64
import dataclasses
import logging
import traceback
import urllib.parse

import pytest

from retinue.adapters.notifiers import (
    InvalidConfig,
    NotificationMessage,
    ProviderRefused,
    find_notifier,
    send,
)
from retinue.kit.egress import Egress
from tests.adapters.llm_server import flooding, hanging, refusing, resetting, sending
from tests.adapters.mail_injections import RECIPIENTS as BAD_ADDRESSES
from tests.adapters.notifying_servers import CONFIGS, KEY, PATH, RECIPIENTS, vendors
from tests.kit.egress_listener import listening
from tests.kit.egress_targets import REFUSED_HOSTS

# These two say in the body whether they took the message; of the others the status says it.
SAID_IN_THE_BODY = {"slack_bot", "vonage"}
BAD_NUMBERS = (
    "",
    "0171 1234567",
    "+49171,+49172",
    "+1500555\r\n0006",
    "+15005550006\r\nBcc: x",
    "tel:+15005550006",
    "+1500555000612345678",
    "+٤٩١٧١١٢٣٤٥٦٧",
    "call me",
    "+15005550006" * 10_000,
)


@pytest.fixture
async def companies():
    async with vendors() as opened:
        yield opened


async def outcome(companies, name, **options):
    """Send a message; return the refusal, or None if it counts as sent."""
    provider = find_notifier(name)
    message = NotificationMessage(RECIPIENTS[provider.type], "s", "t")
    try:
        await send(companies.outside(**options), provider, companies.config(name), message)
    except ProviderRefused as refused:
        return refused
    return None


async def test_a_provider_that_does_not_answer_is_given_up(companies):
    # The first call loads the library, which takes longer than the time allowed below.
    await companies.send("http")
    for name in CONFIGS:
        companies.faults.append(hanging())
        refused = await outcome(companies, name, timeout_s=0.1)
        assert "did not respond within 0.1 seconds" in refused.message
        assert not refused.is_permanent
        companies.faults.append(resetting())
        refused = await outcome(companies, name)
        assert "was lost" in refused.message
        assert not refused.is_permanent


async def test_an_answer_without_end_is_not_read_to_its_end(companies):
    for name in CONFIGS:
        for fault in (
            flooding(b"x" * 65_536, 20_000_000),
            sending(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000000000\r\n\r\n{"),
            refusing(200, b"[" * 50_000),
            refusing(200, b'{"ok": "yes", "messages": [1, {}]}'),
            refusing(200, b"\xff\xfe"),
            refusing(200, b""),
        ):
            companies.faults.append(fault)
            refused = await outcome(companies, name)
            assert (refused is not None) == (name in SAID_IN_THE_BODY), (name, fault)
        companies.faults.append(hanging(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"))
        refused = await outcome(companies, name, timeout_s=2)
        assert (refused is not None) == (name in SAID_IN_THE_BODY)


async def test_of_a_long_answer_only_the_beginning_is_read(companies):
    taken = 0

    async def flood(_reader, writer) -> None:
        nonlocal taken
        writer.write(b"HTTP/1.1 500 X\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n")
        while taken < 40_000_000:
            writer.write(b"x" * 65_536)
            await writer.drain()
            taken += 65_536

    companies.faults.append(flood)
    refused = await companies.refusal("http")
    assert refused.message == "The endpoint answered 500."
    # What lies in the buffers of the connection counts as well.
    assert taken < 20_000_000


async def test_a_gateway_in_a_provider_s_place_is_called_over_https(companies):
    for name in CONFIGS.keys() - {"http", "slack_webhook"}:
        outside = dataclasses.replace(
            companies.outside(), base_addresses={name: "http://gateway.example.com"}
        )
        provider = find_notifier(name)
        message = NotificationMessage(RECIPIENTS[provider.type], "s", "t")
        with pytest.raises(ProviderRefused, match="The URL must be https"):
            await send(outside, provider, companies.config(name), message)


async def test_redirects_are_not_followed(companies):
    async with listening() as canary:
        for name in CONFIGS:
            for status in (301, 302, 303, 307, 308):
                companies.faults.append(refusing(status, b"", Location=canary.url))
                refused = await outcome(companies, name)
                assert "redirect, which is not followed" in refused.message
        assert canary.connections == 0


async def test_no_secret_comes_back_in_any_form(companies, caplog):
    caplog.set_level(logging.DEBUG)
    tokens = {"slack_webhook": PATH, "http": "hook-t0ken-12345678"}
    for name in CONFIGS:
        secret = tokens.get(name, KEY)
        encoded = base64.b64encode(f"api:{secret}".encode()).decode()
        forms = [secret, encoded, urllib.parse.quote(secret, safe=""), secret.encode().hex()]
        said = " ".join(["no", *forms, "x" * 240, secret])
        bodies = [
            said.encode(),
            {"message": said, "error": said, "ok": False, "errors": [{"message": said, "field": secret}]},
            {"messages": [{"status": "3", "error-text": said}], "code": 1, "message": said},
        ]
        for body in bodies:
            companies.faults.append(refusing(400, body))
            changes = {"headers": {"Authorization": f"Bearer {secret}"}} if name == "http" else {}
            refused = await companies.refusal(name, **changes)
            shown = refused.message + "".join(traceback.format_exception(refused)) + caplog.text
            assert [form for form in forms if form in refused.message] == [], name
            assert len(refused.message) < 400
            assert secret[:12] not in refused.message
            assert encoded not in shown


async def test_nobody_is_quoted_beside_a_secret_too_short_to_be_found(companies):
    companies.faults.append(refusing(403, {"message": "the key abc is wrong"}))
    assert (await companies.refusal("mailgun", api_key="abc")).message == "Mailgun answered 403."


async def test_a_message_goes_to_exactly_one_recipient(companies):
    for name in ("sendgrid", "mailgun", "ses"):
        for recipient in BAD_ADDRESSES:
            refused = await companies.refusal(name, NotificationMessage(recipient, "s", "t"))
            assert refused.is_permanent, (name, recipient)
    for name in ("twilio", "vonage"):
        for recipient in BAD_NUMBERS:
            refused = await companies.refusal(name, NotificationMessage(recipient, "s", "t"))
            assert refused.is_permanent, (name, recipient)
    for name in ("slack_webhook", "slack_bot"):
        for recipient in ("#a,#b", "#a\r\nx", "#" * 200):
            assert (await companies.refusal(name, NotificationMessage(recipient, "s", "t"))).is_permanent
    assert companies.requests == []


async def test_a_subject_stays_one_line_and_a_text_without_words_is_not_sent(companies):
    for name in ("sendgrid", "mailgun", "ses"):
        await companies.send(
            name, NotificationMessage("a@example.org", "a\r\nBcc: evil@example.net\u2028x", "t\x00\ud800")
        )
        body = companies.last.body.decode()
        assert "a Bcc: evil@example.net x" in body
        assert "\\r" not in body
    await companies.send("sendgrid", NotificationMessage("a@example.org", "", "first line\nsecond"))
    assert companies.last.json["subject"] == "first line second"
    await companies.send("slack_bot", NotificationMessage("", "only a subject", " \n"))
    assert companies.last.json["text"] == "only a subject"
    told = len(companies.requests)
    for name in CONFIGS:
        assert (
            await companies.refusal(name, NotificationMessage("x", " ", "\r\n"))
        ).message == "The message is empty."
    odd = NotificationMessage("x", "s", "t", data={"x": object()})
    assert "cannot be written as JSON" in (await companies.refusal("http", odd)).message
    assert len(companies.requests) == told


async def test_private_addresses_are_never_called():
    async with Egress() as closed, vendors() as companies, listening() as canary:
        for host in REFUSED_HOSTS:
            for name, key in (("http", "url"), ("slack_webhook", "webhook_url")):
                config = {key: f"https://{host}:{canary.port}/"}
                with pytest.raises((ProviderRefused, InvalidConfig)):
                    await send(
                        companies.outside(closed),
                        find_notifier(name),
                        config,
                        NotificationMessage("", "s", "t"),
                    )
        for name in CONFIGS.keys() - {"http", "slack_webhook"}:
            refused = await outcome(companies, name, egress=closed)
            assert refused.is_permanent
        assert canary.connections == 0
        assert companies.requests == []
