"""Senders of notifications on loopback: each checks requests as its documentation demands, and answers so."""

import base64
import contextlib
import email
import email.policy
import hashlib
import hmac
import re
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs

import msgspec
import pytest

from retinue.adapters.notifiers import (
    NotificationMessage,
    ProviderRefused,
    SendContext,
    SendReceipt,
    find_notifier,
    send,
)
from retinue.kit.clock import ManualClock
from retinue.kit.egress import Egress
from retinue.kit.settings import LOOPBACK
from tests.adapters.answering_server import AnsweringServer, Request
from tests.adapters.llm_replies import Answer
from tests.loopback_server import serve_on_loopback

KEY = "SG.k3y-9f8e7d6c5b4a/+Zz"
ACCOUNT = "AC0123456789abcdef0123456789abcdef"
PATH = "/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"

CONFIGS: dict[str, dict[str, Any]] = {
    "sendgrid": {"api_key": KEY, "from_email": "us@example.com", "from_name": 'Größe, "Us" <x@y>'},
    "mailgun": {"api_key": KEY, "domain": "mg.example.com", "from_email": "us@mg.example.com"},
    "ses": {
        "access_key_id": "AKIDEXAMPLE",
        "secret_access_key": KEY,
        "region": "eu-west-1",
        "from_email": "us@example.com",
        "from_name": "Größe",
    },
    "slack_webhook": {"username": "Retinue"},
    "slack_bot": {"bot_token": KEY, "default_channel": "C024BE91L"},
    "http": {},
    "twilio": {"account_sid": ACCOUNT, "auth_token": KEY, "from_number": "+15005550006"},
    "vonage": {"api_key": "abcd1234", "api_secret": KEY, "from": "Retinue"},
}
RECIPIENTS = {"email": "user@example.org", "sms": "+49 (171) 123-4567", "team_chat": "", "webhook": "usr_1"}


class Vendors(AnsweringServer):
    """All the companies at one address; `faults` come before their answers, `complaints` are ours to mend."""

    def __init__(self, egress: Egress) -> None:
        super().__init__()
        self.egress = egress
        self.complaints: list[str] = []

    def outside(self, egress: Egress | None = None, **options: Any) -> SendContext:
        addresses = dict.fromkeys(CONFIGS, self.url)
        return SendContext(egress or self.egress, ManualClock(), addresses, **options)

    def config(self, provider_id: str, **changes: Any) -> dict[str, Any]:
        addresses = {"slack_webhook": {"webhook_url": self.url + PATH}, "http": {"url": f"{self.url}/hook"}}
        return {**CONFIGS[provider_id], **addresses.get(provider_id, {}), **changes}

    async def send(
        self, provider_id: str, message: NotificationMessage | None = None, **changes: Any
    ) -> SendReceipt:
        provider = find_notifier(provider_id)
        assert provider is not None
        said = message or NotificationMessage(RECIPIENTS[provider.type], "Grüße", "Hällo & <b>", id="ntf_1")
        try:
            return await send(self.outside(), provider, self.config(provider.id, **changes), said)
        finally:
            assert self.complaints == []

    async def refusal(self, provider_id: str, message: NotificationMessage | None = None, **changes: Any):
        with pytest.raises(ProviderRefused) as caught:
            await self.send(provider_id, message, **changes)
        assert (caught.value.code, caught.value.__cause__) == ("provider_error", None)
        return caught.value

    def answer(self, request: Request) -> Answer:
        for pattern, company in _COMPANIES:
            if re.fullmatch(pattern, request.path):
                try:
                    return company(request)
                except (AssertionError, KeyError, ValueError) as wrong:
                    self.complaints.append(f"{request.method} {request.path}: {wrong!r}")
                    return as_json({}, 400)
        return Answer(404, b"nobody here", {})


def as_json(body: Any, status: int = 200, **headers: str) -> Answer:
    return Answer(status, msgspec.json.encode(body), {"Content-Type": "application/json", **headers})


def as_word(word: str, status: int = 200, **headers: str) -> Answer:
    return Answer(status, word.encode(), {"Content-Type": "text/plain", **headers})


