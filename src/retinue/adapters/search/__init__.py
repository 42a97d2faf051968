"""Search engines behind one protocol, and the filtering of their results."""

from retinue.adapters.search.domains import parse_domain
from retinue.adapters.search.engine_access import EngineAccess
from retinue.adapters.search.engines import ADDRESSES, ENGINES, SearchEngine, find_engine, searcher_for
from retinue.adapters.search.errors import SearchError, SearchErrorCode
from retinue.adapters.search.results import SearchResult
from retinue.adapters.search.searcher import Searcher

__all__ = [
    "ADDRESSES",
    "ENGINES",
    "EngineAccess",
    "SearchEngine",
    "SearchError",
    "SearchErrorCode",
    "SearchResult",
    "Searcher",
    "find_engine",
    "parse_domain",
    "searcher_for",
]
