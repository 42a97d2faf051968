"""Notifications to any HTTP endpoint: JSON, signed like a webhook if there is a secret."""

import base64
import binascii
from urllib.parse import parse_qsl, urlsplit

from retinue.adapters.api_client import ApiBody
from retinue.adapters.notifiers.client import NotifierClient
from retinue.adapters.notifiers.notifier import NotificationMessage, SendContext, SendReceipt
from retinue.kit import hop_count
from retinue.kit.egress import Egress
from retinue.kit.json_types import JsonObject
from retinue.kit.webhook_signing import SECRET_PREFIX, signature_headers

ID, NAME = "http", "The endpoint"
METHODS = ("POST", "PUT", "PATCH", "GET", "DELETE")
_MAX_DETAIL_LENGTH = 100
# Headers whose values are not secret.
_NON_SECRET_HEADERS = frozenset({"accept", "accept-language", "content-type", "user-agent"})


async def send(context: SendContext, config: JsonObject, message: NotificationMessage) -> SendReceipt:
    client = NotifierClient(context, NAME, *_secrets(config))
    content = client.as_json(
        {
            "id": message.id,
            "recipient": message.recipient,
            "title": message.subject,
            "message": message.text,
            "html": message.html,
            "data": message.data,
        }
    )
    # The configured headers may set another content type.
    body = ApiBody(content, content_type="")
    headers = _headers(context, config, message, content)
    response = await client.send(config["method"], config["url"], body, headers)
    if not response.is_success:
        client.refuse(response, response.explanation)
    return SendReceipt(detail=f"answered {response.status}"[:_MAX_DETAIL_LENGTH])


def check(config: JsonObject, _egress: Egress | None) -> dict[str, str]:
    secret = str(config.get("secret") or "")
    if not secret.startswith(SECRET_PREFIX):
        return {}
    try:
        base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except binascii.Error:
        return {"secret": f"must be base64 after {SECRET_PREFIX}"}
    return {}


def _headers(
    context: SendContext, config: JsonObject, message: NotificationMessage, content: bytes
) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Idempotency-Key": message.id}
    custom = config.get("headers") or {}
    custom_names = {name.lower() for name in custom}
    headers = {name: value for name, value in headers.items() if name.lower() not in custom_names} | custom
    headers[hop_count.HOPS_HEADER] = str(message.hops)
    if secret := config.get("secret"):
        timestamp = int(context.clock.time())
        headers |= signature_headers(secret, event_id=message.id, timestamp=timestamp, body=content)
    return headers


def _secrets(config: JsonObject) -> list[str]:
    """Return the values to redact: the secret, custom headers and the query of the address."""
    headers = [
        value
        for name, value in (config.get("headers") or {}).items()
        if name.lower() not in _NON_SECRET_HEADERS
    ]
    query = [value for _, value in parse_qsl(urlsplit(config["url"]).query)]
    # "Bearer abc" may be echoed without its first word.
    words = [word for value in headers for word in value.split()]
    return [
        str(config.get("secret") or ""),
        *(value for value in (*headers, *words, *query) if len(value) >= 8),
    ]