def _sendgrid(request: Request) -> Answer:
    if request.headers.get("authorization") != f"Bearer {KEY}":
        wrong = "The provided authorization grant is invalid, expired, or revoked"
        return as_json({"errors": [{"message": wrong, "field": None, "help": None}]}, 401)
    assert request.headers["content-type"].startswith("application/json")
    sent = request.json
    assert set(sent) <= {"personalizations", "from", "subject", "content", "headers", "custom_args"}
    [[to]] = [one["to"] for one in sent["personalizations"]]
    assert set(to) == {"email"}
    assert set(sent["from"]) <= {"email", "name"}
    assert sent["subject"]
    assert [part["type"] for part in sent["content"]] in (["text/plain"], ["text/plain", "text/html"])
    assert all(part["value"] for part in sent["content"])
    assert all(isinstance(value, str) for value in sent["custom_args"].values())
    reserved = {
        "to",
        "from",
        "subject",
        "reply-to",
        "cc",
        "bcc",
        "received",
        "dkim-signature",
        "content-type",
    }
    assert reserved.isdisjoint(name.lower() for name in sent["headers"])
    if to["email"].startswith("refused"):
        error = {"message": "Does not contain a valid address.", "field": "personalizations.0.to.0.email"}
        return as_json({"errors": [{**error, "help": "http://sendgrid.com/docs"}]}, 400)
    return Answer(202, b"", {"X-Message-Id": "14c5d75ce93.dfd.64b469"})


def _mailgun(request: Request) -> Answer:
    if request.headers.get("authorization") != _basic("api", KEY):
        return as_word("Forbidden", 401)
    if "/mg.example.com/" not in request.path:
        return as_json({"message": "Domain not found: other.example.com"}, 404)
    content_type = request.headers["content-type"]
    assert content_type.startswith("multipart/form-data; boundary=")
    head = f"Content-Type: {content_type}\r\nMIME-Version: 1.0\r\n\r\n".encode()
    form = email.message_from_bytes(head + request.body, policy=email.policy.HTTP)
    fields = {
        part.get_param("name", header="content-disposition"): part.get_payload(decode=True).decode()
        for part in form.iter_parts()
    }
    assert set(fields) - {"html"} == {"from", "to", "subject", "text", "h:Message-Id", "h:Auto-Submitted"}
    assert fields["text"]
    request.fields = fields
    if fields["to"].startswith("refused"):
        return as_json({"message": "'to' parameter is not a valid address. please check documentation"}, 400)
    return as_json({"id": "<20261115.1.ABC@mg.example.com>", "message": "Queued. Thank you."})


def _ses(request: Request) -> Answer:
    if request.headers.get("authorization") != _signature_v4(request, KEY):
        message = "The request signature we calculated does not match the signature you provided."
        return as_json({"message": message}, 403, **{"x-amzn-ErrorType": "InvalidSignatureException"})
    assert request.headers["content-type"] == "application/json"
    sent = request.json
    assert set(sent) <= {"FromEmailAddress", "Destination", "Content", "EmailTags"}
    simple = sent["Content"]["Simple"]
    assert simple["Subject"]["Charset"] == "UTF-8"
    assert set(simple["Body"]) <= {"Text", "Html"}
    assert sent["FromEmailAddress"].isascii()
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,256}", tag["Value"]) for tag in sent["EmailTags"])
    [to] = sent["Destination"]["ToAddresses"]
    if to.startswith("refused"):
        message = "Email address is not verified. The following identities failed the check"
        kind = "MessageRejected:http://internal.amazon.com/coral/com.amazonaws.services.simpleemail/"
        return as_json({"message": message}, 400, **{"x-amzn-ErrorType": kind})
    return as_json({"MessageId": "010001-abc-000000"})


