"""Pictures that strangers send, decoded in a process that has nothing to lose."""

import asyncio
import os
import signal
from pathlib import Path

import msgspec

from retinue.kit import children
from retinue.kit.errors import Invalid, UnsupportedFileType

# How the child says no; any other code but 0 is a fault of ours.
UNSUPPORTED, UNREADABLE, TOO_LARGE = 3, 4, 5

WALL_SECONDS = 10.0
LARGEST_RESULT = 2 * 1024 * 1024

# Each child may take 768 MB; more uploads than this at once wait for their turn.
_children = asyncio.Semaphore(2)


class Avatar(msgspec.Struct, frozen=True):
    content: bytes
    mime_type: str


async def avatar(path: Path) -> Avatar:
    """A square WebP of at most 512 pixels made from a png, jpeg or webp file, without its metadata."""
    async with _children:
        code, content = await _run_child(path)
    if code == 0 and content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return Avatar(content, "image/webp")
    if code == UNSUPPORTED:
        raise UnsupportedFileType("The avatar must be a png, jpeg or webp image.")
    if code == TOO_LARGE:
        raise Invalid({"avatar": "must have at most 40 megapixels"})
    if code == UNREADABLE or code < 0:
        raise Invalid({"avatar": "is not a readable image"})
    raise RuntimeError(f"the image child ended with {code}")


async def _run_child(path: Path) -> tuple[int, bytes]:
    """The child's exit code (negative: the signal that ended it) and what it wrote."""
    # Not in a thread: one that is cancelled would leave the descriptor open.
    source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        async with (
            asyncio.timeout(WALL_SECONDS),
            children.child("-m", "retinue.adapters.images.child", stdin=source) as decoder,
        ):
            heard = await children.ask(decoder, None, LARGEST_RESULT)
    except (TimeoutError, children.TooMuch):
        return -signal.SIGKILL, b""
    finally:
        os.close(source)
    return heard.code, heard.content
