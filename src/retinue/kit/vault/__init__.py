"""The vault: the instance's keys, and the sealed state if the root key is missing or wrong.

Operations are in `rotation`, `root_rotation`, `signing_key_rotation`, `key_refresh` and `status`.
"""

from retinue.kit.vault.key_files import KEY_FILE, root_keys
from retinue.kit.vault.loader import Vault, open_vault
from retinue.kit.vault.models import InstanceKey, KeyPurpose, KeyState, VaultKey
from retinue.kit.vault.ring import LiveRing, RingStale

__all__ = [
    "KEY_FILE",
    "InstanceKey",
    "KeyPurpose",
    "KeyState",
    "LiveRing",
    "RingStale",
    "Vault",
    "VaultKey",
    "open_vault",
    "root_keys",
]
