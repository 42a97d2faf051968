"""The sender's identifier of a delivery, used to recognize duplicates."""

from typing import Any

from retinue.incoming.models import IncomingWebhook, VerificationType
from retinue.incoming.request_content import RequestHeaders
from retinue.kit.ids import hash_token

_HEADERS: dict[VerificationType, tuple[str, ...]] = {
    VerificationType.github: ("X-GitHub-Delivery",),
    VerificationType.standard_webhooks: ("webhook-id", "svix-id"),
}
_FIELDS: dict[VerificationType, str] = {VerificationType.stripe: "id", VerificationType.slack: "event_id"}


def delivery_key(hook: IncomingWebhook, headers: RequestHeaders, payload: Any) -> str | None:
    """Return the hash of the first that is present: `dedupe_header`, the scheme's id, `Idempotency-Key`."""
    kind = hook.verification_type
    for header in (hook.dedupe_header, *_HEADERS.get(kind, ())):
        if header and (value := headers.single(header)):
            return _key("header", value)
    field = _FIELDS.get(kind)
    value = payload.get(field) if field and isinstance(payload, dict) else None
    if isinstance(value, str) and value:
        return _key("body", value)
    idempotency_key = headers.single("Idempotency-Key")
    return _key("idempotency", idempotency_key) if idempotency_key else None


def _key(source: str, value: str) -> str:
    return hash_token(f"{source}:{value}")
