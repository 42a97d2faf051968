"""Slugs: the names under which models are offered tools, unique within the tenant."""

import re
import unicodedata
from collections.abc import Iterator

_MAX_SLUG_LENGTH = 64
_NUMBER_SUFFIX_LENGTH = 8


def from_name(name: str) -> str:
    """Return `cafe-weather` for `Café & Weather`, and `tool` if no letter or digit remains."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain)[: _MAX_SLUG_LENGTH - _NUMBER_SUFFIX_LENGTH].strip("-")
    return slug or "tool"


def numbered_candidates(slug: str) -> Iterator[str]:
    """Yield the slug, then `slug-2`, `slug-3` and so on."""
    yield slug
    for number in range(2, 10 ** (_NUMBER_SUFFIX_LENGTH - 1)):
        yield f"{slug}-{number}"
