"""Google Programmable Search: the Custom Search JSON API, ten results at a time."""

from typing import Any

from msgspec import Struct

from retinue.adapters.search.access import EngineAccess
from retinue.adapters.search.results import Row
from retinue.adapters.search.searcher import Asked
from retinue.adapters.search.wire import Wire

_MOST_AT_ONCE = 10


class _Answer(Struct):
    """`items` is missing where no page was found."""

    items: list[dict[str, Any]] = []


async def ask(wire: Wire, access: EngineAccess, asked: Asked) -> list[Row]:
    query = {
        "key": access.key.reveal(),
        "cx": access.engine_id,
        "q": asked.terms,
        "safe": "active" if asked.safe_search else "off",
    }
    rows: list[Row] = []
    while len(rows) < asked.count:
        wanted = min(asked.count - len(rows), _MOST_AT_ONCE)
        page = {**query, "num": wanted, "start": len(rows) + 1}
        answer = await wire.get("/customsearch/v1", page, _Answer)
        rows += [
            Row(found.get("title"), found.get("link"), found.get("snippet"), _published(found))
            for found in answer.items[:wanted]
        ]
        if len(answer.items) < wanted:
            break
    return rows


def _published(found: dict[str, Any]) -> Any:
    """What the page says of itself, if Google has it."""
    pagemap = found.get("pagemap")
    tags = pagemap.get("metatags") if isinstance(pagemap, dict) else None
    first = tags[0] if isinstance(tags, list) and tags else None
    return first.get("article:published_time") if isinstance(first, dict) else None
