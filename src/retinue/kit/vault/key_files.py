"""The root key as a file of the data dir, and how it is replaced without a moment in which it can be lost."""

import os
import secrets
from pathlib import Path

from retinue.kit.crypto import RootKey
from retinue.kit.settings import Settings

KEY_FILE = "master.key"


class KeyFiles:
    """`master.key`, and beside it `master.key.next` while the database is moved over to another key.

    The next key is written before the database changes and takes its place after, so at any moment one of
    both is the database's key. Whoever moves files holds the ring (`hold_ring`).
    """

    def __init__(self, folder: Path) -> None:
        self._current = folder / KEY_FILE
        self._next = folder / (KEY_FILE + ".next")

    def read(self, *, may_create: bool) -> list[RootKey]:
        current = RootKey.load_or_create(self._current, may_create=may_create and not self._next.exists())
        return [key for key in (current, self._read_next()) if key is not None]

    def write_next(self, root: RootKey) -> None:
        _write_private(self._next, root.encoded().reveal() + "\n")

    def has_next(self, root: RootKey) -> bool:
        return self._read_next() == root

    def promote(self, root: RootKey) -> None:
        """The database's key is `root`: if it is still the next one, it becomes the current one."""
        if self.has_next(root):
            self._next.replace(self._current)
            _sync_folder(self._current.parent)

    def _read_next(self) -> RootKey | None:
        return RootKey.load_or_create(self._next, may_create=False)


def root_keys(settings: Settings, *, may_create: bool) -> list[RootKey]:
    """The root key of the environment, or those of the data dir; malformed and sample keys are refused."""
    if settings.master_key is not None:
        return [RootKey.parse(settings.master_key)]
    return KeyFiles(settings.data_dir).read(may_create=may_create)


def _write_private(path: Path, text: str) -> None:
    """Replace a file by one that only its owner may read; it is the old one or the new one, never half."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
