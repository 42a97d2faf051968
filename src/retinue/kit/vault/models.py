"""The key ring and the instance's own keys, as rows."""

from enum import StrEnum

from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import Record, table


class KeyState(StrEnum):
    """A `next` key is handed to every process before any of them uses it; an `old` one only opens."""

    next = "next"
    active = "active"
    old = "old"


@table("vault_keys", prefix="vk", unique=[("version",)])
class VaultKey(Record, kw_only=True):
    """One version of the key that wraps every tenant's keys, itself wrapped by the root key."""

    version: int
    wrapped: bytes
    root_fingerprint: str
    state: KeyState = KeyState.active


class KeyPurpose(StrEnum):
    signing = "signing"
    pepper = "pepper"


@table("instance_keys", prefix="key", indexes=[("purpose", "state")])
class InstanceKey(Record, kw_only=True):
    """A key the instance itself uses; an old signing key still verifies until `retire_at`."""

    purpose: KeyPurpose
    secret: Sealed
    state: KeyState = KeyState.active
    retire_at: Instant | None = None
