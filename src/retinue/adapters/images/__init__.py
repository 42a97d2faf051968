"""Untrusted pictures, decoded in a locked-down process."""

import asyncio
import os
import signal
from pathlib import Path

import msgspec

from retinue.adapters.sandbox.reader_places import reader_place
from retinue.adapters.sandbox.readers import reader_command
from retinue.kit import subprocesses
from retinue.kit.errors import InternalError, Invalid, RetinueError, UnsupportedFileType
from retinue.kit.fair_queue import QueuedCaller

# The child's exit codes; any other nonzero code is a bug.
UNSUPPORTED, UNREADABLE, TOO_LARGE, NOT_CONFINED = 3, 4, 5, 6

# The children's limits of CPU time come first; this is for a machine that is busy with other things.
WALL_SECONDS = 60.0
MAX_MODEL_IMAGE_BYTES = 4 * 1024 * 1024
MAX_RESULT_BYTES = 2 * 1024 * 1024
_PROGRAM = "retinue.adapters.images.child.program"
_MODEL_IMAGE_PROGRAM = "retinue.adapters.images.child.model_image"

MAX_PIXELS = 50_000_000
"""The limit of a picture for models; a WebP takes twice the memory and may have half as many pixels."""
MAX_VISITOR_PIXELS = 25_000_000
"""The limit for visitors, who need no account: enough for what phones take."""

_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"


class ImageReaderUnavailable(RetinueError):
    """Pictures cannot be read safely on this machine. Ask the operator to check the sandbox."""

    status, code = 503, "sandbox_unavailable"


class Avatar(msgspec.Struct, frozen=True):
    content: bytes
    mime_type: str


async def avatar(path: Path, requester: QueuedCaller) -> Avatar:
    """Return a square WebP of at most 512 pixels from a png, jpeg or webp file, without metadata."""
    async with reader_place(requester):
        code, content = await _run_child(path, MAX_RESULT_BYTES, _PROGRAM)
    if code == 0 and content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return Avatar(content, "image/webp")
    if code == UNSUPPORTED:
        raise UnsupportedFileType("The avatar must be a png, jpeg or webp image.")
    if code == TOO_LARGE:
        raise Invalid({"avatar": "must have at most 40 megapixels, or 20 as WebP"})
    if code == NOT_CONFINED:
        raise ImageReaderUnavailable
    if code == UNREADABLE or code < 0:
        raise Invalid({"avatar": "is not a readable image"})
    raise RuntimeError(f"the image child ended with {code}")


class UnreadableImage(InternalError):
    """The picture is damaged, or needs too much memory or time."""


class ImageTooLarge(InternalError):
    """The picture has more pixels than are read."""


class ModelImage(msgspec.Struct, frozen=True):
    content: bytes
    mime_type: str


async def model_image(path: Path, requester: QueuedCaller) -> ModelImage:
    """Return a picture as models get it: a JPEG or PNG of at most 1568 pixels, without metadata.

    Only the first frame of an animation is read. The number of pixels is limited, for visitors more tightly.
    """
    max_pixels = MAX_VISITOR_PIXELS if requester.is_visitor else MAX_PIXELS
    async with reader_place(requester):
        code, content = await _run_child(path, MAX_MODEL_IMAGE_BYTES, _MODEL_IMAGE_PROGRAM, str(max_pixels))
    if code == 0 and content.startswith((_PNG, _JPEG)):
        return ModelImage(content, "image/png" if content.startswith(_PNG) else "image/jpeg")
    if code == UNSUPPORTED:
        raise UnsupportedFileType("The image must be png, jpeg, webp or gif.")
    if code == TOO_LARGE:
        raise ImageTooLarge(_too_large(max_pixels))
    if code == NOT_CONFINED:
        raise ImageReaderUnavailable
    if code == UNREADABLE or code < 0:
        raise UnreadableImage("The image is damaged, or takes too much memory or time.")
    raise RuntimeError(f"the image child ended with {code}")


def _too_large(max_pixels: int) -> str:
    megapixels = max_pixels / 1_000_000
    return f"The image must have at most {megapixels:g} megapixels, or {megapixels / 2:g} as WebP."


def _libraries() -> str:
    return subprocesses.library_path("PIL")


async def _run_child(path: Path, max_bytes: int, program: str, *arguments: str) -> tuple[int, bytes]:
    """Return the child's exit code (negative: the signal that ended it) and its output."""
    # Not in a thread: a cancelled one would leave the descriptor open.
    source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        async with (
            asyncio.timeout(WALL_SECONDS),
            subprocesses.python_subprocess(
                *reader_command(program, _libraries(), *arguments), stdin=source
            ) as decoder,
        ):
            child_output = await subprocesses.communicate(decoder, None, max_bytes)
    except (TimeoutError, subprocesses.OutputTooLarge):
        return -signal.SIGKILL, b""
    finally:
        os.close(source)
    return child_output.code, child_output.content
