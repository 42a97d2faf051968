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

from retinue.adapters.sandbox.guest import lockdown

# The child's exit codes; any other nonzero code is a bug.
UNSUPPORTED, UNREADABLE, TOO_LARGE, NOT_CONFINED = 3, 4, 5, 6

MEMORY_BYTES = 768 * 1024 * 1024
CPU_SECONDS = 15
MAX_PIXELS = 40_000_000
SIDE_PIXELS = 512

PLUGINS = (JpegImagePlugin, MpoImagePlugin, PngImagePlugin, TiffImagePlugin, WebPImagePlugin)


def is_supported(content: bytes) -> bool:
    if content.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")):
        return True
    return content[:4] == b"RIFF" and content[8:12] == b"WEBP"


def crop_to_square(content: bytes) -> bytes:
    # Pillow checks the header and refuses at twice this number before it allocates pixels.
    Image.MAX_IMAGE_PIXELS = MAX_PIXELS // 2
    picture: Image.Image = Image.open(BytesIO(content), formats=("PNG", "JPEG", "WEBP"))
    picture.draft(None, (2 * SIDE_PIXELS, 2 * SIDE_PIXELS))
    picture.load()
    # Rotation does not change the centered square, so it is done last, on few pixels.
    picture = ImageOps.exif_transpose(_shrunk(in_color(picture)))
    picture.info = {}
    result = BytesIO()
    picture.save(result, "WEBP", quality=85)
    return result.getvalue()


def in_color(picture: Image.Image) -> Image.Image:
    """Convert to RGB or RGBA if necessary; a copy would cost 160 MB."""
    if picture.mode.startswith("I"):
        # Pillow would clip 16-bit grey to white instead of scaling it.
        picture.info.pop("transparency", None)
        picture = picture.point(lambda value: value * (1 / 256)).convert("L")
    mode = "RGBA" if picture.has_transparency_data else "RGB"
    return picture if picture.mode == mode else picture.convert(mode)


def _shrunk(picture: Image.Image) -> Image.Image:
    side = min(picture.size)
    left, top = (picture.width - side) // 2, (picture.height - side) // 2
    box = (left, top, left + side, top + side)
    target = min(SIDE_PIXELS, side)
    return picture.resize((target, target), Image.Resampling.LANCZOS, box, reducing_gap=3.0)


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
