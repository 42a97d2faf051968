"""Blobs as files, in one folder per tenant."""

import asyncio
import contextlib
import errno
import os
import re
import secrets
from collections.abc import AsyncGenerator
from pathlib import Path

from retinue.adapters.blobs.store import BlobMissing, is_key, require_key
from retinue.kit.durable_files import sync_folder

CHUNK_BYTES = 256 * 1024

_DRAFT_NAME = re.compile(r"\.[a-z0-9_]+\.[0-9a-f]{16}")


class LocalBlobs:
    def __init__(self, root: Path) -> None:
        self._root = root

    async def put(self, key: str, source: Path) -> None:
        await asyncio.to_thread(_move_into_store, source, self._path(key))

    async def open(self, key: str, offset: int = 0, length: int | None = None) -> AsyncGenerator[bytes, None]:
        left = max(0, await self.size(key) - offset)
        return _iter_chunks(self._path(key), offset, left if length is None else min(left, length))

    async def size(self, key: str) -> int:
        path = self._path(key)
        try:
            return (await asyncio.to_thread(path.lstat)).st_size
        except FileNotFoundError:
            raise BlobMissing from None

    async def delete(self, key: str) -> None:
        await asyncio.to_thread(_remove, self._path(key))

    async def stored_before(self, moment: float) -> AsyncGenerator[str, None]:
        for folder in await asyncio.to_thread(_folders, self._root):
            for key in await asyncio.to_thread(_keys_before, folder, moment):
                yield key

    async def discard_unfinished(self, moment: float) -> None:
        for folder in await asyncio.to_thread(_folders, self._root):
            await asyncio.to_thread(_discard_drafts, folder, moment)

    async def close(self) -> None:
        """Do nothing: there are no resources to release."""

    def _path(self, key: str) -> Path:
        return self._root / require_key(key)


async def _iter_chunks(path: Path, offset: int, length: int) -> AsyncGenerator[bytes, None]:
    try:
        handle = await asyncio.to_thread(os.open, path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        raise BlobMissing from None
    try:
        end = offset + length
        while offset < end:
            chunk = await asyncio.to_thread(os.pread, handle, min(CHUNK_BYTES, end - offset), offset)
            if not chunk:
                break
            yield chunk
            offset += len(chunk)
    finally:
        os.close(handle)


def _move_into_store(source: Path, target: Path) -> None:
    _make_folder(target.parent)
    handle = os.open(source, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        os.fchmod(handle, 0o600)
        os.fsync(handle)
        moved = _try_rename(source, target)
        if not moved:
            _copy(handle, target)
    finally:
        os.close(handle)
    sync_folder(target.parent)
    if not moved:
        source.unlink()


def _try_rename(source: Path, target: Path) -> bool:
    """Rename a file; return False if the two are on different file systems."""
    try:
        source.rename(target)
    except OSError as error:
        if error.errno == errno.EXDEV:
            return False
        raise
    return True


def _copy(handle: int, target: Path) -> None:
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            while chunk := os.read(handle, CHUNK_BYTES):
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        draft.rename(target)
    finally:
        draft.unlink(missing_ok=True)


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    sync_folder(folder.parent)


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except FileNotFoundError:
        return
    sync_folder(path.parent)


def _folders(root: Path) -> list[Path]:
    return [path for path in root.iterdir() if path.is_dir()] if root.is_dir() else []


def _keys_before(folder: Path, moment: float) -> list[str]:
    """Return the keys stored before a time; drafts and files that vanish meanwhile are skipped."""
    keys = []
    with os.scandir(folder) as entries:
        for entry in entries:
            key = f"{folder.name}/{entry.name}"
            with contextlib.suppress(FileNotFoundError):
                if is_key(key) and entry.stat(follow_symlinks=False).st_mtime < moment:
                    keys.append(key)
    return keys


def _discard_drafts(folder: Path, moment: float) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                if _DRAFT_NAME.fullmatch(entry.name) and entry.stat(follow_symlinks=False).st_mtime < moment:
                    Path(entry.path).unlink()
