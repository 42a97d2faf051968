"""The protocol of all blob stores; a key is `<tenant>/<id>`."""

import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Protocol

from retinue.kit.errors import InternalError, NotFound, Unavailable

_KEY = re.compile(r"[a-z0-9_]+/[a-z0-9_]+")


class BlobMissing(NotFound):
    """The file's content is missing. Upload the file again."""

    code = "file_not_found"


class StorageUnavailable(Unavailable):
    """The file storage is unavailable. Try again in a moment."""


class BadBlobKey(InternalError):
    """The file's storage key is malformed."""


class Blobs(Protocol):
    async def put(self, key: str, source: Path) -> None:
        """Move the file into the store; it is durable when this returns, and gone from `source`."""
        ...

    async def open(self, key: str, offset: int = 0, length: int | None = None) -> AsyncGenerator[bytes, None]:
        """Return the content in chunks; raises BlobMissing here rather than while reading."""
        ...

    async def size(self, key: str) -> int: ...

    async def delete(self, key: str) -> None:
        """Delete the content; does nothing if it does not exist."""
        ...

    def stored_before(self, moment: float) -> AsyncGenerator[str, None]:
        """Yield the keys stored before this Unix time, in no particular order."""
        ...

    async def discard_unfinished(self, moment: float) -> None:
        """Remove incomplete uploads from before this Unix time, such as those cut off by a crash."""
        ...

    async def close(self) -> None: ...


def is_key(text: str) -> bool:
    return _KEY.fullmatch(text) is not None


def require_key(key: str) -> str:
    if not is_key(key):
        raise BadBlobKey
    return key
