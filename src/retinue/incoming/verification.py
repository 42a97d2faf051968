"""Verification schemes: each signs the raw body, and signatures are compared in constant time."""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Callable, Iterable

import msgspec

from retinue.incoming.errors import SignatureRefused
from retinue.incoming.models import VerificationType
from retinue.incoming.request_content import RequestHeaders
from retinue.kit.errors import Invalid

TOLERANCE_SECONDS = 300
_MAX_SIGNATURES = 10
_SECRET_PREFIX = "whsec_"  # noqa: S105  the form of a secret, not one
_HEX_DIGEST = re.compile(r"[0-9a-fA-F]{64}")
_SECONDS = re.compile(r"[0-9]{1,12}")


class SignedRequest(msgspec.Struct, frozen=True):
    """The input of a scheme; `header` is the one that the webhook configures."""

    headers: RequestHeaders
    header: str
    body: bytes
    secret: bytes
    now: float


def verify(kind: VerificationType, request: SignedRequest) -> None:
    """Raise `SignatureRefused` unless the request is signed as the scheme requires."""
    scheme = _SCHEMES.get(kind)
    if scheme is not None:
        scheme(request)


def default_header(kind: VerificationType) -> str | None:
    """Return the header of the signature, unless the webhook configures another one."""
    return _HEADERS[kind]


def has_custom_header(kind: VerificationType) -> bool:
    return kind in {VerificationType.hmac_sha256, VerificationType.token}


def check_secret(kind: VerificationType, secret: str) -> None:
    """Raise `Invalid` for a secret that can never verify anything."""
    if kind is VerificationType.standard_webhooks and _standard_key(secret.encode()) is None:
        raise Invalid({"verification.secret": "must be base64, with or without `whsec_` before it"})


def _hmac_sha256(request: SignedRequest) -> None:
    provided = _require_header(request, request.header).strip().removeprefix("sha256=")
    _require_match(_digest(request.secret, request.body), [provided])


def _github(request: SignedRequest) -> None:
    provided = _require_header(request, "X-Hub-Signature-256").partition("sha256=")[2]
    _require_match(_digest(request.secret, request.body), [provided])


def _stripe(request: SignedRequest) -> None:
    pairs = [part.strip().partition("=") for part in _require_header(request, "Stripe-Signature").split(",")]
    timestamp = next((value for name, _, value in pairs if name == "t"), "")
    signed = timestamp.encode() + b"." + request.body
    _require_match(_digest(request.secret, signed), (value for name, _, value in pairs if name == "v1"))
    _require_recent(timestamp, request.now)


def _slack(request: SignedRequest) -> None:
    timestamp = _require_header(request, "X-Slack-Request-Timestamp")
    provided = _require_header(request, "X-Slack-Signature").partition("v0=")[2]
    signed = b"v0:" + timestamp.encode() + b":" + request.body
    _require_match(_digest(request.secret, signed), [provided])
    _require_recent(timestamp, request.now)


def _standard_webhooks(request: SignedRequest) -> None:
    """Accept the three headers with the prefix `svix-` too: the standard comes from Svix."""
    prefix = "webhook" if request.headers.single("webhook-id") is not None else "svix"
    id, timestamp, signatures = (
        _require_header(request, f"{prefix}-{part}") for part in ("id", "timestamp", "signature")
    )
    key = _standard_key(request.secret)
    if key is None:
        raise _invalid_signature()
    signed = f"{id}.{timestamp}.".encode("latin-1") + request.body
    provided = [text.removeprefix("v1,") for text in signatures.split() if text.startswith("v1,")]
    _require_match(_digest(key, signed), provided)
    _require_recent(timestamp, request.now)


def _token(request: SignedRequest) -> None:
    provided = _require_header(request, request.header).strip().encode("latin-1")
    if request.header.lower() == "authorization":
        provided = provided.removeprefix(b"Bearer ")
    # Hashes have equal lengths, so the comparison does not reveal the length of the token.
    if not hmac.compare_digest(hashlib.sha256(provided).digest(), hashlib.sha256(request.secret).digest()):
        raise _invalid_signature()


_SCHEMES: dict[VerificationType, Callable[[SignedRequest], None]] = {
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


def _require_header(request: SignedRequest, header: str) -> str:
    value = request.headers.single(header)
    if not value:
        raise SignatureRefused(
            "missing_signature", f"The signature is missing. Send the header {header} exactly once."
        )
    return value


def _digest(key: bytes, signed: bytes) -> bytes:
    return hmac.new(key, signed, hashlib.sha256).digest()


def _require_match(expected: bytes, provided: Iterable[str]) -> None:
    """Accept any of several signatures: senders send more than one while they rotate their secret."""
    candidates = list(provided)[:_MAX_SIGNATURES]
    matches = [hmac.compare_digest(expected, _decode_digest(text)) for text in candidates]
    if not any(matches):
        raise _invalid_signature()


def _decode_digest(provided: str) -> bytes:
    """Decode a digest in hexadecimal or base64; return empty bytes for anything else."""
    if _HEX_DIGEST.fullmatch(provided):
        return bytes.fromhex(provided)
    try:
        return base64.b64decode(provided, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _require_recent(timestamp: str, now: float) -> None:
    if not _SECONDS.fullmatch(timestamp) or abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        raise SignatureRefused(
            "signature_expired", f"The timestamp is more than {TOLERANCE_SECONDS} seconds away from now."
        )


def _standard_key(secret: bytes) -> bytes | None:
    """Return the key that a Standard Webhooks secret encodes, or None."""
    try:
        return base64.b64decode(secret.removeprefix(_SECRET_PREFIX.encode()), validate=True) or None
    except (binascii.Error, ValueError):
        return None


def _invalid_signature() -> SignatureRefused:
    return SignatureRefused("invalid_signature", "The signature does not match the payload.")
