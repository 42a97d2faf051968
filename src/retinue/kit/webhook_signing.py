"""Webhook signatures: our own header and the Standard Webhooks headers, made with one secret."""

import base64
import hashlib
import hmac
import secrets

SECRET_PREFIX = "whsec_"  # noqa: S105  the form of a secret, not one

# Minimum delay before each of the seven attempts.
ATTEMPT_DELAYS_SECONDS = (0, 60, 300, 1_800, 7_200, 28_800, 86_400)


def new_signing_secret() -> str:
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def signature_headers(
    secret: str, *, event_id: str, timestamp: int, body: bytes, previous: str | None = None
) -> dict[str, str]:
    """Return the signature headers; `previous` is the old secret during a rotation's grace period."""
    standard = [_standard_webhooks_signature(secret, event_id, timestamp, body)]
    headers = {
        "X-Service-Timestamp": str(timestamp),
        "X-Service-Signature": _service_signature(secret, timestamp, body),
        "webhook-id": event_id,
        "webhook-timestamp": str(timestamp),
    }
    if previous is not None:
        headers["X-Service-Signature-Previous"] = _service_signature(previous, timestamp, body)
        standard.append(_standard_webhooks_signature(previous, event_id, timestamp, body))
    headers["webhook-signature"] = " ".join(standard)
    return headers


def _service_signature(secret: str, timestamp: int, body: bytes) -> str:
    """Sign with the whole secret as text."""
    return "sha256=" + hmac.new(secret.encode(), b"%d.%b" % (timestamp, body), hashlib.sha256).hexdigest()


def _standard_webhooks_signature(secret: str, event_id: str, timestamp: int, body: bytes) -> str:
    """Sign with the decoded bytes of a generated secret, or with the text of a custom one."""
    ours = secret.startswith(SECRET_PREFIX)
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX)) if ours else secret.encode()
    signed = hmac.new(key, b"%b.%d.%b" % (event_id.encode(), timestamp, body), hashlib.sha256).digest()
    return "v1," + base64.b64encode(signed).decode()
