"""`retinue vault rotate-root`: the same key ring under another root key."""

import structlog

from retinue.kit.crypto import RootKey
from retinue.kit.db.session import SystemDb
from retinue.kit.errors import Conflict
from retinue.kit.failpoints import failpoint
from retinue.kit.instance import Instance
from retinue.kit.vault.changing import changing_ring
from retinue.kit.vault.key_files import KeyFiles, root_keys
from retinue.kit.vault.models import VaultKey
from retinue.kit.vault.opening import matching_root

log = structlog.get_logger("retinue.vault")


class SameRootKey(Conflict):
    """The database is wrapped with this master key already."""


async def rotate_root(instance: Instance, new_root: RootKey) -> None:
    """Wrap the version keys with another root key, in one transaction; nothing that is sealed changes.

    A root key of the data dir is exchanged with it. One of the environment is the caller's to keep: it must
    be in safe hands before this is called.
    """
    files = None if instance.settings.master_key is not None else KeyFiles(instance.settings.data_dir)
    async with changing_ring(instance) as system:
        await _rewrap(system, instance, new_root, files)
        failpoint("rotate_root_before_commit")
    failpoint("rotate_root_after_commit")
    if files is not None:
        # Held again: another rotation may have begun since, and then the files are not ours to move.
        async with changing_ring(instance) as system:
            if {row.root_fingerprint for row in await system.all(VaultKey)} == {new_root.fingerprint}:
                files.promote(new_root)
    log.info("root_key_rotated", fingerprint=new_root.fingerprint)


async def _rewrap(system: SystemDb, instance: Instance, new_root: RootKey, files: KeyFiles | None) -> None:
    stored = await system.all(VaultKey)
    root = matching_root(root_keys(instance.settings, may_create=False), stored)
    if root == new_root:
        raise SameRootKey
    if files is not None:
        files.promote(root)
        files.write_next(new_root)
        failpoint("rotate_root_next_written")
    for row in stored:
        wrapped = new_root.wrap(root.unwrap(row.wrapped, row.version), row.version)
        await system.update(row, wrapped=wrapped, root_fingerprint=new_root.fingerprint)
