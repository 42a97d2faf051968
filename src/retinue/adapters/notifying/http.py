"""Any HTTP endpoint: the message as JSON, signed like a webhook when there is a secret."""

import base64
import binascii
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from retinue.adapters.notifying.sending import Message, Outside, Sent
from retinue.adapters.notifying.wire import Wire
from retinue.kit import hops
from retinue.kit.egress import Egress
from retinue.kit.webhook_signing import SECRET_PREFIX, signature_headers

ID, NAME = "http", "The endpoint"
METHODS = ("POST", "PUT", "PATCH", "GET", "DELETE")
_LONGEST_DETAIL = 100
# Values of these headers are no secrets.
_HARMLESS = frozenset({"accept", "accept-language", "content-type", "user-agent"})


async def send(outside: Outside, config: dict[str, Any], message: Message) -> Sent:
    wire = Wire(outside, NAME, *_secrets(config))
    content = wire.as_json(
        {
            "id": message.id,
            "recipient": message.recipient,
            "title": message.subject,
            "message": message.text,
            "html": message.html,
            "data": message.data,
        }
    )
    answer = await wire.call(
        config["method"], config["url"], content, _headers(outside, config, message, content)
    )
    if not answer.is_success:
        wire.refuse(answer, answer.fields.get("message") or answer.fields.get("error") or answer.text)
    return Sent(detail=f"answered {answer.status}"[:_LONGEST_DETAIL])


def check(config: dict[str, Any], _egress: Egress | None) -> dict[str, str]:
    secret = str(config.get("secret") or "")
    if not secret.startswith(SECRET_PREFIX):
        return {}
    try:
        base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except binascii.Error:
        return {"secret": f"after {SECRET_PREFIX} must stand base64"}
    return {}


def _headers(outside: Outside, config: dict[str, Any], message: Message, content: bytes) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Idempotency-Key": message.id}
    custom = config.get("headers") or {}
    given = {name.lower() for name in custom}
    headers = {name: value for name, value in headers.items() if name.lower() not in given} | custom
    headers[hops.HEADER] = str(message.hops)
    if secret := config.get("secret"):
        timestamp = int(outside.clock.time())
        headers |= signature_headers(secret, event_id=message.id, timestamp=timestamp, body=content)
    return headers


def _secrets(config: dict[str, Any]) -> list[str]:
    """The key, and what else may let somebody in: custom headers and the query of the address."""
    headers = [
        value for name, value in (config.get("headers") or {}).items() if name.lower() not in _HARMLESS
    ]
    query = [value for _, value in parse_qsl(urlsplit(config["url"]).query)]
    # "Bearer abc" may come back without its first word.
    words = [word for value in headers for word in value.split()]
    return [
        str(config.get("secret") or ""),
        *(value for value in (*headers, *words, *query) if len(value) >= 8),
    ]
