"""Search results from engines, and those that are passed on."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from msgspec import Struct

from retinue.adapters.search.domains import is_domain_allowed
from retinue.adapters.search.plain_text import to_plain_text
from retinue.kit.clock import Instant, to_instant
from retinue.kit.egress import EgressRefused, read_destination

_MAX_TITLE_LENGTH = 300
_MAX_SNIPPET_LENGTH = 1000
_MAX_URL_LENGTH = 2048
_DAYS = ("%b %d, %Y", "%d %b %Y", "%Y/%m/%d")


class SearchResult(Struct, frozen=True):
    """One page; `published_at` is None if the engine does not report it."""

    title: str
    url: str
    snippet: str
    published_at: Instant | None = None


class EngineResult(Struct, frozen=True):
    """A result as received from an engine: any value may be missing or of another type."""

    title: Any
    url: Any
    snippet: Any
    published: Any = None


def select_results(
    rows: Iterable[EngineResult], *, limit: int, allowed: Sequence[str] = (), blocked: Sequence[str] = ()
) -> list[SearchResult]:
    """Return the first results that are web pages on permitted sites, without duplicates."""
    kept: dict[str, SearchResult] = {}
    for row in rows:
        host = _host(row.url)
        if not host or row.url in kept or not is_domain_allowed(host, allowed=allowed, blocked=blocked):
            continue
        title = to_plain_text(_text(row.title), _MAX_TITLE_LENGTH) or host
        snippet = to_plain_text(_text(row.snippet), _MAX_SNIPPET_LENGTH)
        kept[row.url] = SearchResult(title, row.url, snippet, parse_published_at(row.published))
        if len(kept) == limit:
            break
    return list(kept.values())


def parse_published_at(value: object) -> Instant | None:
    """Parse a date in any format that engines use; return None for others, such as "3 days ago"."""
    text = _text(value).strip()
    for parse in (datetime.fromisoformat, parsedate_to_datetime, *map(_reader, _DAYS)):
        try:
            return to_instant(parse(text))
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return None


def _reader(form: str) -> Any:
    # Only the day is known; it is treated as UTC.
    return lambda text: datetime.strptime(text, form)  # noqa: DTZ007


def _host(url: object) -> str:
    """Return the host of a URL that a browser could open, else ""."""
    if not isinstance(url, str) or len(url) > _MAX_URL_LENGTH:
        return ""
    try:
        return read_destination(url).host
    except EgressRefused:
        return ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
