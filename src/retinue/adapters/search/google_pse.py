"""Google Programmable Search: the Custom Search JSON API, ten results per page."""

from typing import Any

from msgspec import Struct

from retinue.adapters.search.client import SearchClient
from retinue.adapters.search.engine_access import EngineAccess
from retinue.adapters.search.results import EngineResult
from retinue.adapters.search.searcher import SearchRequest
from retinue.kit.json_types import JsonObject

_MAX_RESULTS_PER_PAGE = 10


class _Answer(Struct):
    """`items` is missing if no page was found."""

    items: list[JsonObject] = []


async def ask(client: SearchClient, access: EngineAccess, request: SearchRequest) -> list[EngineResult]:
    query = {
        "key": access.key.reveal(),
        "cx": access.engine_id,
        "q": request.terms,
        "safe": "active" if request.safe_search else "off",
    }
    rows: list[EngineResult] = []
    while len(rows) < request.count:
        page_size = min(request.count - len(rows), _MAX_RESULTS_PER_PAGE)
        page = {**query, "num": page_size, "start": len(rows) + 1}
        response = await client.get("/customsearch/v1", page, _Answer)
        rows += [
            EngineResult(item.get("title"), item.get("link"), item.get("snippet"), _published(item))
            for item in response.items[:page_size]
        ]
        if len(response.items) < page_size:
            break
    return rows


def _published(item: JsonObject) -> Any:
    """Return the page's own publication date, if Google has it."""
    pagemap = item.get("pagemap")
    tags = pagemap.get("metatags") if isinstance(pagemap, dict) else None
    first = tags[0] if isinstance(tags, list) and tags else None
    return first.get("article:published_time") if isinstance(first, dict) else None
