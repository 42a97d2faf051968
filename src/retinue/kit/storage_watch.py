"""Watches whether there is room to write."""

import asyncio
import tempfile
from pathlib import Path

import structlog

from retinue.kit.db.databases import is_postgres, sqlite_path
from retinue.kit.settings import Settings

log = structlog.get_logger("retinue.health")

# What one request may write: rows, their index entries and a journal.
_NEEDED_BYTES = 1024 * 1024
_MEASURE_SECONDS = 5.0
# A database elsewhere tells only whoever writes that its disk is full.
_REFUSAL_SECONDS = 30.0


class StorageWatch:
    """Whether a write would find room: in the data directory, beside the database file, in the database.

    Measured by writing, because free blocks say nothing of quotas or of a file system that became read-only.
    """

    def __init__(self, settings: Settings) -> None:
        self._folders = written_folders(settings)
        self._is_full = False
        self._measured_at = -_MEASURE_SECONDS
        self._refused_at = -_REFUSAL_SECONDS
        self._turn = asyncio.Lock()

    def note_refusal(self) -> None:
        """Remember that the database refused a write for lack of room."""
        self._refused_at = asyncio.get_running_loop().time()

    async def is_full(self) -> bool:
        """Return what was measured within the last seconds; probes ask often."""
        now = asyncio.get_running_loop().time
        async with self._turn:
            if now() - self._measured_at >= _MEASURE_SECONDS:
                was_full = self._is_full
                self._is_full = await asyncio.to_thread(self._lacks_room)
                self._measured_at = now()
                if self._is_full and not was_full:
                    log.error("storage_full", folders=sorted(map(str, self._folders)))
        return self._is_full or now() - self._refused_at < _REFUSAL_SECONDS

    def _lacks_room(self) -> bool:
        return any(not has_room(folder) for folder in self._folders)


def written_folders(settings: Settings) -> set[Path]:
    """Return the data directory and, with SQLite, the folder of the database."""
    folders = {settings.data_dir}
    if not is_postgres(settings):
        folders.add(sqlite_path(settings).parent)
    return folders


def has_room(folder: Path) -> bool:
    """Return whether a megabyte can be written there."""
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            # Written, not reserved: not every system can reserve room.
            return file.write(bytes(_NEEDED_BYTES)) == _NEEDED_BYTES
    except FileNotFoundError:
        return True  # nothing was written there yet
    except OSError:
        return False
