"""The child's program: load Pillow, lock down, and turn stdin into an image for a model on stdout."""

import copy
import sys
from io import BytesIO

from PIL import GifImagePlugin, Image, ImageOps

from retinue.adapters.images.child.program import PLUGINS, answer, confine, in_color, is_supported

MEMORY_BYTES = 896 * 1024 * 1024
CPU_SECONDS = 20
MAX_PIXELS = 50_000_000
# Providers scale larger images down themselves, and charge for them first.
MAX_SIDE_PIXELS = 1568
MAX_ENCODED_BYTES = 4 * 1024 * 1024
JPEG_QUALITY = 85

# Pillow imports these late, which would fail after the lockdown.
LOADED_MODULES = (*PLUGINS, GifImagePlugin, copy)
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")


def encode(content: bytes) -> bytes:
    """Return the first frame as a JPEG, or as a PNG if it has transparent pixels, without metadata."""
    # Pillow checks the header and refuses at twice this number before it allocates pixels.
    Image.MAX_IMAGE_PIXELS = MAX_PIXELS // 2
    picture: Image.Image = Image.open(BytesIO(content), formats=_FORMATS)
    picture.draft(None, (2 * MAX_SIDE_PIXELS, 2 * MAX_SIDE_PIXELS))
    picture.load()
    picture = _shrunk(in_color(picture))
    picture = ImageOps.exif_transpose(picture)
    picture.info = {}
    if picture.mode == "RGBA" and picture.getchannel("A").getextrema() != (255, 255):
        encoded = _saved(picture, "PNG")
        if len(encoded) <= MAX_ENCODED_BYTES:
            return encoded
    return _as_jpeg(picture)


def _shrunk(picture: Image.Image) -> Image.Image:
    longest = max(picture.size)
    if longest <= MAX_SIDE_PIXELS:
        return picture
    width, height = (max(1, round(side * MAX_SIDE_PIXELS / longest)) for side in picture.size)
    return picture.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=3.0)


def _as_jpeg(picture: Image.Image) -> bytes:
    """Return a JPEG on white; one that is still too large is encoded with fewer details."""
    if picture.mode == "RGBA":
        background = Image.new("RGB", picture.size, (255, 255, 255))
        background.paste(picture, mask=picture.getchannel("A"))
        picture = background
    encoded = _saved(picture, "JPEG", quality=JPEG_QUALITY)
    return encoded if len(encoded) <= MAX_ENCODED_BYTES else _saved(picture, "JPEG", quality=50)


def _saved(picture: Image.Image, format: str, **options: int) -> bytes:
    result = BytesIO()
    picture.save(result, format, **options)
    return result.getvalue()


def is_model_image(content: bytes) -> bool:
    return is_supported(content) or content.startswith((b"GIF87a", b"GIF89a"))


def main(parent: str) -> None:
    confine(parent, memory_bytes=MEMORY_BYTES, cpu_seconds=CPU_SECONDS)
    sys.exit(answer(is_model_image, encode))
