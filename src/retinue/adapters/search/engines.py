"""The engines there are: where each is reached, what it needs, and which of our wishes it can follow."""

from collections.abc import Awaitable, Callable
from functools import partial

from msgspec import Struct

from retinue.adapters.search import brave, duckduckgo, google_pse, searxng, serper, tavily
from retinue.adapters.search.access import EngineAccess
from retinue.adapters.search.errors import SearchError
from retinue.adapters.search.results import Row
from retinue.adapters.search.searcher import Asked, EngineSearcher, Searcher
from retinue.adapters.search.wire import TIMEOUT_S, Wire
from retinue.kit.egress import Egress

# Where the key of an engine goes, and nowhere else; only tests put other addresses here.
ADDRESSES = {
    "brave": "https://api.search.brave.com",
    "duckduckgo": "https://html.duckduckgo.com",
    "google_pse": "https://www.googleapis.com",
    "serper": "https://google.serper.dev",
    "tavily": "https://api.tavily.com",
}


class Engine(Struct, frozen=True, kw_only=True):
    """`needs` are the fields of `EngineAccess` without which it cannot be asked.

    One that does not filter has no safe search that we could ask for.
    """

    name: str
    title: str
    ask: Callable[[Wire, EngineAccess, Asked], Awaitable[list[Row]]]
    needs: tuple[str, ...] = ("key",)
    takes_key: bool = True
    filters: bool = True
    when_denied: str = "Check its key."

    def address(self, base_url: str | None) -> str:
        """Where it is reached: an instance of one's own, or the one address of the company that runs it."""
        return (base_url or "") if "base_url" in self.needs else ADDRESSES[self.name]


ENGINES: dict[str, Engine] = {
    engine.name: engine
    for engine in (
        Engine(name="brave", title="Brave Search", ask=brave.ask),
        Engine(
            name="duckduckgo",
            title="DuckDuckGo",
            ask=duckduckgo.ask,
            needs=(),
            takes_key=False,
            when_denied=duckduckgo.WHEN_DENIED,
        ),
        Engine(
            name="google_pse",
            title="Google Programmable Search",
            ask=google_pse.ask,
            needs=("key", "engine_id"),
        ),
        Engine(
            name="searxng",
            title="SearXNG",
            ask=searxng.ask,
            needs=("base_url",),
            when_denied=searxng.WHEN_DENIED,
        ),
        Engine(name="serper", title="Serper", ask=serper.ask, filters=False),
        Engine(name="tavily", title="Tavily", ask=tavily.ask, filters=False),
    )
}
_ALIASES = {"google": "google_pse"}


def find_engine(name: str) -> Engine | None:
    return ENGINES.get(_ALIASES.get(name, name))


def searcher_for(
    egress: Egress, engine: Engine, access: EngineAccess, *, timeout_s: float = TIMEOUT_S
) -> Searcher:
    missing = [field for field in engine.needs if not getattr(access, field)]
    if missing:
        raise SearchError("not_configured", f"{engine.title} has no {' and no '.join(missing)}.")
    wire = Wire(
        egress,
        engine.title,
        engine.address(access.base_url),
        hidden=access.hidden(),
        when_denied=engine.when_denied,
        timeout_s=timeout_s,
    )
    return EngineSearcher(partial(engine.ask, wire, access))
