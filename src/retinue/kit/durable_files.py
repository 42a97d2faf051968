"""Private files that survive a power cut: each is complete and on disk, or does not exist."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_FOR_OTHERS = 0o007


@contextmanager
def private_umask() -> Iterator[None]:
    """Make files created by this process and its children accessible to their owner only."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def make_private_folder(folder: Path) -> None:
    """Create a folder and its missing parents, accessible to their owner only."""
    # `mkdir` with `parents` applies the mode to the last folder only.
    for each in (*reversed(folder.parents), folder):
        if not each.exists():
            each.mkdir(mode=0o700, exist_ok=True)


def make_private_file(path: Path) -> None:
    """Create an empty file for its owner only; revoke public access to an existing one."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        # Closing a second handle would release this process's locks on the file.
        revoke_public_access(path)


def revoke_public_access(path: Path) -> None:
    """Remove all permissions of others; those of the group are the operator's choice."""
    # The file may have been deleted, or belong to another user.
    with suppress(FileNotFoundError, PermissionError):
        mode = path.stat().st_mode
        if mode & _FOR_OTHERS:
            path.chmod(mode & ~_FOR_OTHERS & 0o777)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk; until then a power cut may undo a rename."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace_private_file(path: Path, content: bytes) -> None:
    """Atomically replace a file by one that only its owner may read."""
    draft = _draft(path, content)
    try:
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def create_private_file(path: Path, content: bytes) -> None:
    """Create a file that only its owner may read; keep one that another process created first."""
    make_private_folder(path.parent)
    draft = _draft(path, content)
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    finally:
        draft.unlink()
    sync_folder(path.parent)


def _draft(path: Path, content: bytes) -> Path:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return draft
