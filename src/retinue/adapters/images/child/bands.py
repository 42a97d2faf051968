"""Conversion and resizing of a large picture in bands, so that it is in memory once and not three times."""

from math import ceil, floor

from PIL import Image

_MAX_BAND_ROWS = 64
_MAX_BAND_PIXELS = 4_000_000
# Lanczos looks at three pixels of the result to either side.
_FILTER_RADIUS = 3.0

Box = tuple[int, int, int, int]


def resize_in_bands(picture: Image.Image, size: tuple[int, int], box: Box) -> Image.Image:
    """Return this part of the picture in another size, in RGB, or in RGBA if it may be transparent."""
    mode = "RGBA" if picture.has_transparency_data else "RGB"
    if (box[2] - box[0], box[3] - box[1]) == size:
        return _in_color(picture.crop(box), mode)
    if picture.mode == "RGB" == mode:
        return picture.resize(size, Image.Resampling.LANCZOS, box, reducing_gap=3.0)
    # Colors of transparent pixels must not bleed, so they are weighted by their opacity.
    result = Image.new("RGBa" if mode == "RGBA" else "RGB", size)
    scale = (box[3] - box[1]) / size[1]
    rows = min(_MAX_BAND_ROWS, ceil(_MAX_BAND_PIXELS / (picture.width * scale)))
    for first in range(0, size[1], rows):
        last = min(first + rows, size[1])
        edges = (box[0], box[1] + first * scale, box[2], min(box[1] + last * scale, picture.height))
        result.paste(_resized_band(picture, mode, (size[0], last - first), edges), (0, first))
    result.info = dict(picture.info)
    return result.convert("RGBA") if mode == "RGBA" else result


def _resized_band(
    picture: Image.Image, mode: str, size: tuple[int, int], edges: tuple[float, float, float, float]
) -> Image.Image:
    left, start, right, end = edges
    margin = ceil(_FILTER_RADIUS * max((end - start) / size[1], 1.0)) + 1
    top, bottom = max(0, floor(start) - margin), min(picture.height, ceil(end) + margin)
    band = _in_color(picture.crop((0, top, picture.width, bottom)), mode)
    if mode == "RGBA":
        band = band.convert("RGBa")
    return band.resize(
        size, Image.Resampling.LANCZOS, (left, start - top, right, end - top), reducing_gap=3.0
    )


def _in_color(picture: Image.Image, mode: str) -> Image.Image:
    if picture.mode.startswith("I"):
        # Pillow would clip 16-bit grey to white instead of scaling it.
        picture.info.pop("transparency", None)
        picture = picture.point(lambda value: value * (1 / 256)).convert("L")
    return picture if picture.mode == mode else picture.convert(mode)
