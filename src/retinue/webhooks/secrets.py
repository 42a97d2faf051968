"""The secrets a webhook signs with: sealed together, and opened once for as long as they stay the same."""

from collections import OrderedDict

import msgspec

from retinue.kit.clock import Instant
from retinue.kit.crypto import KeyRing, Place, Sealed
from retinue.kit.redaction import Redactor
from retinue.kit.webhook_signing import SECRET_PREFIX
from retinue.webhooks.models import Webhook

_MOST_KEPT = 2048
_SHOWN = len(SECRET_PREFIX) + 4
# Shorter header values are words like `en` or `true` that would black out ordinary text.
_SHORTEST_HIDDEN = 8


class Secrets(msgspec.Struct, frozen=True, array_like=True):
    current: str
    previous: str | None = None

    def sealed(self) -> Sealed:
        return Sealed.of(msgspec.json.encode(self))

    @property
    def shown(self) -> str:
        """What of the secret anyone may see, to tell it from another."""
        return self.current[:_SHOWN]


class Opened(msgspec.Struct, frozen=True):
    """What a delivery needs of its webhook, opened and decoded."""

    secrets: Secrets
    headers: dict[str, str]
    redactor: Redactor


class Vaulted(msgspec.Struct, frozen=True):
    """The same as it is stored."""

    tenant_id: str
    webhook_id: str
    secrets: bytes
    headers: str


_kept: OrderedDict[Vaulted, Opened] = OrderedDict()


def open_secrets(ring: KeyRing, webhook: Webhook) -> Secrets:
    return msgspec.json.decode(webhook.secrets.open(ring), type=Secrets)


def opened(ring: KeyRing, stored: Vaulted) -> Opened:
    """Opening costs more than signing, so what was opened last is kept; whatever changes is opened anew."""
    found = _kept.get(stored)
    if found is None:
        found = _kept[stored] = _open(ring, stored)
        if len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    else:
        _kept.move_to_end(stored)
    return found


def _open(ring: KeyRing, stored: Vaulted) -> Opened:
    place = Place(
        tenant_id=stored.tenant_id,
        table=Webhook.__table__.name,
        record_id=stored.webhook_id,
        field="secrets",
    )
    secrets = msgspec.json.decode(Sealed.stored(stored.secrets, place).open(ring), type=Secrets)
    return with_headers(secrets, msgspec.json.decode(stored.headers, type=dict[str, str]))


def with_headers(secrets: Secrets, headers: dict[str, str]) -> Opened:
    hidden = [value for value in headers.values() if len(value) >= _SHORTEST_HIDDEN]
    return Opened(secrets, headers, Redactor([secrets.current, *hidden, *filter(None, [secrets.previous])]))


def previous_of(secrets: Secrets, until: Instant | None, now: Instant) -> str | None:
    """The secret before, while its grace lasts."""
    return secrets.previous if until is not None and now < until else None
