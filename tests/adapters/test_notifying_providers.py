"""Tests of each notification provider: the documented request, and the meaning of its answers."""

import base64
import hashlib
import hmac

import pytest

from retinue.adapters.notifiers import NotificationMessage, find_notifier, send, slack
from retinue.kit.webhook_signing import new_signing_secret
from tests.adapters.notifying_servers import KEY, as_json, as_word, vendors

MAIL = NotificationMessage("user@example.org", "Grüße 👋", "Hällo\nWelt", "<p>Hällo</p>", id="ntf_1")


@pytest.fixture
async def companies():
    async with vendors() as opened:
        yield opened


async def test_sendgrid_takes_a_mail(companies):
    sent = await companies.send("sendgrid", MAIL)
    assert sent.provider_id == "14c5d75ce93.dfd.64b469"
    body = companies.last.json
    assert body["personalizations"] == [{"to": [{"email": "user@example.org"}]}]
    # A name is only a name here, whatever it looks like.
    assert body["from"] == {"email": "us@example.com", "name": 'Größe, "Us" <x@y>'}
    assert body["subject"] == "Grüße 👋"
    assert [part["value"] for part in body["content"]] == ["Hällo\nWelt", "<p>Hällo</p>"]
    assert body["headers"]["Message-ID"] == "<ntf_1@example.com>"


async def test_sendgrid_says_why_it_refuses_and_whether_for_good(companies):
    refused = await companies.refusal("sendgrid", NotificationMessage("refused@example.org", "s", "t"))
    assert refused.message == (
        "SendGrid answered 400: Does not contain a valid address. (personalizations.0.to.0.email)"
    )
    assert refused.is_permanent
    denied = await companies.refusal("sendgrid", api_key="another-key-1234")
    assert "authorization grant is invalid" in denied.message
    assert not denied.is_permanent


async def test_mailgun_takes_a_form_and_says_why_not(companies):
    sent = await companies.send("mailgun", MAIL, from_name='Us, <b@c> "x"', region="EU")
    assert (sent.provider_id, sent.detail) == ("<20261115.1.ABC@mg.example.com>", "Queued. Thank you.")
    fields = companies.last.fields
    assert fields["from"] == '"Us, <b@c> \\"x\\"" <us@mg.example.com>'
    assert (fields["to"], fields["subject"]) == ("user@example.org", "Grüße 👋")
    assert (fields["text"], fields["html"]) == ("Hällo\nWelt", "<p>Hällo</p>")
    assert fields["h:Message-Id"] == "<ntf_1@mg.example.com>"
    refused = await companies.refusal("mailgun", NotificationMessage("refused@example.org", "s", "t"))
    assert "'to' parameter is not a valid address" in refused.message
    assert refused.is_permanent
    assert (
        await companies.refusal("mailgun", api_key="another-key")
    ).message == "Mailgun answered 401: Forbidden"
    assert "Domain not found" in (await companies.refusal("mailgun", domain="other.example.com")).message


async def test_ses_gets_a_request_whose_signature_holds(companies):
    assert (await companies.send("ses", MAIL)).provider_id == "010001-abc-000000"
    body = companies.last.json
    assert "/eu-west-1/ses/aws4_request" in companies.last.headers["authorization"]
    assert body["FromEmailAddress"] == "=?utf-8?b?R3LDtsOfZQ==?= <us@example.com>"
    assert body["Content"]["Simple"]["Body"]["Html"]["Data"] == "<p>Hällo</p>"
    assert (await companies.send("aws_ses")).detail == "accepted"


