"""Searching with any engine: cleans the query, asks the engine and filters its results."""

from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct

from retinue.adapters.search.domains import site_terms
from retinue.adapters.search.plain_text import to_plain_text
from retinue.adapters.search.results import EngineResult, SearchResult, select_results

# The limit of the strictest engine.
_MAX_QUERY_LENGTH = 400
# The most that every engine returns at once; more are requested if some may be filtered out.
MAX_RESULTS = 20


class SearchRequest(Struct, frozen=True, kw_only=True):
    """A request to an engine; `sites` limits the query for engines without domain lists."""

    query: str
    count: int
    safe_search: bool
    sites: str = ""
    allowed_domains: tuple[str, ...] = ()
    blocked_domains: tuple[str, ...] = ()

    @property
    def terms(self) -> str:
        """Return the query with its limits, for engines that accept only words."""
        return f"{self.query} {self.sites}".strip()


class Searcher:
    def __init__(self, ask: Callable[[SearchRequest], Awaitable[list[EngineResult]]]) -> None:
        self._ask = ask

    async def search(
        self,
        query: str,
        *,
        max_results: int,
        safe_search: bool,
        allowed_domains: Sequence[str] = (),
        blocked_domains: Sequence[str] = (),
    ) -> list[SearchResult]:
        """Return the results, best first; raises `SearchError`."""
        sites = site_terms(allowed_domains)
        words = _clean_query(query, _MAX_QUERY_LENGTH - len(sites) - 1)
        if not words:
            return []
        request = SearchRequest(
            query=words,
            count=MAX_RESULTS if allowed_domains or blocked_domains else max_results,
            safe_search=safe_search,
            sites=sites,
            allowed_domains=tuple(allowed_domains),
            blocked_domains=tuple(blocked_domains),
        )
        rows = await self._ask(request)
        return select_results(rows, limit=max_results, allowed=allowed_domains, blocked=blocked_domains)


def _clean_query(query: str, limit: int) -> str:
    """Return the query on one line without the prefixes that redirect it to another site."""
    words = (word.lstrip("!\\") for word in to_plain_text(query, _MAX_QUERY_LENGTH).split())
    return " ".join(filter(None, words))[:limit].rstrip()
