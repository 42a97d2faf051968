"""A search from the words of a model to results that may be shown to it, whichever engine is asked."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec import Struct

from retinue.adapters.search.domains import site_terms
from retinue.adapters.search.results import Found, Row, chosen
from retinue.adapters.search.text import plain

# What the strictest engine takes in one query.
_LONGEST_QUERY = 400
# What each engine can give in one answer; results that are filtered out are asked for beforehand.
MOST_RESULTS = 20


class Asked(Struct, frozen=True, kw_only=True):
    """What an engine is asked; `sites` limits the query where the engine has no list of domains."""

    query: str
    count: int
    safe_search: bool
    sites: str = ""
    allowed_domains: tuple[str, ...] = ()
    blocked_domains: tuple[str, ...] = ()

    @property
    def terms(self) -> str:
        """The query with its limits, for engines that only take words."""
        return f"{self.query} {self.sites}".strip()


class Searcher(Protocol):
    async def search(
        self,
        query: str,
        *,
        max_results: int,
        safe_search: bool,
        allowed_domains: Sequence[str] = (),
        blocked_domains: Sequence[str] = (),
    ) -> list[Found]:
        """The best results first; raises `SearchError`."""
        ...


class EngineSearcher:
    def __init__(self, ask: Callable[[Asked], Awaitable[list[Row]]]) -> None:
        self._ask = ask

    async def search(
        self,
        query: str,
        *,
        max_results: int,
        safe_search: bool,
        allowed_domains: Sequence[str] = (),
        blocked_domains: Sequence[str] = (),
    ) -> list[Found]:
        sites = site_terms(allowed_domains)
        words = _words(query, _LONGEST_QUERY - len(sites) - 1)
        if not words:
            return []
        asked = Asked(
            query=words,
            count=MOST_RESULTS if allowed_domains or blocked_domains else max_results,
            safe_search=safe_search,
            sites=sites,
            allowed_domains=tuple(allowed_domains),
            blocked_domains=tuple(blocked_domains),
        )
        rows = await self._ask(asked)
        return chosen(rows, most=max_results, allowed=allowed_domains, blocked=blocked_domains)


def _words(query: str, most: int) -> str:
    """The query on one line, without the marks by which an engine would hand it on to another site."""
    words = (word.lstrip("!\\") for word in plain(query, _LONGEST_QUERY).split())
    return " ".join(filter(None, words))[:most].rstrip()
