"""Files that are whole and on disk, or not there: what survives a power cut."""

import os
import secrets
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable: a rename is lost with the power until then."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace_private(path: Path, content: bytes) -> None:
    """Replace a file by one that only its owner may read; it is the old one or the new one, never half."""
    draft = _draft(path, content)
    try:
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def create_private(path: Path, content: bytes) -> None:
    """A file that only its owner may read; one that another process made first is kept."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
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
