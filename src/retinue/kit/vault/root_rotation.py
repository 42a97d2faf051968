"""`retinue vault rotate-root`: wraps the key ring with another root key."""

import structlog

from retinue.kit.context.instance import Instance
from retinue.kit.crypto import RootKey
from retinue.kit.db.session import SystemDb
from retinue.kit.errors import InternalError
from retinue.kit.failpoints import failpoint
from retinue.kit.vault.key_files import KeyFiles, root_keys
from retinue.kit.vault.loader import require_matching_root
from retinue.kit.vault.models import VaultKey
from retinue.kit.vault.ring_lock import locked_ring

log = structlog.get_logger("retinue.vault")


class SameRootKey(InternalError):
    """The database already uses this master key. Choose another one."""


async def rotate_root(instance: Instance, new_root: RootKey) -> None:
    """Wrap the version keys with another root key, in one transaction; sealed values do not change.

    A root key in the data directory is replaced. A root key for the environment must be stored safely by the
    caller before the call.
    """
    files = None if instance.settings.master_key is not None else KeyFiles(instance.settings.data_dir)
    async with locked_ring(instance) as system:
        await _rewrap(system, instance, new_root, files)
        failpoint("rotate_root_before_commit")
    failpoint("rotate_root_after_commit")
    if files is not None:
        # Lock again: if another rotation has started since, the files must not be moved here.
        async with locked_ring(instance) as system:
            if {row.root_fingerprint for row in await system.all(VaultKey)} == {new_root.fingerprint}:
                files.promote(new_root)
    log.info("root_key_rotated", fingerprint=new_root.fingerprint)


async def _rewrap(system: SystemDb, instance: Instance, new_root: RootKey, files: KeyFiles | None) -> None:
    stored = await system.all(VaultKey)
    root = require_matching_root(root_keys(instance.settings, may_create=False), stored)
    if root == new_root:
        raise SameRootKey
    if files is not None:
        files.promote(root)
        files.write_next(new_root)
        failpoint("rotate_root_next_written")
    for row in stored:
        wrapped = new_root.wrap(root.unwrap(row.wrapped, row.version), row.version)
        await system.update(row, wrapped=wrapped, root_fingerprint=new_root.fingerprint)
