"""Signing secrets of webhooks: encrypted together, and cached once they are decrypted."""

from collections import OrderedDict

import msgspec

from retinue.kit.clock import Instant
from retinue.kit.crypto import KeyRing, Sealed, SealLocation
from retinue.kit.text.redaction import Redactor
from retinue.kit.webhook_signing import SECRET_PREFIX
from retinue.webhooks.headers import decode_headers
from retinue.webhooks.models import Webhook

_MAX_CACHED = 2048
_PREFIX_LENGTH = len(SECRET_PREFIX) + 4
# Redacting shorter header values such as `en` or `true` would black out ordinary text.
_MIN_REDACTED_LENGTH = 8


class WebhookSecrets(msgspec.Struct, frozen=True, array_like=True):
    current: str
    previous: str | None = None

    def sealed(self) -> Sealed:
        return Sealed.of(msgspec.json.encode(self))

    @property
    def prefix(self) -> str:
        """The first characters, which tell the secret from others."""
        return self.current[:_PREFIX_LENGTH]


class OpenedWebhook(msgspec.Struct, frozen=True):
    """The secrets and headers of a webhook, decrypted."""

    secrets: WebhookSecrets
    headers: dict[str, str]
    redactor: Redactor


class SealedWebhook(msgspec.Struct, frozen=True):
    """The secrets and headers of a webhook, as stored."""

    tenant_id: str
    webhook_id: str
    secrets: bytes
    headers: str
    header_values: bytes | None


_cache: OrderedDict[SealedWebhook, OpenedWebhook] = OrderedDict()


def open_secrets(ring: KeyRing, webhook: Webhook) -> WebhookSecrets:
    return msgspec.json.decode(webhook.secrets.open(ring), type=WebhookSecrets)


def open_webhook(ring: KeyRing, stored: SealedWebhook) -> OpenedWebhook:
    """Decrypt a webhook, through a cache keyed by the stored values: decrypting costs more than signing."""
    opened = _cache.get(stored)
    if opened is None:
        opened = _cache[stored] = _open(ring, stored)
        if len(_cache) > _MAX_CACHED:
            _cache.popitem(last=False)
    else:
        _cache.move_to_end(stored)
    return opened


def _open(ring: KeyRing, stored: SealedWebhook) -> OpenedWebhook:
    secrets = msgspec.json.decode(_open_field(ring, stored, "secrets", stored.secrets), type=WebhookSecrets)
    headers: bytes | str = stored.headers
    if stored.header_values is not None:
        headers = _open_field(ring, stored, "header_values", stored.header_values)
    return opened_with_headers(secrets, decode_headers(headers))


def _open_field(ring: KeyRing, stored: SealedWebhook, field: str, sealed: bytes) -> bytes:
    location = SealLocation(stored.tenant_id, Webhook.__table__.name, stored.webhook_id, field)
    return Sealed.stored(sealed, location).open(ring)


def opened_with_headers(secrets: WebhookSecrets, headers: dict[str, str]) -> OpenedWebhook:
    redacted_values = [value for value in headers.values() if len(value) >= _MIN_REDACTED_LENGTH]
    return OpenedWebhook(
        secrets, headers, Redactor([secrets.current, *redacted_values, *filter(None, [secrets.previous])])
    )


def active_previous_secret(secrets: WebhookSecrets, until: Instant | None, now: Instant) -> str | None:
    """Return the previous secret during its grace period."""
    return secrets.previous if until is not None and now < until else None
