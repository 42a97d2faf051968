"""SearXNG: the JSON form of an instance that someone runs."""

from typing import Any

from msgspec import Struct

from retinue.adapters.search.access import EngineAccess
from retinue.adapters.search.errors import SearchError
from retinue.adapters.search.results import Row
from retinue.adapters.search.searcher import Asked
from retinue.adapters.search.text import plain
from retinue.adapters.search.wire import Wire

WHEN_DENIED = "Its settings.yml must list json under search.formats."

_STRICT, _OFF = 2, 0


class _Answer(Struct):
    results: list[dict[str, Any]]
    unresponsive_engines: list[Any] = []


async def ask(wire: Wire, access: EngineAccess, asked: Asked) -> list[Row]:
    query = {
        "q": asked.terms,
        "format": "json",
        "safesearch": _STRICT if asked.safe_search else _OFF,
    }
    answer = await wire.get("/search", query, _Answer, access.authorization())
    if not answer.results and answer.unresponsive_engines:
        # Nothing was found because nobody was asked: an empty answer would hide that.
        raise SearchError("provider_error", f"{wire.name} got no answer from its engines: {_named(answer)}.")
    return [
        Row(found.get("title"), found.get("url"), found.get("content"), found.get("publishedDate"))
        for found in answer.results
    ]


def _named(answer: _Answer) -> str:
    """Each engine and its trouble, as the instance tells them: a pair, or in older versions a name."""
    told = (
        " ".join(map(str, engine)) if isinstance(engine, list) else str(engine)
        for engine in answer.unresponsive_engines
    )
    return plain(", ".join(told), 200)
