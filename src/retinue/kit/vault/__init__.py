"""The vault: which keys there are, and what happens when the root key is not the right one.

The operations are in modules of their own: `rotation`, `root_rotation`, `signing`, `refresh`, `status`.
"""

from retinue.kit.vault.key_files import KEY_FILE, root_keys
from retinue.kit.vault.models import InstanceKey, KeyPurpose, KeyState, VaultKey
from retinue.kit.vault.opening import Vault, open_vault
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
