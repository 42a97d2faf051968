"""How senders prove themselves: each scheme over the raw bytes of the body, compared in constant time."""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Callable, Iterable

import msgspec

from retinue.incoming.errors import SignatureRefused
from retinue.incoming.models import VerificationType
from retinue.incoming.sent import Headers
from retinue.kit.errors import Invalid

TOLERANCE_S = 300
_MOST_SIGNATURES = 10
_SECRET_PREFIX = "whsec_"  # noqa: S105  the form of a secret, not one
_HEX_DIGEST = re.compile(r"[0-9a-fA-F]{64}")
_SECONDS = re.compile(r"[0-9]{1,12}")


class Delivery(msgspec.Struct, frozen=True):
    """What a scheme looks at; `header` is the one that the webhook names."""

    headers: Headers
    header: str
    body: bytes
    secret: bytes
    now: float


def verify(kind: VerificationType, delivery: Delivery) -> None:
    """Nothing if the sender is who it must be, otherwise `SignatureRefused`."""
    scheme = _SCHEMES.get(kind)
    if scheme is not None:
        scheme(delivery)


def default_header(kind: VerificationType) -> str | None:
    """Where the proof stands unless a webhook of a free scheme names another header."""
    return _HEADERS[kind]


def has_free_header(kind: VerificationType) -> bool:
    return kind in {VerificationType.hmac_sha256, VerificationType.token}


def check_secret(kind: VerificationType, secret: str) -> None:
    """Refuse a secret that could never verify anything."""
    if kind is VerificationType.standard_webhooks and _standard_key(secret.encode()) is None:
        raise Invalid({"verification.secret": "must be base64, with or without `whsec_` before it"})


def _hmac_sha256(delivery: Delivery) -> None:
    written = _given(delivery, delivery.header).strip().removeprefix("sha256=")
    _require_any(_digest(delivery.secret, delivery.body), [written])


def _github(delivery: Delivery) -> None:
    written = _given(delivery, "X-Hub-Signature-256").partition("sha256=")[2]
    _require_any(_digest(delivery.secret, delivery.body), [written])


def _stripe(delivery: Delivery) -> None:
    pairs = [part.strip().partition("=") for part in _given(delivery, "Stripe-Signature").split(",")]
    timestamp = next((value for name, _, value in pairs if name == "t"), "")
    signed = timestamp.encode() + b"." + delivery.body
    _require_any(_digest(delivery.secret, signed), (value for name, _, value in pairs if name == "v1"))
    _require_recent(timestamp, delivery.now)


def _slack(delivery: Delivery) -> None:
    timestamp = _given(delivery, "X-Slack-Request-Timestamp")
    written = _given(delivery, "X-Slack-Signature").partition("v0=")[2]
    signed = b"v0:" + timestamp.encode() + b":" + delivery.body
    _require_any(_digest(delivery.secret, signed), [written])
    _require_recent(timestamp, delivery.now)


def _standard_webhooks(delivery: Delivery) -> None:
    """Svix, which the standard comes from, writes `svix-` before the same three headers."""
    prefix = "webhook" if delivery.headers.one("webhook-id") is not None else "svix"
    id, timestamp, signatures = (
        _given(delivery, f"{prefix}-{part}") for part in ("id", "timestamp", "signature")
    )
    key = _standard_key(delivery.secret)
    if key is None:
        raise _wrong()
    signed = f"{id}.{timestamp}.".encode("latin-1") + delivery.body
    written = [text.removeprefix("v1,") for text in signatures.split() if text.startswith("v1,")]
    _require_any(_digest(key, signed), written)
    _require_recent(timestamp, delivery.now)


def _token(delivery: Delivery) -> None:
    written = _given(delivery, delivery.header).strip().encode("latin-1")
    if delivery.header.lower() == "authorization":
        written = written.removeprefix(b"Bearer ")
    # Hashes are equally long, so not even the length of the token shows.
    if not hmac.compare_digest(hashlib.sha256(written).digest(), hashlib.sha256(delivery.secret).digest()):
        raise _wrong()


_SCHEMES: dict[VerificationType, Callable[[Delivery], None]] = {
    VerificationType.hmac_sha256: _hmac_sha256,
    VerificationType.github: _github,
    VerificationType.stripe: _stripe,
    VerificationType.slack: _slack,
    VerificationType.standard_webhooks: _standard_webhooks,
    VerificationType.token: _token,
}
_HEADERS: dict[VerificationType, str | None] = {
    VerificationType.none: None,
    VerificationType.hmac_sha256: "X-Signature",
    VerificationType.github: "X-Hub-Signature-256",
    VerificationType.stripe: "Stripe-Signature",
    VerificationType.slack: "X-Slack-Signature",
    VerificationType.standard_webhooks: "webhook-signature",
    VerificationType.token: "X-Webhook-Token",
}


def _given(delivery: Delivery, header: str) -> str:
    value = delivery.headers.one(header)
    if not value:
        raise SignatureRefused("missing_signature", f"Send the header {header}, once.")
    return value


def _digest(key: bytes, signed: bytes) -> bytes:
    return hmac.new(key, signed, hashlib.sha256).digest()


def _require_any(expected: bytes, written: Iterable[str]) -> None:
    """More than one signature stands there while the sender changes its secret."""
    candidates = list(written)[:_MOST_SIGNATURES]
    matches = [hmac.compare_digest(expected, _bytes_of(text)) for text in candidates]
    if not any(matches):
        raise _wrong()


def _bytes_of(written: str) -> bytes:
    """A digest as hexadecimal digits or as base64."""
    if _HEX_DIGEST.fullmatch(written):
        return bytes.fromhex(written)
    try:
        return base64.b64decode(written, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _require_recent(timestamp: str, now: float) -> None:
    if not _SECONDS.fullmatch(timestamp) or abs(now - int(timestamp)) > TOLERANCE_S:
        raise SignatureRefused(
            "signature_expired", f"The timestamp is more than {TOLERANCE_S} seconds away from now."
        )


def _standard_key(secret: bytes) -> bytes | None:
    """The bytes that a secret of Standard Webhooks encodes."""
    try:
        return base64.b64decode(secret.removeprefix(_SECRET_PREFIX.encode()), validate=True) or None
    except (binascii.Error, ValueError):
        return None


def _wrong() -> SignatureRefused:
    return SignatureRefused("invalid_signature", "The signature does not fit the payload.")
