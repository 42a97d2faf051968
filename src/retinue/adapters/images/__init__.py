"""Pictures that strangers send, decoded in a process that has nothing to lose."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import msgspec

from retinue.kit.errors import Invalid, UnsupportedFileType

# How the child says no; any other code but 0 is a fault of ours.
UNSUPPORTED, UNREADABLE, TOO_LARGE = 3, 4, 5

WALL_SECONDS = 10.0
LARGEST_RESULT = 2 * 1024 * 1024

_PIECE = 64 * 1024
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
    source = await asyncio.to_thread(os.open, path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-B", "-m", "retinue.adapters.images.child"),
            stdin=source,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={},
            cwd="/",
        )
    finally:
        os.close(source)
    try:
        async with asyncio.timeout(WALL_SECONDS):
            content = await _read_result(child.stdout)
            if len(content) <= LARGEST_RESULT:
                return await child.wait(), content
    except TimeoutError:
        pass
    finally:
        if child.returncode is None:
            child.kill()
            await child.communicate()
    return -signal.SIGKILL, b""


async def _read_result(stdout: asyncio.StreamReader | None) -> bytes:
    """All the child writes, or a little more than it may."""
    assert stdout
    content = b""
    while len(content) <= LARGEST_RESULT and (piece := await stdout.read(_PIECE)):
        content += piece
    return content
