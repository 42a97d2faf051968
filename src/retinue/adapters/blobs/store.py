"""What every blob store does; a key is `<tenant>/<id>`."""

import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Protocol

from retinue.kit.errors import NotFound, RetinueError, Unavailable

_KEY = re.compile(r"[a-z0-9_]+/[a-z0-9_]+")


class BlobMissing(NotFound):
    """The file's content is not there."""

    code = "file_not_found"


class StorageUnavailable(Unavailable):
    """The file storage does not answer as it should; try again in a moment."""


class BadBlobKey(RetinueError):
    """A file's storage key is malformed."""


class Blobs(Protocol):
    async def put(self, key: str, source: Path) -> None:
        """Takes the file over: it is durable under its key before this returns, and gone from `source`."""
        ...

    async def open(self, key: str, offset: int = 0, length: int | None = None) -> AsyncGenerator[bytes, None]:
        """The content in pieces; a missing blob is refused here, not while reading."""
        ...

    async def size(self, key: str) -> int: ...

    async def delete(self, key: str) -> None:
        """Removes the bytes; removing what is not there is no error."""
        ...

    def stored_before(self, moment: float) -> AsyncGenerator[str, None]:
        """The keys of everything stored before this Unix time, in no order."""
        ...

    async def discard_unfinished(self, moment: float) -> None:
        """Removes what was begun before this Unix time and cut off, such as by a crash."""
        ...

    async def close(self) -> None: ...


def is_key(text: str) -> bool:
    return _KEY.fullmatch(text) is not None


def checked(key: str) -> str:
    if not is_key(key):
        raise BadBlobKey
    return key