def _signature_v4(request: Request, secret: str) -> str:
    """The signature as AWS computes it from what arrived, step by step as its documentation has it."""
    header = request.headers.get("authorization", "")
    matched = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([a-z0-9-]+)/ses/aws4_request, "
        r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})",
        header,
    )
    assert matched, header
    key_id, day, region, names, _ = matched.groups()
    assert {"host", "x-amz-date"} <= set(names.split(";")), "these must be signed"
    assert names.split(";") == sorted(names.split(";"))
    moment = request.headers["x-amz-date"]
    assert moment == "20270115T080000Z"
    canonical = f"{request.method}\n{request.path}\n\n"
    canonical += "".join(f"{name}:{request.headers[name].strip()}\n" for name in names.split(";"))
    canonical += f"\n{names}\n{hashlib.sha256(request.body).hexdigest()}"
    scope = f"{day}/{region}/ses/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = ("AWS4" + secret).encode()
    for part in (day, region, "ses", "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
    return f"AWS4-HMAC-SHA256 Credential={key_id}/{scope}, SignedHeaders={names}, Signature={signature}"


def _slack_webhook(request: Request) -> Answer:
    if request.path != PATH:
        return as_word("no_service", 404)
    sent = request.json
    assert set(sent) <= {"text", "channel", "username"}
    if not sent["text"]:
        return as_word("no_text", 400)
    if sent.get("channel") == "#gone":
        return as_word("channel_is_archived", 410)
    return as_word("ok")


def _slack_bot(request: Request) -> Answer:
    assert request.headers["content-type"] == "application/json; charset=utf-8"
    if request.headers.get("authorization") != f"Bearer {KEY}":
        return as_json({"ok": False, "error": "invalid_auth"})
    sent = request.json
    assert set(sent) <= {"channel", "text", "unfurl_links", "unfurl_media"}
    assert len(sent["text"]) <= 40_000
    if sent["channel"] == "C_GONE":
        return as_json({"ok": False, "error": "channel_not_found"})
    return as_json({"ok": True, "channel": sent["channel"], "ts": "1503435956.000247", "message": {}})


def _twilio(request: Request) -> Answer:
    if request.headers.get("authorization") != _basic(ACCOUNT, KEY):
        error = {"code": 20003, "message": "Authenticate", "status": 401}
        return as_json({**error, "more_info": "https://www.twilio.com/docs/errors/20003"}, 401)
    assert request.path == f"/2010-04-01/Accounts/{ACCOUNT}/Messages.json"
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"
    fields = {name: value for name, [value] in parse_qs(request.body.decode(), strict_parsing=True).items()}
    assert set(fields) in ({"To", "From", "Body"}, {"To", "MessagingServiceSid", "Body"})
    assert len(fields["Body"]) <= 1600
    request.fields = fields
    if fields["To"] == "+15005550001":
        error = {"code": 21211, "message": "The 'To' number +15005550001 is not a valid phone number."}
        return as_json({**error, "more_info": "https://www.twilio.com/docs/errors/21211", "status": 400}, 400)
    return as_json({"sid": "SM1f0e8ae6ade43cb3c0ce4525424e404f", "status": "queued", "error_code": None}, 201)


def _vonage(request: Request) -> Answer:
    sent = request.json
    assert set(sent) == {"api_key", "api_secret", "from", "to", "text", "type", "client-ref"}
    assert sent["to"].isdigit()
    assert sent["type"] in {"text", "unicode"}
    if (sent["api_key"], sent["api_secret"]) != ("abcd1234", KEY):
        failed = {"status": "4", "error-text": "Bad Credentials"}
    elif sent["to"].endswith("0001"):
        failed = {"status": "7", "error-text": "Number barred"}
    else:
        part = {"to": sent["to"], "message-id": "0C000000217B7F02", "status": "0", "network": "23410"}
        return as_json({"message-count": "1", "messages": [part]})
    return as_json({"message-count": "1", "messages": [failed]})


def _endpoint(request: Request) -> Answer:
    assert set(request.json) == {"id", "recipient", "title", "message", "html", "data"}
    return as_json({"received": True}, 202)


_COMPANIES = (
    ("/v3/mail/send", _sendgrid),
    ("/v3/[^/]+/messages", _mailgun),
    ("/v2/email/outbound-emails", _ses),
    ("/services/.*", _slack_webhook),
    (r"/chat\.postMessage", _slack_bot),
    ("/2010-04-01/.*", _twilio),
    ("/sms/json", _vonage),
    ("/hook", _endpoint),
)


def _basic(user: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


@contextlib.asynccontextmanager
async def vendors() -> AsyncIterator[Vendors]:
    async with Egress(LOOPBACK) as egress:
        companies = Vendors(egress)
        async with serve_on_loopback(companies.serve) as companies.port:
            yield companies
