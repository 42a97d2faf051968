"""The root key as a file of the data dir, and how it is replaced without a moment in which it can be lost."""

from pathlib import Path

from retinue.kit.crypto import RootKey
from retinue.kit.durable import replace_private, sync_folder
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
        replace_private(self._next, f"{root.encoded().reveal()}\n".encode())

    def has_next(self, root: RootKey) -> bool:
        return self._read_next() == root

    def promote(self, root: RootKey) -> None:
        """The database's key is `root`: if it is still the next one, it becomes the current one."""
        if self.has_next(root):
            self._next.replace(self._current)
            sync_folder(self._current.parent)

    def _read_next(self) -> RootKey | None:
        return RootKey.load_or_create(self._next, may_create=False)


def root_keys(settings: Settings, *, may_create: bool) -> list[RootKey]:
    """The root key of the environment, or those of the data dir; malformed and sample keys are refused."""
    if settings.master_key is not None:
        return [RootKey.parse(settings.master_key)]
    return KeyFiles(settings.data_dir).read(may_create=may_create)
