"""The search engines: their addresses, requirements and capabilities."""

from collections.abc import Awaitable, Callable
from functools import partial

from msgspec import Struct

from retinue.adapters.search import brave, duckduckgo, google_pse, searxng, serper, tavily
from retinue.adapters.search.client import SEARCH_TIMEOUT_SECONDS, SearchClient
from retinue.adapters.search.engine_access import EngineAccess
from retinue.adapters.search.errors import SearchError
from retinue.adapters.search.results import EngineResult
from retinue.adapters.search.searcher import Searcher, SearchRequest
from retinue.kit.egress import Egress
from retinue.kit.secrets import Secret

# The only address that an engine's key is sent to; only tests replace it.
ADDRESSES = {
    "brave": "https://api.search.brave.com",
    "duckduckgo": "https://html.duckduckgo.com",
    "google_pse": "https://www.googleapis.com",
    "serper": "https://google.serper.dev",
    "tavily": "https://api.tavily.com",
}


class SearchEngine(Struct, frozen=True, kw_only=True):
    """A search engine; `needs` are the fields of `EngineAccess` that it requires.

    Engines without `filters` have no safe search that we can request.
    """

    name: str
    title: str
    ask: Callable[[SearchClient, EngineAccess, SearchRequest], Awaitable[list[EngineResult]]]
    needs: tuple[str, ...] = ("key",)
    takes_key: bool = True
    filters: bool = True
    access_denied_hint: str = "Check its key."

    def address(self, base_url: str | None) -> str:
        """Return the engine's address: that of a self-hosted instance, or the provider's only one."""
        return (base_url or "") if "base_url" in self.needs else ADDRESSES[self.name]


ENGINES: dict[str, SearchEngine] = {
    engine.name: engine
    for engine in (
        SearchEngine(name="brave", title="Brave Search", ask=brave.ask),
        SearchEngine(
            name="duckduckgo",
            title="DuckDuckGo",
            ask=duckduckgo.ask,
            needs=(),
            takes_key=False,
            access_denied_hint=duckduckgo.ACCESS_DENIED_HINT,
        ),
        SearchEngine(
            name="google_pse",
            title="Google Programmable Search",
            ask=google_pse.ask,
            needs=("key", "engine_id"),
        ),
        SearchEngine(
            name="searxng",
            title="SearXNG",
            ask=searxng.ask,
            needs=("base_url",),
            access_denied_hint=searxng.ACCESS_DENIED_HINT,
        ),
        SearchEngine(name="serper", title="Serper", ask=serper.ask, filters=False),
        SearchEngine(name="tavily", title="Tavily", ask=tavily.ask, filters=False),
    )
}
_ALIASES = {"google": "google_pse"}


def find_engine(name: str) -> SearchEngine | None:
    return ENGINES.get(_ALIASES.get(name, name))


def searcher_for(
    egress: Egress, engine: SearchEngine, access: EngineAccess, *, timeout_s: float = SEARCH_TIMEOUT_SECONDS
) -> Searcher:
    missing = [field for field in engine.needs if not getattr(access, field)]
    if missing:
        raise SearchError("not_configured", f"{engine.title} needs {' and '.join(missing)}.")
    client = SearchClient(
        egress,
        engine.title,
        engine.address(access.base_url),
        secrets=map(Secret, access.hidden()),
        access_denied_hint=engine.access_denied_hint,
        timeout_s=timeout_s,
    )
    return Searcher(partial(engine.ask, client, access))
