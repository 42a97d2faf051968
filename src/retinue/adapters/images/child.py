"""The process that decodes one picture from stdin and writes the avatar to stdout."""

import os
import resource
import sys
from io import BytesIO

from PIL import Image, ImageOps, WebPImagePlugin  # noqa: F401 - registers WebP without all other formats

from retinue.adapters.images import TOO_LARGE, UNREADABLE, UNSUPPORTED

LARGEST_PIXELS = 40_000_000
SIDE = 512

_LIMITS = {
    resource.RLIMIT_AS: 768 * 1024 * 1024,
    resource.RLIMIT_CPU: 5,
    resource.RLIMIT_FSIZE: 0,
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_NPROC: 0,
}


def confine() -> None:
    # uvloop hands on every inheritable descriptor the server was started with.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    for kind, most in _LIMITS.items():
        resource.setrlimit(kind, (most, most))


def is_known(content: bytes) -> bool:
    if content.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")):
        return True
    return content[:4] == b"RIFF" and content[8:12] == b"WEBP"


def square(content: bytes) -> bytes:
    # Pillow refuses at twice this number, from the header, before it makes room for any pixel.
    Image.MAX_IMAGE_PIXELS = LARGEST_PIXELS // 2
    picture: Image.Image = Image.open(BytesIO(content), formats=("PNG", "JPEG", "WEBP"))
    picture.draft(None, (2 * SIDE, 2 * SIDE))
    picture.load()
    # The centered square is the same after any turn, so the turn is made last, on few pixels.
    picture = ImageOps.exif_transpose(_shrunk(_in_color(picture)))
    picture.info = {}
    result = BytesIO()
    picture.save(result, "WEBP", quality=85)
    return result.getvalue()


def _in_color(picture: Image.Image) -> Image.Image:
    """The picture as RGB or RGBA; one that already is stays as it is, for a copy would cost 160 MB."""
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
    target = min(SIDE, side)
    return picture.resize((target, target), Image.Resampling.LANCZOS, box, reducing_gap=3.0)


def main() -> int:
    confine()
    try:
        content = sys.stdin.buffer.read()
        if not is_known(content):
            return UNSUPPORTED
        result = square(content)
    except Image.DecompressionBombError:
        return TOO_LARGE
    except Exception:  # noqa: BLE001 - a broken picture makes Pillow raise nearly anything
        return UNREADABLE
    sys.stdout.buffer.write(result)
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
