"""The child's program: load Pillow, lock down, and turn stdin into an avatar on stdout."""

import sys
from collections.abc import Callable
from io import BytesIO

# Pillow imports the last four late, which would fail after the lockdown.
from PIL import (
    Image,
    ImageOps,
    JpegImagePlugin,
    MpoImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

from retinue.adapters.images.child.bands import resize_in_bands
from retinue.adapters.sandbox.guest import lockdown

# The child's exit codes; any other nonzero code is a bug.
UNSUPPORTED, UNREADABLE, TOO_LARGE, NOT_CONFINED = 3, 4, 5, 6

# Two children must fit beside the server in 2 GB.
MEMORY_BYTES = 512 * 1024 * 1024
CPU_SECONDS = 15
MAX_PIXELS = 40_000_000
SIDE_PIXELS = 512

PLUGINS = (JpegImagePlugin, MpoImagePlugin, PngImagePlugin, TiffImagePlugin, WebPImagePlugin)
# A WebP file begins with its size, in one of three forms.
_CHUNK_START, _DATA_START = 12, 20
_VP8_SIGNATURE, _VP8L_SIGNATURE = b"\x9d\x01\x2a", 0x2F


def is_supported(content: bytes) -> bool:
    if content.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")):
        return True
    return _is_webp(content)


def crop_to_square(content: bytes) -> bytes:
    picture = load(content, ("PNG", "JPEG", "WEBP"), MAX_PIXELS, 2 * SIDE_PIXELS)
    side = min(picture.size)
    left, top = (picture.width - side) // 2, (picture.height - side) // 2
    target = min(SIDE_PIXELS, side)
    # Rotation does not change the centered square, so it is done last, on few pixels.
    picture = resize_in_bands(picture, (target, target), (left, top, left + side, top + side))
    picture = ImageOps.exif_transpose(picture)
    picture.info = {}
    result = BytesIO()
    picture.save(result, "WEBP", quality=85)
    return result.getvalue()


def load(content: bytes, formats: tuple[str, ...], max_pixels: int, draft_side: int) -> Image.Image:
    """Return the decoded picture; raise `DecompressionBombError` by its header if it has too many pixels.

    A WebP takes 17 bytes a pixel while it is decoded, twice as many as any other format, so half as many
    pixels are read.
    """
    if _is_webp(content):
        # Not left to Pillow, which makes room for the pixels before it compares their number.
        width, height = _read_webp_size(content)
        max_pixels //= 2
        if width * height > max_pixels:
            raise Image.DecompressionBombError
    # Pillow refuses at twice this number, after reading the header.
    Image.MAX_IMAGE_PIXELS = max_pixels // 2
    picture: Image.Image = Image.open(BytesIO(content), formats=formats)
    picture.draft(None, (draft_side, draft_side))
    picture.load()
    return picture


def _is_webp(content: bytes) -> bool:
    return content[:4] == b"RIFF" and content[8:12] == b"WEBP"


def answer(is_wanted: Callable[[bytes], bool], convert: Callable[[bytes], bytes]) -> int:
    """Read stdin, write what `convert` makes of it to stdout, and return the exit code."""
    try:
        content = sys.stdin.buffer.read()
        if not is_wanted(content):
            return UNSUPPORTED
        result = convert(content)
    except Image.DecompressionBombError:
        return TOO_LARGE
    except Exception:  # noqa: BLE001 - Pillow raises almost anything on a broken picture
        return UNREADABLE
    sys.stdout.buffer.write(result)
    sys.stdout.buffer.flush()
    return 0


def confine(parent: str, *, memory_bytes: int, cpu_seconds: int) -> None:
    lockdown.yield_to_server()
    try:
        lockdown.lock_down(int(parent), memory_bytes=memory_bytes, cpu_seconds=cpu_seconds)
    except OSError:
        sys.exit(NOT_CONFINED)


def main(parent: str) -> None:
    confine(parent, memory_bytes=MEMORY_BYTES, cpu_seconds=CPU_SECONDS)
    sys.exit(answer(is_supported, crop_to_square))


def _read_webp_size(content: bytes) -> tuple[int, int]:
    """Return width and height; raise ValueError if the file does not begin like a WebP."""
    kind, data = content[_CHUNK_START : _CHUNK_START + 4], content[_DATA_START : _DATA_START + 10]
    if len(data) < 10:
        raise ValueError("the file is cut short")
    if kind == b"VP8X":
        return int.from_bytes(data[4:7], "little") + 1, int.from_bytes(data[7:10], "little") + 1
    if kind == b"VP8L" and data[0] == _VP8L_SIGNATURE:
        bits = int.from_bytes(data[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and data[3:6] == _VP8_SIGNATURE:
        return int.from_bytes(data[6:8], "little") & 0x3FFF, int.from_bytes(data[8:10], "little") & 0x3FFF
    raise ValueError("the first part of the file is not a picture")
