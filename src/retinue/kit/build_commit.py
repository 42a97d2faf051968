"""The commit that this code was built from, as `/health` shows it."""

import functools
import re
from pathlib import Path

import retinue

COMMIT_FILE = "commit.txt"
"""Written into the package by its build (`packaging/console_build.py`)."""
_HASH = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


@functools.cache
def build_commit() -> str | None:
    """Return the commit of the checkout, else that of the build; None if neither is known. Read once."""
    package = Path(retinue.__file__).parent
    return read_checkout(package.parent.parent) or read_packaged(package)


def read_packaged(package: Path) -> str | None:
    return _hash_in(_read(package / COMMIT_FILE))


def read_checkout(root: Path) -> str | None:
    """Return the commit of a checkout; its files are read, because git itself need not be installed."""
    git = root / ".git"
    if git.is_file():  # a worktree: the file says where the rest is
        git = root / _read(git).removeprefix("gitdir:").strip()
    head = _read(git / "HEAD").strip()
    if not head.startswith("ref:"):
        return _hash_in(head)
    name = head.removeprefix("ref:").strip()
    shared = git / (_read(git / "commondir").strip() or ".")
    packed = (line.split() for line in _read(shared / "packed-refs").splitlines())
    return (
        _hash_in(_read(git / name))
        or _hash_in(_read(shared / name))
        or next((_hash_in(line[0]) for line in packed if line[1:] == [name]), None)
    )


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def _hash_in(text: str) -> str | None:
    found = text.strip()
    return found if _HASH.fullmatch(found) else None
