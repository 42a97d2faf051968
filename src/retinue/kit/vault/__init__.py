"""The vault: which keys there are, and what happens when the root key is not the right one."""

from retinue.kit.vault.models import InstanceKey, KeyPurpose, KeyState, VaultKey
from retinue.kit.vault.opening import Vault, open_vault, read_keys, root_key

__all__ = [
    "InstanceKey",
    "KeyPurpose",
    "KeyState",
    "Vault",
    "VaultKey",
    "open_vault",
    "read_keys",
    "root_key",
]
