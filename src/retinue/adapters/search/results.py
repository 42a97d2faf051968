"""What an engine found, and what of it is passed on."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from msgspec import Struct

from retinue.adapters.search.domains import admits
from retinue.adapters.search.text import plain
from retinue.kit.clock import Instant, instant
from retinue.kit.egress import EgressRefused, read_destination

_LONGEST_TITLE = 300
_LONGEST_SNIPPET = 1000
_LONGEST_URL = 2048
_DAYS = ("%b %d, %Y", "%d %b %Y", "%Y/%m/%d")


class Found(Struct, frozen=True):
    """One page; `published_at` is what the engine says of it, where it does."""

    title: str
    url: str
    snippet: str
    published_at: Instant | None = None


class Row(Struct, frozen=True):
    """A result as an engine gives it: anything may be missing, or not be text."""

    title: Any
    url: Any
    snippet: Any
    published: Any = None


def chosen(
    rows: Iterable[Row], *, most: int, allowed: Sequence[str] = (), blocked: Sequence[str] = ()
) -> list[Found]:
    """The first of the results that are pages of the web on sites that may be shown, each page once."""
    kept: dict[str, Found] = {}
    for row in rows:
        host = _host(row.url)
        if not host or row.url in kept or not admits(host, allowed=allowed, blocked=blocked):
            continue
        title = plain(_text(row.title), _LONGEST_TITLE) or host
        snippet = plain(_text(row.snippet), _LONGEST_SNIPPET)
        kept[row.url] = Found(title, row.url, snippet, read_instant(row.published))
        if len(kept) == most:
            break
    return list(kept.values())


def read_instant(written: Any) -> Instant | None:
    """A date in any of the forms engines use; nothing for "3 days ago" and what else is no date."""
    text = _text(written).strip()
    for read in (datetime.fromisoformat, parsedate_to_datetime, *map(_reader, _DAYS)):
        try:
            return instant(read(text))
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return None


def _reader(form: str) -> Any:
    # Only the day is known; it is taken as UTC like every moment without a zone.
    return lambda text: datetime.strptime(text, form)  # noqa: DTZ007


def _host(url: Any) -> str:
    """The host of a page that a browser could open; nothing for another scheme or an address with a trick."""
    if not isinstance(url, str) or len(url) > _LONGEST_URL:
        return ""
    try:
        return read_destination(url).host
    except EgressRefused:
        return ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
