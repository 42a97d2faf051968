"""Brave Search: its web search API."""

from typing import Any

from msgspec import Struct

from retinue.adapters.search.access import EngineAccess
from retinue.adapters.search.results import Row
from retinue.adapters.search.searcher import Asked
from retinue.adapters.search.wire import Wire


class _Web(Struct):
    results: list[dict[str, Any]] = []


class _Answer(Struct):
    """`web` is missing where no page was found."""

    web: _Web | None = None


async def ask(wire: Wire, access: EngineAccess, asked: Asked) -> list[Row]:
    query = {
        "q": asked.terms,
        "count": asked.count,
        "safesearch": "strict" if asked.safe_search else "off",
        "result_filter": "web",
        "text_decorations": "false",
    }
    headers = {"X-Subscription-Token": access.key.reveal()}
    answer = await wire.get("/res/v1/web/search", query, _Answer, headers)
    results = answer.web.results if answer.web else []
    return [
        Row(found.get("title"), found.get("url"), found.get("description"), found.get("page_age"))
        for found in results
    ]