async def test_ses_says_why_it_refuses_and_whether_for_good(companies):
    refused = await companies.refusal("ses", NotificationMessage("refused@example.org", "s", "t"))
    assert refused.message.startswith(
        "Amazon SES answered 400: MessageRejected: Email address is not verified."
    )
    assert refused.is_permanent
    denied = await companies.refusal("ses", secret_access_key="wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
    assert "InvalidSignatureException" in denied.message
    assert not denied.is_permanent
    for kind in ("ThrottlingException", "SendingPausedException"):
        slow = as_json({"message": "Slow down"}, 400, **{"x-amzn-ErrorType": f"{kind}:http://internal/"})
        companies.answers.append(slow)
        assert not (await companies.refusal("ses")).is_permanent


async def test_an_incoming_webhook_gets_text_in_which_nothing_is_markup(companies):
    sent = await companies.send(
        "slack",
        NotificationMessage("", "Build <!channel>", "a & b <http://x|y> @here @hereby @Everyone"),
        channel="#ops",
    )
    assert sent.detail == "ok"
    assert companies.last.json == {
        "text": "*Build &lt;!channel&gt;*\na &amp; b &lt;http://x|y&gt; @\u200bhere @hereby @\u200bEveryone",
        "channel": "#ops",
        "username": "Retinue",
    }
    await companies.send("slack_webhook", NotificationMessage("@jane", "s", "t"), channel="#ops", username="")
    assert companies.last.json == {"text": "*s*\nt", "channel": "@jane"}
    # Rocket.Chat answers with an object, in which it may refuse.
    companies.answers.append(as_json({"success": True}))
    await companies.send("slack_webhook")
    companies.answers.append(as_json({"success": False, "error": "Invalid channel"}))
    assert "Invalid channel" in (await companies.refusal("slack_webhook")).message
    gone = await companies.refusal("slack_webhook", channel="#gone")
    assert (gone.message, gone.is_permanent) == (
        "The incoming webhook answered 410: channel_is_archived",
        True,
    )
    lost = await companies.refusal("slack_webhook", webhook_url=f"{companies.url}/services/T1/B2/other")
    assert lost.message == "The incoming webhook answered 404: no_service"
    companies.answers.append(as_word("", 429, **{"Retry-After": "30"}))
    limited = await companies.refusal("slack_webhook")
    assert (limited.retry_after_s, limited.is_permanent) == (30.0, False)


async def test_a_long_text_is_cut_to_what_the_chat_takes(companies, monkeypatch):
    for hosts, longest in ((set(), 40_000), ({"127.0.0.1"}, 2_000)):
        monkeypatch.setattr(slack, "_DISCORD", hosts)
        await companies.send("slack_webhook", NotificationMessage("", "s", "x" * 50_000))
        text = companies.last.json["text"]
        assert len(text) == longest
        assert text.endswith("x… (shortened)")


async def test_a_bot_posts_and_refusals_come_with_a_good_status(companies):
    sent = await companies.send("slack_bot", NotificationMessage("", "Subject", "Text <x>"))
    assert (sent.provider_id, sent.detail) == ("1503435956.000247", "C024BE91L")
    assert companies.last.json["text"] == "*Subject*\nText &lt;x&gt;"
    await companies.send("slack_bot", NotificationMessage("U123", "s", "t"))
    assert companies.last.json["channel"] == "U123"
    gone = await companies.refusal("slack_bot", NotificationMessage("C_GONE", "s", "t"))
    assert (gone.message, gone.is_permanent) == ("Slack answered 200: channel_not_found", True)
    denied = await companies.refusal("slack_bot", bot_token="xoxb-other-token")
    assert (denied.message, denied.is_permanent) == ("Slack answered 200: invalid_auth", False)
    companies.answers.append(as_json({"ok": False, "error": "missing_scope", "needed": "chat:write"}))
    assert "missing_scope (needed: chat:write)" in (await companies.refusal("slack_bot")).message
    companies.answers.append(as_json({"ok": False, "error": "ratelimited"}, 429, **{"Retry-After": "7"}))
    assert (await companies.refusal("slack_bot")).retry_after_s == 7.0
    nowhere = await companies.refusal("slack_bot", default_channel="")
    assert nowhere.is_permanent
    await companies.send("slack_bot", NotificationMessage("", "s", "&" * 60_000))
    assert companies.last.json["text"].endswith("&amp;… (shortened)")


TOLD = NotificationMessage("usr_1", "Title", "Text", "<p>", {"form_id": "form_1"}, "ntf_7")


async def test_an_endpoint_gets_the_message_as_json(companies):
    sent = await companies.send("webhook", TOLD, method="put", headers={"X-Team": "blue"})
    assert sent.detail == "answered 202"
    request = companies.last
    assert (request.method, request.path, request.headers["x-team"]) == ("PUT", "/hook", "blue")
    assert request.headers["content-type"] == "application/json"
    assert request.headers["idempotency-key"] == "ntf_7"
    assert "webhook-signature" not in request.headers
    assert request.json == {
        "id": "ntf_7",
        "recipient": "usr_1",
        "title": "Title",
        "message": "Text",
        "html": "<p>",
        "data": {"form_id": "form_1"},
    }


async def test_an_endpoint_with_a_secret_gets_signatures_it_can_check(companies):
    ours = new_signing_secret()
    for secret, key in ((ours, base64.b64decode(ours[6:])), ("chosen by hand", b"chosen by hand")):
        await companies.send("http", TOLD, secret=secret)
        headers, body = companies.last.headers, companies.last.body
        assert headers["webhook-id"] == "ntf_7"
        assert headers["webhook-timestamp"] == headers["x-service-timestamp"] == "1800000000"
        signed = hmac.digest(key, b"ntf_7.1800000000." + body, "sha256")
        assert headers["webhook-signature"] == f"v1,{base64.b64encode(signed).decode()}"
        own = hmac.new(secret.encode(), b"1800000000." + body, hashlib.sha256).hexdigest()
        assert headers["x-service-signature"] == f"sha256={own}"


async def test_an_endpoint_refuses_for_good_or_for_now_by_its_status(companies):
    for status, is_permanent in ((400, True), (422, True), (401, False), (409, False), (500, False)):
        companies.answers.append(as_json({"error": "no thanks"}, status))
        refused = await companies.refusal("http")
        assert (refused.message, refused.is_permanent) == (
            f"The endpoint answered {status}: no thanks",
            is_permanent,
        )


async def test_an_endpoint_may_ask_to_be_tried_later(companies):
    for told, seconds in (
        ("Fri, 15 Jan 2027 08:01:00 GMT", 60),
        ("-5", None),
        ("soon", None),
        ("9" * 400, 86_400),
    ):
        companies.answers.append(as_word("", 503, **{"Retry-After": told}))
        waited = (await companies.refusal("http")).retry_after_s
        assert waited == (None if seconds is None else pytest.approx(seconds, abs=1))


async def test_twilio_takes_a_form_and_says_why_not(companies):
    sent = await companies.send("twilio", NotificationMessage("+49 (171) 123-4567", "Subject", "Text & more"))
    assert (sent.provider_id, sent.detail) == ("SM1f0e8ae6ade43cb3c0ce4525424e404f", "queued")
    assert companies.last.fields == {
        "To": "+491711234567",
        "From": "+15005550006",
        "Body": "Subject\nText & more",
    }
    service = NotificationMessage("whatsapp:+15005550010", "same", "same")
    await companies.send("twilio", service, from_number="MG0123456789abcdef")
    assert companies.last.fields == {
        "To": "whatsapp:+15005550010",
        "MessagingServiceSid": "MG0123456789abcdef",
        "Body": "same",
    }
    await companies.send("twilio", NotificationMessage("+15005550010", "s", "x" * 5000))
    assert companies.last.fields["Body"].endswith("xxx...")
    refused = await companies.refusal("twilio", NotificationMessage("+15005550001", "s", "t"))
    assert refused.message == (
        "Twilio answered 400: The 'To' number +15005550001 is not a valid phone number. (21211)"
    )
    assert refused.is_permanent
    denied = await companies.refusal("twilio", auth_token="another-token")
    assert (denied.message, denied.is_permanent) == ("Twilio answered 401: Authenticate (20003)", False)


async def test_vonage_takes_json_and_refuses_with_a_good_status(companies):
    sent = await companies.send("vonage", NotificationMessage("+44 7700 900000", "s", "plain €"))
    assert (sent.provider_id, sent.detail) == ("0C000000217B7F02", "parts: 1")
    assert companies.last.json == {
        "api_key": "abcd1234",
        "api_secret": KEY,
        "from": "Retinue",
        "to": "447700900000",
        "text": "s\nplain €",
        "type": "text",
        "client-ref": companies.last.json["client-ref"],
    }
    await companies.send("vonage", NotificationMessage("447700900000", "s", "日本"))
    assert companies.last.json["type"] == "unicode"
    barred = await companies.refusal("vonage", NotificationMessage("447700900001", "s", "t"))
    assert (barred.message, barred.is_permanent) == ("Vonage answered 200: Number barred (7)", True)
    denied = await companies.refusal("vonage", api_secret="another-secret")
    assert (denied.message, denied.is_permanent) == ("Vonage answered 200: Bad Credentials (4)", False)
    throttled = {"status": "1", "error-text": "Throughput Rate Exceeded - please wait"}
    companies.answers.append(as_json({"message-count": "1", "messages": [throttled]}))
    slow = await companies.refusal("vonage")
    assert (slow.retry_after_s, slow.is_permanent) == (1.0, False)
    # The first half arrived: the whole again would be half of it twice.
    parts = [{"status": "0", "message-id": "1"}, {"status": "5", "error-text": "Internal error"}]
    companies.answers.append(as_json({"message-count": "2", "messages": parts}))
    assert (await companies.refusal("vonage")).is_permanent


async def test_what_is_shown_inside_goes_nowhere(companies):
    provider = find_notifier("builtin")
    assert provider is not None
    await send(companies.outside(), provider, {}, NotificationMessage("usr_1", "s", "t"))
    assert companies.requests == []
