"""SearXNG: the JSON API of a self-hosted instance."""

from typing import Any

from msgspec import Struct

from retinue.adapters.search.client import SearchClient
from retinue.adapters.search.engine_access import EngineAccess
from retinue.adapters.search.errors import SearchError
from retinue.adapters.search.plain_text import to_plain_text
from retinue.adapters.search.results import EngineResult
from retinue.adapters.search.searcher import SearchRequest
from retinue.kit.json_types import JsonObject

ACCESS_DENIED_HINT = "Its settings.yml must list json under search.formats."

_STRICT, _OFF = 2, 0


class _Answer(Struct):
    results: list[JsonObject]
    unresponsive_engines: list[Any] = []


async def ask(client: SearchClient, access: EngineAccess, request: SearchRequest) -> list[EngineResult]:
    query = {
        "q": request.terms,
        "format": "json",
        "safesearch": _STRICT if request.safe_search else _OFF,
    }
    response = await client.get("/search", query, _Answer, access.authorization())
    if not response.results and response.unresponsive_engines:
        # An empty result would hide that no engine responded.
        raise SearchError(
            "provider_error",
            f"{client.name} got no response from its engines: {_describe_engines(response)}.",
        )
    return [
        EngineResult(
            result.get("title"), result.get("url"), result.get("content"), result.get("publishedDate")
        )
        for result in response.results
    ]


def _describe_engines(response: _Answer) -> str:
    """Return each engine and its problem; the instance sends pairs, older versions only names."""
    descriptions = (
        " ".join(map(str, engine)) if isinstance(engine, list) else str(engine)
        for engine in response.unresponsive_engines
    )
    return to_plain_text(", ".join(descriptions), 200)
