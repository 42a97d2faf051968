"""The files that a backup takes from the data dir, after the database was copied."""

import asyncio
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from retinue.cli.backups.archive import sum_of
from retinue.cli.backups.manifest import FOLDERS, ArchivedFile
from retinue.kit.db.database_content import StoredBlob
from retinue.kit.db.sqlite_copy import copy_database, is_sqlite
from retinue.kit.settings import Settings

_COMPANIONS = ("-wal", "-shm", "-journal")
_MAX_CONCURRENT_LOOKUPS = 16


class CollectedFiles(msgspec.Struct, kw_only=True):
    """The entries of the manifest, where to read each, and the blobs that are lost."""

    entries: list[ArchivedFile] = []
    paths: dict[str, Path] = {}
    missing: list[str] = []

    def add(self, name: str, path: Path) -> None:
        size, sha256 = sum_of(path)
        self.entries.append(ArchivedFile(name, size, sha256))
        self.paths[name] = path


async def collect_files(settings: Settings, blobs: Iterable[StoredBlob], staging: Path) -> CollectedFiles:
    """Collect the blobs that the copied database names, and the files of tools."""
    found = CollectedFiles()
    if settings.files_url:
        await _look_up(settings, blobs, found)
    else:
        await asyncio.to_thread(_add_blobs, settings.data_dir, blobs, found)
    await asyncio.to_thread(_add_tool_files, settings.data_dir, staging, found)
    return found


def blob_path(blob: StoredBlob) -> str:
    return f"files/{blob.tenant_id}/{blob.id}"


def _add_blobs(data_dir: Path, blobs: Iterable[StoredBlob], files: CollectedFiles) -> None:
    for blob in blobs:
        name = blob_path(blob)
        try:
            files.add(name, data_dir / name)
        except FileNotFoundError:
            files.missing.append(name)


async def _look_up(settings: Settings, blobs: Iterable[StoredBlob], files: CollectedFiles) -> None:
    """List the objects of a bucket with the sums of their rows; the bucket itself is not copied."""
    from retinue.adapters.blobs import BlobMissing, blobs_for

    store = blobs_for(settings)
    slots = asyncio.Semaphore(_MAX_CONCURRENT_LOOKUPS)

    async def look_up(blob: StoredBlob) -> None:
        async with slots:
            try:
                is_whole = await store.size(f"{blob.tenant_id}/{blob.id}") == blob.bytes
            except BlobMissing:
                is_whole = False
        if not is_whole:
            files.missing.append(blob_path(blob))

    try:
        async with asyncio.TaskGroup() as lookups:
            for blob in blobs:
                files.entries.append(ArchivedFile(blob_path(blob), blob.bytes, blob.sha256))
                lookups.create_task(look_up(blob))
    finally:
        await store.close()
    files.missing.sort()


def _add_tool_files(data_dir: Path, staging: Path, files: CollectedFiles) -> None:
    for folder in FOLDERS:
        if folder == "files":
            continue
        for path in _regular_files(data_dir / folder):
            name = path.relative_to(data_dir).as_posix()
            if folder == "databases" and is_sqlite(path):
                # A tool may be writing to it, as the server writes to its own.
                copy = staging / f"tool-{len(files.entries)}.sqlite"
                copy_database(path, copy)
                files.add(name, copy)
            elif folder != "databases" or not name.endswith(_COMPANIONS):
                files.add(name, path)


def _regular_files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder in order; links are left out, for they may lead anywhere."""
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(parent, name)
            if path.is_file() and not path.is_symlink():
                yield path
