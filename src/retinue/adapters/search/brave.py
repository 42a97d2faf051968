"""Brave Search's web search API."""

from msgspec import Struct

from retinue.adapters.search.client import SearchClient
from retinue.adapters.search.engine_access import EngineAccess
from retinue.adapters.search.results import EngineResult
from retinue.adapters.search.searcher import SearchRequest
from retinue.kit.json_types import JsonObject


class _Web(Struct):
    results: list[JsonObject] = []


class _Answer(Struct):
    """`web` is missing if no page was found."""

    web: _Web | None = None


async def ask(client: SearchClient, access: EngineAccess, request: SearchRequest) -> list[EngineResult]:
    query = {
        "q": request.terms,
        "count": request.count,
        "safesearch": "strict" if request.safe_search else "off",
        "result_filter": "web",
        "text_decorations": "false",
    }
    headers = {"X-Subscription-Token": access.key.reveal()}
    response = await client.get("/res/v1/web/search", query, _Answer, headers)
    results = response.web.results if response.web else []
    return [
        EngineResult(
            result.get("title"), result.get("url"), result.get("description"), result.get("page_age")
        )
        for result in results
    ]
