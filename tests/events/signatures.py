"""Signatures as a receiver checks them."""

import base64
import hashlib
import hmac

from tests.tools.servers.rest_api import Seen


def is_signed(seen: Seen, secret: str, now: float, *, header: str = "X-Service-Signature") -> bool:
    """Return whether the request is signed, as a receiver checks it with the secret alone."""
    timestamp = seen.headers["X-Service-Timestamp"]
    if abs(int(timestamp) - now) > 300:
        return False
    signed = hmac.new(secret.encode(), f"{timestamp}.".encode() + seen.body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(f"sha256={signed}", seen.headers.get(header, ""))


def is_standard(seen: Seen, secret: str) -> bool:
    """Return the same by the rules of Standard Webhooks."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    said = f"{seen.headers['webhook-id']}.{seen.headers['webhook-timestamp']}.".encode() + seen.body
    signed = "v1," + base64.b64encode(hmac.new(key, said, hashlib.sha256).digest()).decode()
    return signed in seen.headers["webhook-signature"].split(" ")
