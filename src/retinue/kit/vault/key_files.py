"""The root key as a file in the data directory, replaced so that it cannot be lost at any moment."""

from pathlib import Path

from retinue.kit.crypto import RootKey
from retinue.kit.durable_files import replace_private_file, sync_folder
from retinue.kit.settings import Settings

KEY_FILE = "master.key"


class KeyFiles:
    """`master.key`, and `master.key.next` while the database moves to another key.

    The next key is written before the database changes and replaces the current one afterwards, so one of
    the two files always matches the database. Moving files requires the ring lock (`lock_ring`).
    """

    def __init__(self, folder: Path) -> None:
        self._current = folder / KEY_FILE
        self._next = folder / (KEY_FILE + ".next")

    def read(self, *, may_create: bool) -> list[RootKey]:
        current = RootKey.load_or_create(self._current, may_create=may_create and not self._next.exists())
        return [key for key in (current, self._read_next()) if key is not None]

    def write_next(self, root: RootKey) -> None:
        replace_private_file(self._next, f"{root.encoded().reveal()}\n".encode())

    def has_next(self, root: RootKey) -> bool:
        return self._read_next() == root

    def promote(self, root: RootKey) -> None:
        """Make `root`, the key that matches the database, the current key if it is still the next one."""
        if self.has_next(root):
            self._next.replace(self._current)
            sync_folder(self._current.parent)

    def _read_next(self) -> RootKey | None:
        return RootKey.load_or_create(self._next, may_create=False)


def root_keys(settings: Settings, *, may_create: bool) -> list[RootKey]:
    """Return the root key in the environment, else those in the data directory; refuse invalid keys."""
    if settings.master_key is not None:
        return [RootKey.parse(settings.master_key)]
    return KeyFiles(settings.data_dir).read(may_create=may_create)
