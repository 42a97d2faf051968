"""Tavily: its search endpoint, which has lists of domains of its own."""

from typing import Any

from msgspec import Struct

from retinue.adapters.search.access import EngineAccess
from retinue.adapters.search.results import Row
from retinue.adapters.search.searcher import Asked
from retinue.adapters.search.wire import Wire


class _Answer(Struct):
    results: list[dict[str, Any]]


async def ask(wire: Wire, access: EngineAccess, asked: Asked) -> list[Row]:
    # Without `safe_search`: it belongs to the enterprise plan, and other keys would be refused for it.
    body: dict[str, Any] = {"query": asked.query, "max_results": asked.count, "search_depth": "basic"}
    if asked.allowed_domains:
        body["include_domains"] = asked.allowed_domains
    if asked.blocked_domains:
        body["exclude_domains"] = asked.blocked_domains
    headers = {"Authorization": f"Bearer {access.key.reveal()}"}
    answer = await wire.post("/search", body, _Answer, headers)
    return [
        Row(found.get("title"), found.get("url"), found.get("content"), found.get("published_date"))
        for found in answer.results
    ]
