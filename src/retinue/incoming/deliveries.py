"""What the sender calls a delivery: the same name again is the same delivery again."""

from typing import Any

from retinue.incoming.models import IncomingWebhook, VerificationType
from retinue.incoming.sent import Headers
from retinue.kit.ids import hash_token

_HEADERS: dict[VerificationType, tuple[str, ...]] = {
    VerificationType.github: ("X-GitHub-Delivery",),
    VerificationType.standard_webhooks: ("webhook-id", "svix-id"),
}
_FIELDS: dict[VerificationType, str] = {VerificationType.stripe: "id", VerificationType.slack: "event_id"}


def delivery_key(hook: IncomingWebhook, headers: Headers, payload: Any) -> str | None:
    """The hash of the first there is: the webhook's own header, the scheme's name, an idempotency key."""
    kind = hook.verification_type
    for header in (hook.dedupe_header, *_HEADERS.get(kind, ())):
        if header and (value := headers.one(header)):
            return _key("header", value)
    field = _FIELDS.get(kind)
    value = payload.get(field) if field and isinstance(payload, dict) else None
    if isinstance(value, str) and value:
        return _key("body", value)
    named = headers.one("Idempotency-Key")
    return _key("idempotency", named) if named else None


def _key(source: str, value: str) -> str:
    return hash_token(f"{source}:{value}")
