"""The child's program: load Pillow, lock down, and turn stdin into an image for a model on stdout."""

import copy
import functools
import sys
from io import BytesIO

from PIL import GifImagePlugin, Image, ImageOps

from retinue.adapters.images.child.bands import resize_in_bands
from retinue.adapters.images.child.program import MEMORY_BYTES, PLUGINS, answer, confine, is_supported, load

CPU_SECONDS = 20
# Providers scale larger images down themselves, and charge for them first.
MAX_SIDE_PIXELS = 1568
MAX_ENCODED_BYTES = 4 * 1024 * 1024
JPEG_QUALITY = 85

# Pillow imports these late, which would fail after the lockdown.
LOADED_MODULES = (*PLUGINS, GifImagePlugin, copy)
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")


def encode(content: bytes, max_pixels: int) -> bytes:
    """Return the first frame as a JPEG, or as a PNG if it has transparent pixels, without metadata."""
    picture = load(content, _FORMATS, max_pixels, 2 * MAX_SIDE_PIXELS)
    picture = resize_in_bands(picture, _target_size(picture), (0, 0, *picture.size))
    picture = ImageOps.exif_transpose(picture)
    picture.info = {}
    if picture.mode == "RGBA" and picture.getchannel("A").getextrema() != (255, 255):
        encoded = _saved(picture, "PNG")
        if len(encoded) <= MAX_ENCODED_BYTES:
            return encoded
    return _as_jpeg(picture)


def _target_size(picture: Image.Image) -> tuple[int, int]:
    longest = max(picture.size)
    if longest <= MAX_SIDE_PIXELS:
        return picture.size
    width, height = (max(1, round(side * MAX_SIDE_PIXELS / longest)) for side in picture.size)
    return width, height


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


def main(parent: str, max_pixels: str) -> None:
    confine(parent, memory_bytes=MEMORY_BYTES, cpu_seconds=CPU_SECONDS)
    sys.exit(answer(is_model_image, functools.partial(encode, max_pixels=int(max_pixels))))
