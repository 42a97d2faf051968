"""Search engines behind one protocol: what is asked of them, and what may be passed on of their answers."""

from retinue.adapters.search.access import EngineAccess
from retinue.adapters.search.domains import read_domain
from retinue.adapters.search.engines import ADDRESSES, ENGINES, Engine, find_engine, searcher_for
from retinue.adapters.search.errors import Code, SearchError
from retinue.adapters.search.results import Found
from retinue.adapters.search.searcher import Searcher

__all__ = [
    "ADDRESSES",
    "ENGINES",
    "Code",
    "Engine",
    "EngineAccess",
    "Found",
    "SearchError",
    "Searcher",
    "find_engine",
    "read_domain",
    "searcher_for",
]
