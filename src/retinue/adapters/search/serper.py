"""Serper: Google's results as JSON."""

from msgspec import Struct

from retinue.adapters.search.client import SearchClient
from retinue.adapters.search.engine_access import EngineAccess
from retinue.adapters.search.results import EngineResult
from retinue.adapters.search.searcher import SearchRequest
from retinue.kit.json_types import JsonObject


class _Answer(Struct):
    organic: list[JsonObject] = []


async def ask(client: SearchClient, access: EngineAccess, request: SearchRequest) -> list[EngineResult]:
    headers = {"X-API-KEY": access.key.reveal()}
    response = await client.post("/search", {"q": request.terms, "num": request.count}, _Answer, headers)
    return [
        EngineResult(result.get("title"), result.get("link"), result.get("snippet"), result.get("date"))
        for result in response.organic
    ]
