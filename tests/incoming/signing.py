"""Deliveries as the providers' own documents describe them."""

import base64
import hashlib
import hmac
from dataclasses import dataclass, field

SECRET = "a-shared-secret"
STANDARD_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@dataclass
class Sent:
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


def _hex(secret: str, signed: bytes) -> str:
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def github(body: bytes, at: int, secret: str = SECRET) -> Sent:
    return Sent(body, {"X-Hub-Signature-256": "sha256=" + _hex(secret, body), "X-GitHub-Event": "push"})


def hmac_hex(body: bytes, at: int, secret: str = SECRET) -> Sent:
    return Sent(body, {"X-Signature": "sha256=" + _hex(secret, body)})


def hmac_base64(body: bytes, at: int, secret: str = SECRET) -> Sent:
    digest = hmac.new(secret.encode(), body, hashlib.sha256).digest()
    return Sent(body, {"X-Signature": base64.b64encode(digest).decode()})


def stripe(body: bytes, at: int, secret: str = SECRET) -> Sent:
    good, old = _hex(secret, b"%d.%b" % (at, body)), "0" * 64
    return Sent(body, {"Stripe-Signature": f"v0=ignored,t={at},v1={old},v1={good}"})


def slack(body: bytes, at: int, secret: str = SECRET) -> Sent:
    signature = "v0=" + _hex(secret, b"v0:%d:%b" % (at, body))
    return Sent(body, {"X-Slack-Request-Timestamp": str(at), "X-Slack-Signature": signature})


def standard_webhooks(body: bytes, at: int, secret: str = STANDARD_SECRET, prefix: str = "webhook") -> Sent:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = hmac.new(key, b"msg_1.%d.%b" % (at, body), hashlib.sha256).digest()
    return Sent(
        body,
        {
            f"{prefix}-id": "msg_1",
            f"{prefix}-timestamp": str(at),
            f"{prefix}-signature": "v1a,unknown v1," + base64.b64encode(signed).decode(),
        },
    )


def svix(body: bytes, at: int, secret: str = STANDARD_SECRET) -> Sent:
    return standard_webhooks(body, at, secret, prefix="svix")


def token(body: bytes, at: int, secret: str = SECRET) -> Sent:
    return Sent(body, {"X-Webhook-Token": secret})
