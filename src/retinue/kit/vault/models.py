"""The stored key ring and the instance's own keys."""

from enum import StrEnum

from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import Record, table


class KeyState(StrEnum):
    """Every process learns a `next` key before any uses it; an `old` key only decrypts."""

    next = "next"
    active = "active"
    old = "old"


@table("vault_keys", prefix="vk", unique=[("version",)])
class VaultKey(Record, kw_only=True):
    """One version of the key from which tenant keys are derived, wrapped by the root key."""

    version: int
    wrapped: bytes
    root_fingerprint: str
    state: KeyState = KeyState.active


class KeyPurpose(StrEnum):
    signing = "signing"
    pepper = "pepper"


@table("instance_keys", prefix="key", indexes=[("purpose", "state")])
class InstanceKey(Record, kw_only=True):
    """A key of the instance itself; an old signing key verifies until `retire_at`."""

    purpose: KeyPurpose
    secret: Sealed
    state: KeyState = KeyState.active
    retire_at: Instant | None = None
