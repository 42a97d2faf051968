"""Slugs: the name of a tool in addresses and in front of a model, one of a kind in its tenant."""

import re
import unicodedata
from collections.abc import Iterator

_LONGEST = 64
_ROOM_FOR_NUMBER = 8


def from_name(name: str) -> str:
    """`Café & Weather` becomes `cafe-weather`; what leaves no letter becomes `tool`."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain)[: _LONGEST - _ROOM_FOR_NUMBER].strip("-")
    return slug or "tool"


def numbered(slug: str) -> Iterator[str]:
    """The slug, then the same with a number behind it."""
    yield slug
    for number in range(2, 10 ** (_ROOM_FOR_NUMBER - 1)):
        yield f"{slug}-{number}"
