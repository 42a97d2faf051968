"""Tavily's search API, which supports domain lists."""

from msgspec import Struct

from retinue.adapters.search.client import SearchClient
from retinue.adapters.search.engine_access import EngineAccess
from retinue.adapters.search.results import EngineResult
from retinue.adapters.search.searcher import SearchRequest
from retinue.kit.json_types import JsonObject


class _Answer(Struct):
    results: list[JsonObject]


async def ask(client: SearchClient, access: EngineAccess, request: SearchRequest) -> list[EngineResult]:
    # `safe_search` is left out: it requires the enterprise plan, and other keys would be rejected.
    body: JsonObject = {"query": request.query, "max_results": request.count, "search_depth": "basic"}
    if request.allowed_domains:
        body["include_domains"] = request.allowed_domains
    if request.blocked_domains:
        body["exclude_domains"] = request.blocked_domains
    headers = {"Authorization": f"Bearer {access.key.reveal()}"}
    response = await client.post("/search", body, _Answer, headers)
    return [
        EngineResult(
            result.get("title"), result.get("url"), result.get("content"), result.get("published_date")
        )
        for result in response.results
    ]
